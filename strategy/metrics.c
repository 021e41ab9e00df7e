#include "strategy/metrics.h"

#include <float.h>
#include <math.h>

#include "strategy/metrics/lanes.h"
#include "strategy/metrics/series.h"

double metrics_periods_per_year(int64_t interval_ns)
{
    const double year_ns = 365.0 * 86400e9;
    return year_ns / (double)interval_ns;
}

static double calmar(double cagr, double max_drawdown)
{
    double ratio = max_drawdown < 0 ? cagr / fabs(max_drawdown) : NAN;
    return isinf(ratio) ? NAN : ratio;
}

/* Values that differ only by rounding have no skew or kurtosis. */
static void shape(const struct metrics_sums *sums, struct metrics *ret)
{
    double rounding = DBL_EPSILON * sums->centre;
    bool none = sums->m2 <= rounding * rounding;
    ret->skew = none ? NAN : sums->m3 / pow(sums->m2, 1.5);
    ret->kurtosis = none ? NAN : sums->m4 / (sums->m2 * sums->m2) - 3;
}

static void finish(const struct metrics_sums *sums, double periods_per_year, struct metrics *ret)
{
    double n = (double)sums->n, present = (double)sums->present;
    *ret = (struct metrics){
        .n = sums->n,
        .missing = sums->n - sums->present,
        .total_return = sums->n ? sums->product - 1 : NAN,
        .cagr = sums->n ? pow(sums->product, 1 / (n / periods_per_year)) - 1 : NAN,
        .volatility = NAN,
        .downside = sqrt(sums->down_squares / present) * sqrt(periods_per_year), /* 0 / 0 of none */
        .sharpe = NAN,
        .sortino = NAN,
        .max_drawdown = sums->max_drawdown,
        .omega = NAN,
        .mean = sums->mean,
        .best = sums->best,
        .worst = sums->worst,
    };
    ret->calmar = calmar(ret->cagr, ret->max_drawdown);
    shape(sums, ret);
    if (sums->n < 2)
        return;
    double deviation = sums->present > 1 ? sqrt(sums->squares / (present - 1)) : NAN;
    ret->volatility = deviation * pow(periods_per_year, 0.5);
    if (sums->best == sums->worst && isfinite(deviation))
        deviation = 0;
    ret->sharpe = sums->mean / deviation * sqrt(periods_per_year);
    ret->sortino = sums->mean * periods_per_year / ret->downside;
    if (sums->losses < 0)
        ret->omega = sums->gains / -sums->losses;
}

/* Divided once, where empyrical's sums go over the returns four times. */
static void short_curve(const struct metrics_series *curve, struct metrics_sums *ret)
{
    double returns[METRICS_ROWS_EXACT];
    struct metrics_series series = metrics_returns(returns, curve->n);
    if (curve->n > 0)
        series_divide(curve, 0, curve->n, returns);
    metrics_sums_exact(&series, ret);
}

/* True: in lanes, so that the curve is regular, and its level is known. */
static bool compute(const struct metrics_series *series, double periods_per_year, struct metrics *ret,
                    double *ret_level)
{
    struct metrics_sums sums;
    bool in_lanes = false;
    if (series->equity && series->n <= METRICS_ROWS_EXACT)
        short_curve(series, &sums);
    else if (series->equity && metrics_lanes_sums(series, INDICATOR_ISA_BEST, &sums))
        in_lanes = true;
    else
        metrics_sums_exact(series, &sums);
    finish(&sums, periods_per_year, ret);
    *ret_level = sums.level;
    return in_lanes;
}

void metrics_compute(const struct metrics_series *series, double periods_per_year, struct metrics *ret)
{
    double level;
    compute(series, periods_per_year, ret, &level);
}

void metrics_look(struct metrics_series *curve, double periods_per_year, struct metrics *ret)
{
    curve->regular = compute(curve, periods_per_year, ret, &curve->level);
    if (!curve->regular)
        curve->level = metrics_lanes_range(curve->values, curve->n).sum / (double)curve->n;
}
