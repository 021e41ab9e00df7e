/* What the metric of a screened set can be, by the error that is assumed of a screen. */
#ifndef ENGINE_BACKTEST_SWEEP_BOUNDS_H
#define ENGINE_BACKTEST_SWEEP_BOUNDS_H

#include "engine/backtest/screen/screen.h"
#include "engine/backtest/sweep.h"

/* The sets of a sweep, screened, and some of them run. */
struct sweep_bounds {
    enum sweep_metric metric;
    size_t n, length;                   /* sets; rows of a run */
    double periods;                     /* rows of a year */
    const struct screen_row *rows;      /* [n] */
    const struct sweep_result **exact;  /* [n]; NULL: it was not run */
    double wide;                        /* times the stated error */
    double expected_low, expected_high; /* of SWEEP_DSR: what luck would show, a row's Sharpe ratio */
};

/* Sets expected_low and expected_high, from the Sharpe ratios of all sets. Deviations of n numbers are a
 * norm over √(n - 1), so that it is off by at most the norm of their errors. Both are the same where all were
 * run, and where either is above what luck can be (overfit_luck_variance()). */
void backtest_sweep_bounds_luck(struct sweep_bounds *bounds);

/* The least and the most that set i's metric can be; -INFINITY, both, without one. */
void backtest_sweep_bounds_of(const struct sweep_bounds *bounds, size_t i, double *ret_low, double *ret_high);

/* Of two sets that were run, is i before k whatever luck would show of what is possible, or equal to it? What
 * each has is a line there: lines that do not cross at the ends cross nowhere between. */
bool backtest_sweep_bounds_before(const struct sweep_bounds *bounds, size_t i, size_t k);

/* How many times the stated error it is off, once it was run; 0 where the screen claimed nothing. */
double backtest_sweep_bounds_measured(const struct sweep_bounds *bounds, size_t i);

/* The row of a screened set; length: rows of a block. */
struct sweep_result backtest_sweep_bounds_row(size_t combination, const struct screen_row *row,
                                              size_t length);

/* Does the screen claim nothing of its Sharpe ratio? */
bool backtest_sweep_bounds_unknown(const struct screen_row *row);

#endif
