/* What the screen's kernels read and write: all of it on the device (or, in the CPU tests, in plain memory).
 */
#ifndef ENGINE_BACKTEST_SCREEN_CUDA_LAUNCH_H
#define ENGINE_BACKTEST_SCREEN_CUDA_LAUNCH_H

#include <stdlib.h>

#include "engine/backtest/screen/figures.h"
#include "engine/backtest/screen/rank.h"
#include "engine/backtest/screen/signs.h"

/* Threads of a block: a set each; rows that a block puts in order. */
enum {
    SCREEN_THREADS = 128,
    RANK_THREADS = 256,
    RANK_ROWS = 2048,
    TAKE_SIDE = 32,
    TAKE_THREADS = 256,
    AVERAGE_THREADS = 128
};

/* A set, as its rule reads it. */
struct screen_case {
    uint32_t set, first, atr, column[SCREEN_ROLES];
    float rsi_low, rsi_high;
    double want, fraction, rsi_max, stop_atr, profit_atr, risk, fraction_max;
};

/* A walk of all bars by n sets; the columns are [bar][columns], with one bar more, which is read and not
 * used; the wide ones [column][bars]. */
struct screen_launch {
    struct screen_terms terms;
    struct screen_span span;
    struct screen_cuts cuts;
    struct screen_bars bars;
    enum screen_rule rule;
    size_t n;
    const struct screen_case *cases;
    struct screen_row *rows; /* in their order */
};

/* Columns that are simple averages, as distances from the close: a thread a bar at which windows begin. */
struct screen_averaging {
    const double *real; /* [n_bars] closes */
    size_t n_bars, n_columns;
    const uint32_t *periods; /* [n], ascending */
    size_t n;
    float *columns; /* [bar][n_columns], the first n of each bar; bars before the first mean are left */
};

/* An output of the indicators' batch, and the column that it becomes. */
enum screen_take_kind {
    TAKE_DISTANCE, /* from the close, rounded to a float */
    TAKE_PLAIN,    /* rounded */
    TAKE_WIDE,     /* as it is: what is read at entries alone */
};
struct screen_take {
    uint32_t kind; /* enum screen_take_kind */
    uint32_t from, to;
};

struct screen_taking {
    const struct screen_take *takes;
    size_t n, n_bars;
    const double *outputs; /* [output][stride] */
    size_t stride;
    const double *real; /* closes */
    float *columns;     /* [bar][n_columns] */
    size_t n_columns;
    double *wide; /* [column][n_bars] */
};

/* Blocks put RANK_ROWS rows each in order: ranked[block * keep + i]. */
struct screen_order {
    struct screen_ranking by;
    const struct screen_row *rows;
    size_t n, keep;               /* keep: at most RANK_ROWS */
    struct screen_luck *luck;     /* [blocks] */
    struct screen_ranked *ranked; /* [blocks][keep] */
};

static inline unsigned screen_blocks_of(size_t n, size_t each)
{
    return (unsigned)((n + each - 1) / each);
}

static inline unsigned screen_take_blocks(size_t n_bars, size_t n_takes)
{
    return screen_blocks_of(n_bars, TAKE_SIDE) * screen_blocks_of(n_takes, TAKE_SIDE);
}

/* ---- on the host ---- */

/* The columns that are simple averages: those before the first period of 0. */
static inline size_t screen_averages_of(const uint32_t *periods, size_t n)
{
    size_t averages = 0;
    while (averages < n && periods[averages] > 0)
        averages++;
    return averages;
}

static inline int screen_ranked_order(const void *a, const void *b)
{
    const struct screen_ranked *x = (const struct screen_ranked *)a, *y = (const struct screen_ranked *)b;
    return screen_ranked_before(x, y) ? -1 : screen_ranked_before(y, x);
}

/* The best `top` of what blocks kept, n in all, which are put in order; how many of them are ranked. */
static inline size_t screen_merge(struct screen_ranked *all, size_t n, size_t top, struct screen_ranked *ret)
{
    size_t ranked = 0;
    qsort(all, n, sizeof(*all), screen_ranked_order);
    while (ranked < top && ranked < n && all[ranked].key > -INFINITY) {
        ret[ranked] = all[ranked];
        ranked++;
    }
    return ranked;
}

#endif
