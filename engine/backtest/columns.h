/* A strategy's indicators over a whole history at once: bit for bit the values that the runner's streams
 * would give bar after bar, as columns. Every value is indicator_reference()'s on the bars that exist, or
 * on the higher bars that are closed (engine/frame.h); the common rows of several symbols are computed side
 * by side (indicators_gpu/exact/exact.h). */
#ifndef ENGINE_BACKTEST_COLUMNS_H
#define ENGINE_BACKTEST_COLUMNS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/backtest/higher.h"
#include "engine/market/market.h"
#include "engine/specs.h"

struct external_columns;

/* One symbol's bars that exist, oldest first, n of each. */
struct columns_bars {
    size_t n;
    int64_t interval_ns;
    const int64_t *open_ns; /* needed for higher bars and for what reads the time; else may be NULL */
    const double *open, *high, *low, *close, *volume;
    const struct trading_calendar *calendar; /* by whose sessions higher bars are formed; NULL: none */
    /* Of specs of external columns, and the symbol that they are of. open_ns is needed for those. */
    const struct external_columns *external;
    const char *symbol;
    void *owned; /* backtest_columns_dense()'s */
};

/* The bars of a symbol in rows [from, to) of a market, without the missing ones. Where no bar is missing
 * the columns are the market's own, borrowed; else copies. `grid` is the market's time of each row, [rows],
 * or NULL for open_ns NULL where no bar is missing. 0 or -ENOMEM. */
int backtest_columns_dense(const struct market *market, int symbol, size_t from, size_t to,
                           const int64_t *grid, struct columns_bars *ret);
void backtest_columns_dense_finish(struct columns_bars *bars);

/* Memory for columns: the k-th begins at cells + k * stride, on a line of its own. Large ones lie in large
 * pages where the system has them, which makes the columns of a million bars several times as fast. {0} is
 * empty. */
struct columns_room {
    double *cells;
    size_t stride;
    void *memory;
    size_t mapped; /* 0: from the heap */
};

/* Room for columns of n doubles each, of unknown contents. 0 or -ENOMEM. */
int backtest_columns_room_make(size_t n_columns, size_t n, struct columns_room *ret);
void backtest_columns_room_finish(struct columns_room *room);

/* An output of higher bars as one value each: at bar i of the run it is that of the last one that is closed
 * there, NaN before the first. Zeroed: the output is a column as others are. */
struct columns_sparse {
    const double *values; /* NULL: zeroed */
    struct higher_closed closed;
    void *owned_values, *owned_counts; /* of the first output that has them */
};

static inline double columns_sparse_at(const struct columns_sparse *sparse, size_t bar)
{
    size_t closed = higher_closed(&sparse->closed, bar);
    return closed > 0 ? sparse->values[closed - 1] : NAN;
}

/* What is to be computed of one symbol: out[k] takes n doubles of the k-th output (engine_runner_outputs() of
 * them, in the order of the specs), NaN while warming up. Outputs are the caller's, overlap nothing, and are
 * written fastest where they stand in a columns_room. */
struct columns_job {
    struct columns_bars bars;
    double *const *out;
    /* NULL, or [outputs], zeroed: outputs of higher bars go here, for backtest_columns_sparse_finish(), and
     * their out[k] is not used. Columns of a million bars would repeat each value some hundred times. */
    struct columns_sparse *sparse;
};

/* Computes all jobs, on up to `threads` threads (at least 1). 0; -EINVAL and a clause in err for a bar that
 * is not finite; -ENOMEM. */
int backtest_columns_compute(const struct runner_spec *specs, size_t n_specs, const struct columns_job *jobs,
                             size_t n_jobs, int threads, char err[static SPECS_ERROR_MAX]);

void backtest_columns_sparse_finish(struct columns_sparse *sparse, size_t n_outputs); /* NULL is fine */

/* Indicators of windows, computed at single bars: for strategies that find the bars they need without them.
 * The bits of indicator_reference() over the whole history, since a window is summed again for each bar
 * (points.c).
 *
 * Can all of them be computed so: of a window only, and of the run's own bars? */
bool backtest_points_serve(const struct runner_spec *specs, size_t n);

/* Room for one bar's computation; {0} before the first. */
struct points {
    double *room;
    size_t cap;
};

enum { POINTS_MOST = 8 }; /* at a time: enough to hide an addition's latency behind the others' */

/* All outputs at n <= POINTS_MOST bars, ascending: those of bar i from out[i * outputs] on, NaN where the
 * history is too short. 0; -ENOMEM; -EINVAL for a bar that is not finite. */
int backtest_points_at(struct points *points, const struct runner_spec *specs, size_t n_specs,
                       const struct columns_bars *bars, const size_t *at, size_t n, double *out);
void backtest_points_finish(struct points *points);

/* Indicators and marks a few thousand rows at a time, so that they stay in the caches and no column of a
 * whole history is ever written: for strategies that scan, of indicators that can be computed in parts
 * (indicators_gpu/exact/exact.h). Threads work on the next rows while the account is simulated on these
 * (chunks.c). */
struct account_spec;
struct backtest_config;
struct chunks;
struct sim;
struct strategy;

bool backtest_chunks_serve(const struct strategy *strategy, const struct runner_spec *specs, size_t n_specs);

/* Over `bars` of each symbol, [n_symbols], with their rows where some are missing; all are borrowed until
 * it is closed. Rows [0, to). 0 or -ENOMEM. */
int backtest_chunks_open(const struct backtest_config *config, const struct account_spec *spec,
                         const struct runner_spec *specs, size_t n_specs, const struct columns_bars *bars,
                         uint32_t *const *rows, int threads, struct chunks **ret);
/* The next rows: passes every symbol's bars of them to the account, which may use them until the next call.
 * Returns the row that they end before; 0: there are no more. */
size_t backtest_chunks_next(struct chunks *chunks, struct sim *sim);
/* Seconds that the caller's thread spent on indicators and on marks, or waited for them. */
void backtest_chunks_seconds(const struct chunks *chunks, double *ret_indicators, double *ret_signals);
void backtest_chunks_close(struct chunks *chunks); /* NULL is fine */

#endif
