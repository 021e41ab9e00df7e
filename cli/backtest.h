/* papertape backtest: strategies on bars or trades, or a recorded log through the engine again. */
#ifndef CLI_BACKTEST_H
#define CLI_BACKTEST_H

/* argv[0] is the verb. Returns an exit status. */
int cli_backtest(int argc, char **argv);

#endif
