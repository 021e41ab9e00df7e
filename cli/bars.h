/* papertape bars SYMBOL INTERVAL: stored bars as CSV. */
#ifndef CLI_BARS_H
#define CLI_BARS_H

/* argv[0] is the verb. Returns an exit status. */
int cli_bars(int argc, char **argv);

#endif
