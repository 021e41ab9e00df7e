/* papertape backtest --list-strategies: what strategies there are. */
#ifndef CLI_STRATEGIES_H
#define CLI_STRATEGIES_H

#include <stdbool.h>

/* Prints every strategy with its parameters, as text or as papertape.strategies/1. An exit status. */
int cli_strategies_list(bool json);

#endif
