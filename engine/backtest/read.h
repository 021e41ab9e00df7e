/* What a strategy read of a symbol: its indicators at each traded row, for those who look at a run
 * afterwards. They are the runner's to the bit (engine/backtest/columns.h). */
#ifndef ENGINE_BACKTEST_READ_H
#define ENGINE_BACKTEST_READ_H

#include "engine/backtest/backtest.h"
#include "engine/specs.h"

enum { BACKTEST_READ_NAME_MAX = 80 };

struct backtest_read {
    size_t n, rows;                        /* outputs; traded rows */
    char (*names)[BACKTEST_READ_NAME_MAX]; /* [n] "sma_20", "ema_9@4h", in the order of the specs */
    double *values;                        /* [n][rows]; NaN while warming up, and where the bar is missing */
};

/* The names alone, of account `account`; rows is 0. 0 with *ret, for backtest_read_finish(): none of an
 * account without a strategy; -EINVAL with a clause for indicators that bars do not serve; -ENOMEM. */
int backtest_read_names(const struct backtest_config *config, int account, struct backtest_read *ret,
                        char err[static SPECS_ERROR_MAX]);
/* And the values of a symbol. The same errors. */
int backtest_read_symbol(const struct backtest_config *config, int account, int symbol,
                         struct backtest_read *ret, char err[static SPECS_ERROR_MAX]);
void backtest_read_finish(struct backtest_read *read); /* fine on a zeroed one */

#endif
