/* The parameter sets of a sweep: every combination of a grid, or a sample of them; each once. */
#ifndef ENGINE_BACKTEST_SETS_H
#define ENGINE_BACKTEST_SETS_H

#include <stdint.h>

#include "engine/backtest/grid.h"

/* A sample: `n` points of the unit cube, by Philox or by Sobol's sequence with a digital shift of `seed`. A
 * coordinate chooses one of an axis' values; of a range without a step, of a parameter that is not whole, a
 * number of it, rounded to 9 digits. Zeroed: no sample. */
struct backtest_sampling {
    size_t n; /* at most BACKTEST_GRID_MOST; 0: every combination */
    bool sobol;
    uint64_t seed;
};

/* Periods: where `n` of them start, each one of `starts` places (at least 1, at most UINT32_MAX),
 * independently or by one dimension of Sobol's sequence with a shift of its own, of which any 2^k in a row
 * from a multiple of 2^k on are one in each 2^k-th of the places. The sets that are drawn do not change them.
 */
void backtest_sampling_starts(const struct backtest_sampling *sampling, size_t n, uint32_t starts,
                              size_t *ret);

/* All zero is an empty one. */
struct backtest_sets {
    const struct backtest_grid *grid; /* the caller's */
    double *drawn;                    /* [n][grid->n_axes], owned; NULL: every combination of the grid */
    size_t n;                         /* distinct sets; BACKTEST_GRID_MOST + 1: more than can be run */
    double asked;                     /* combinations, or samples, equal ones counted as often as they are */
};

/* 0 with *ret, to be finished by the caller, while the grid stays as it is; -EINVAL with a sentence for more
 * than BACKTEST_GRID_MOST samples; -ENOMEM. */
int backtest_sets_open(const struct backtest_grid *grid, const struct backtest_sampling *sampling,
                       struct backtest_sets *ret, char err[static BACKTEST_GRID_ERROR_MAX]);
void backtest_sets_finish(struct backtest_sets *sets);

/* Sets the parameters of set i, i < n; false where they contradict each other. */
bool backtest_sets_get(const struct backtest_sets *sets, const struct strategy *strategy, size_t i,
                       double params[static STRATEGY_PARAMS_MAX]);

/* The sets beside set i, at most `cap`, into ret; how many there are. Of a grid: those that are one step away
 * on one axis or on two. Of a sample: the `cap` nearest, each axis scaled to its range, of equals the
 * earlier. */
enum { BACKTEST_SETS_BESIDE = 2 * STRATEGY_PARAMS_MAX * STRATEGY_PARAMS_MAX, BACKTEST_SETS_NEAREST = 8 };
size_t backtest_sets_beside(const struct backtest_sets *sets, size_t i, size_t *ret, size_t cap);

#endif
