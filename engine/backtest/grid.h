/* The combinations of a sweep: every value of each axis with every one of the others. */
#ifndef ENGINE_BACKTEST_GRID_H
#define ENGINE_BACKTEST_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "strategy/params.h"

struct strategy;

struct backtest_axis {
    int param; /* index of the strategy's parameters */
    size_t n;
    double *values;   /* [n], owned: each once */
    size_t again;     /* values that were given once more */
    double low, high; /* the least and the greatest */
    bool continuous;  /* a range without a step, of a parameter that need not be whole: for samples */
};

/* Zeroed at first. The first axis moves slowest. */
struct backtest_grid {
    struct backtest_axis axes[STRATEGY_PARAMS_MAX];
    int n_axes;
};

enum { BACKTEST_GRID_MOST = 1000000, /* combinations */ BACKTEST_GRID_ERROR_MAX = 512 };

/* Adds an axis: "key=lo:hi:step", of which step may be left out (1, and for a sample the
 * whole range), or "key=a,b,c". 0; -EINVAL with a sentence
 * for what is none, a parameter that the strategy lacks or that has an axis, a value out of its range;
 * -ENOMEM. In each case the grid is to be finished. */
int backtest_grid_add(struct backtest_grid *grid, const struct strategy *strategy, const char *text,
                      char err[static BACKTEST_GRID_ERROR_MAX]);

/* How many combinations there are, of distinct values; at most BACKTEST_GRID_MOST + 1. */
size_t backtest_grid_count(const struct backtest_grid *grid);

/* Sets the parameters of combination i; false where they contradict each other. */
bool backtest_grid_set(const struct backtest_grid *grid, const struct strategy *strategy, size_t i,
                       double params[static STRATEGY_PARAMS_MAX]);

void backtest_grid_finish(struct backtest_grid *grid);

#endif
