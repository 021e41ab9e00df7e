#include "engine/backtest/selection.h"

#include <math.h>

double backtest_selection_expected_max(size_t n)
{
    enum { STEPS = 4000 };
    const double low = -12, high = 12, step = (high - low) / STEPS;
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) { /* Simpson's rule */
        double x = low + i * step, weight = i == 0 || i == STEPS ? 1 : i % 2 == 1 ? 4 : 2;
        double log_below = x > 0 ? log1p(-0.5 * erfc(x / M_SQRT2)) : log(0.5 * erfc(-x / M_SQRT2));
        double density = (double)n / sqrt(2 * M_PI) * exp(-x * x / 2 + ((double)n - 1) * log_below);
        sum += weight * x * density;
    }
    return sum * step / 3;
}

double backtest_selection_best_sharpe(size_t n, double years)
{
    return backtest_selection_expected_max(n) / sqrt(years);
}
