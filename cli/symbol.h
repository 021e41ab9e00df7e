/* `papertape symbol list|add|remove`: what is streamed, changed while the daemon runs. */
#ifndef CLI_SYMBOL_H
#define CLI_SYMBOL_H

/* argv[0] is the verb. Returns an exit status. */
int cli_symbol(int argc, char **argv);

#endif
