/* `papertape symbol list|add|remove`: what is streamed, changed while the daemon runs. */
#ifndef TUI_COMMAND_SYMBOL_H
#define TUI_COMMAND_SYMBOL_H

/* argv[0] is the verb. Returns an exit status. */
int command_symbol(int argc, char **argv);

#endif
