/* How backtests and sweeps trade, from texts: the options of both. */
#ifndef SPARK_NATIVE_TRADING_H
#define SPARK_NATIVE_TRADING_H

#include "engine/backtest/backtest.h"
#include "engine/backtest/sweep.h"
#include "engine/backtest/terms.h"

struct calendar_file;

/* All zero is an empty one. Owns its texts. */
struct spark_trading {
    const struct strategy *strategy;
    double params[STRATEGY_PARAMS_MAX];
    struct backtest_terms terms;
    struct backtest_grid grid;
    enum sweep_metric metric; /* ranks the runs of a sweep */
    int64_t top;              /* so many of them are given; 0: all */
    char *lot, *tick, *quote, *exchange_info;
    struct calendar_file *calendar;
    int64_t from_ns, to_ns, interval_ns; /* 0: not given */
    enum backtest_way way;
    bool repair, no_benchmark;
    bool error_rows; /* a symbol that cannot be run is a row with the reason, instead of a failure */
};

/* Reads n options, each a key and its text:
 *
 *   strategy                 a name, or NAME:key=value,key=value
 *   set.KEY                  one of its parameters
 *   cash, fee_maker, …       of engine/backtest/terms.h, shorts and risk.LIMIT too
 *   venue, calendar, session, lot, tick, quote, exchange_info, interval, from, to, way, repair
 *                            as papertape backtest's options of these names; repair: on or off
 *   benchmark                first or none
 *   errors                   raise, or rows
 *   grid.KEY                 LO:HI:STEP, or a,b,c; makes it a sweep
 *   metric, top              of a sweep
 *
 * 0, for spark_trading_finish(); -EINVAL with a sentence, or what a calendar's file says; -ENOMEM. */
int spark_trading_read(const char *const keys[], const char *const values[], size_t n,
                       struct spark_trading *ret, char *err, size_t err_cap);
void spark_trading_finish(struct spark_trading *trading);

/* NULL: there is none. */
const struct trading_calendar *spark_trading_calendar(const struct spark_trading *trading);

#endif
