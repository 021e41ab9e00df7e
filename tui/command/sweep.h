/* papertape sweep: a strategy with every combination of parameters on one loading of the bars. */
#ifndef TUI_COMMAND_SWEEP_H
#define TUI_COMMAND_SWEEP_H

/* argv[0] is the verb. Returns an exit status. */
int command_sweep(int argc, char **argv);

#endif
