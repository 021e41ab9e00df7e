/* papertape sweep: a strategy with every combination of parameters on one loading of the bars. */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

/* argv[0] is the verb. Returns an exit status. */
int cli_sweep(int argc, char **argv);

#endif
