/* One run of a guard: what the strategy decided and ordered, and where two runs differ first. */
#ifndef ENGINE_BACKTEST_GUARD_RUN_H
#define ENGINE_BACKTEST_GUARD_RUN_H

#include "engine/backtest/guard.h"

struct guard_run {
    struct guard_decision *decisions; /* by row, then symbol; none before `from` */
    size_t n_decisions, cap_decisions, from;
    struct backtest backtest;
    bool no_memory;
};

/* Trades rows [from, market->rows) by that calendar on this thread. 0, or an error of backtest_run(). */
int backtest_guard_run_make(const struct guard_config *config, const struct market *market,
                            const struct trading_calendar *calendar, size_t from, enum backtest_way way,
                            struct guard_run *ret, char *err, size_t err_size);
void backtest_guard_run_finish(struct guard_run *run); /* all zero is fine */

/* How two runs are aligned: row r of the one is row r + rows of the other, whose times are later by `ns`. */
struct guard_shift {
    int64_t rows, ns;
};

/* The first decision or order of rows [.., last] in which two runs differ, into row, symbol, ts_ns and what
 * follows of *ret; false: there is none. ts_ns is the whole run's. */
bool backtest_guard_run_differ(const struct guard_run *whole, const struct market *market,
                               const struct guard_run *changed, struct guard_shift shift, size_t last,
                               struct guard_difference *ret);

#endif
