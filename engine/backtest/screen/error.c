#include <math.h>

#include "engine/backtest/screen/screen.h"

/* A part of the value, and an absolute part in the metric's own unit. */
static const struct {
    double relative, absolute;
} errors[SWEEP_METRICS] = {
    [SWEEP_SHARPE] = {1e-4, 1e-5}, [SWEEP_SORTINO] = {1e-4, 1e-5},       [SWEEP_CALMAR] = {1e-4, 1e-5},
    [SWEEP_CAGR] = {1e-5, 1e-5},   [SWEEP_RETURN] = {1e-6, 1e-6},        [SWEEP_MAX_DRAWDOWN] = {1e-6, 1e-6},
    [SWEEP_OMEGA] = {1e-4, 1e-5},  [SWEEP_PROFIT_FACTOR] = {1e-5, 1e-6}, [SWEEP_EXPECTANCY] = {1e-5, 1e-6},
    [SWEEP_SQN] = {1e-4, 1e-5},    [SWEEP_WIN_RATE] = {1e-6, 1e-6},
};

double backtest_screen_error(enum sweep_metric metric, double value)
{
    double relative = isfinite(value) ? errors[metric].relative * fabs(value) : 0;
    return errors[metric].absolute + relative;
}
