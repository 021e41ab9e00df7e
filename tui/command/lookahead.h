/* papertape lookahead: does a strategy see the future? */
#ifndef TUI_COMMAND_LOOKAHEAD_H
#define TUI_COMMAND_LOOKAHEAD_H

/* argv[0] is the verb. Returns an exit status: EXIT_ERROR when it does. */
int command_lookahead(int argc, char **argv);

#endif
