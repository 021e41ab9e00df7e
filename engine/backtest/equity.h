/* The points of an account's equity as they are listed: at the end of every row, in exact units. */
#ifndef ENGINE_BACKTEST_EQUITY_H
#define ENGINE_BACKTEST_EQUITY_H

#include "engine/backtest/backtest.h"

/* Amounts in the currency's units; equity is that of the report rounded to them, FILL_MONEY_MAX at most. */
struct backtest_point {
    int64_t ts_ns; /* the end of the row */
    int64_t equity, cash, peak;
};

struct backtest_equity {
    const struct market *market;
    const struct backtest *backtest;
    const struct backtest_account *account;
    const struct account_spec *spec;
    size_t row;  /* the next */
    size_t next; /* row of the ledger */
    double most;
    int64_t cash, peak;
};

/* Of a backtest that kept its ledger, whose caller keeps all that is given. */
void backtest_equity_begin(struct backtest_equity *equity, const struct market *market,
                           const struct backtest *backtest, const struct account_spec *accounts, int account);

/* The next point; false: there is none. */
bool backtest_equity_next(struct backtest_equity *equity, struct backtest_point *ret);

#endif
