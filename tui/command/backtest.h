/* papertape backtest: strategies on bars or trades, or a recorded log through the engine again. */
#ifndef TUI_COMMAND_BACKTEST_H
#define TUI_COMMAND_BACKTEST_H

/* argv[0] is the verb. Returns an exit status. */
int command_backtest(int argc, char **argv);

#endif
