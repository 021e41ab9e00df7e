/* How choosing the best of many runs biases its figures. */
#ifndef ENGINE_BACKTEST_SELECTION_H
#define ENGINE_BACKTEST_SELECTION_H

#include <stddef.h>

/* The expected largest of n independent standard normal numbers: 0 for n = 1, 3.24 for 1,000; the integral of
 * x n phi(x) Phi(x)^(n-1), to 1e-9. n >= 1. */
double backtest_selection_expected_max(size_t n);

/* The Sharpe ratio, a year, that the best of n runs without any skill would show over `years`: the standard
 * error of a Sharpe ratio of 0, 1 / sqrt(years), times that. Runs are assumed independent; those of one
 * strategy are correlated, which lowers it. */
double backtest_selection_best_sharpe(size_t n, double years);

#endif
