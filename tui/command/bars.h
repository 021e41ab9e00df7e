/* papertape bars SYMBOL INTERVAL: stored bars as CSV. */
#ifndef TUI_COMMAND_BARS_H
#define TUI_COMMAND_BARS_H

/* argv[0] is the verb. Returns an exit status. */
int command_bars(int argc, char **argv);

#endif
