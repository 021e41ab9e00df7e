/* The indicators that a strategy reads, parsed from its own words: "sma:20" of the run's bars, "ema:9@4h" of
 * the closed bars of a longer interval, or "sma:20@imbalance" of what the order book was during the run's
 * bars (exchange/book_measure.h): open, high, low and close are that measure's. "col:funding" is an external
 * column (strategy/column.h) at the end of the run's bars, "sma:20@col:funding" of those that have a value:
 * open, high, low and close are it. */
#ifndef ENGINE_SPECS_H
#define ENGINE_SPECS_H

#include <stddef.h>
#include <stdint.h>

#include "indicators_gpu/indicators.h"
#include "strategy/column.h"
#include "strategy/params.h"

struct strategy;

enum { SPECS_ERROR_MAX = 200 };

struct runner_spec {
    struct indicator_spec indicator;
    int64_t frame_ns; /* of the higher bars; 0: the run's own bars */
    int measure;      /* of the book, an enum book_measure; -1: of prices */
    struct column_source column;
    bool plain; /* the column's value itself; `indicator` has one output as that */
};

/* Asks the strategy for its specs, and checks whether bars of this interval can serve them: a timeframe is
 * a multiple of it. 0, or -EINVAL with one clause in `err` that says what would be right: "strategy
 * trend-4h-1h needs bars that divide 1h: interval 3d does not". */
int engine_runner_specs(const struct strategy *strategy, const double *params, int64_t interval_ns,
                        struct runner_spec specs[static STRATEGY_SPECS_MAX], size_t *ret_n,
                        char err[static SPECS_ERROR_MAX]);

/* Bars alone have no order book: 0, or -EINVAL with a clause as above for a spec of a measure. */
int engine_runner_specs_of_bars(const struct strategy *strategy, const struct runner_spec *specs, size_t n,
                                char err[static SPECS_ERROR_MAX]);

/* Does one of them read external columns? */
bool engine_runner_specs_read_columns(const struct runner_spec *specs, size_t n);

/* How many outputs they have together: the length of strategy_input's indicators. */
size_t engine_runner_outputs(const struct runner_spec *specs, size_t n);

/* The name of an output: "ema_9", "macd_12_26_9.hist", "ema_9@4h", "sma_20@imbalance", "col_funding",
 * "sma_20@col_funding". As snprintf(). */
size_t engine_runner_output_name(const struct runner_spec *spec, size_t output, char *buf, size_t cap);

#endif
