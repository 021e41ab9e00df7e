#include "strategy/metrics/deflate.h"

#include <errno.h>
#include <math.h>

#define EULER_GAMMA 0.57721566490153286061

static double normal_above(double x) /* the share of a normal distribution above x */
{
    return 0.5 * erfc(x * M_SQRT1_2);
}

/* The x that the share `p` in (0, 0.5] lies above: bisected, then Newton steps on the share's logarithm,
 * which is nearly straight, so that the tail has its digits too. */
static double normal_quantile_above(double p)
{
    double low = 0, high = 38.5; /* beyond it the share is no number any more */
    for (int i = 0; i < 24; i++) {
        double middle = (low + high) / 2;
        if (normal_above(middle) > p)
            low = middle;
        else
            high = middle;
    }
    double x = low;
    for (int i = 0; i < 4; i++) {
        double above = normal_above(x), density = exp(-x * x / 2) / sqrt(2 * M_PI);
        x += (log(above) - log(p)) * above / density;
    }
    return x;
}

/* -x where p > 0.5. */
static double quantile_above(double p)
{
    return p <= 0.5 ? normal_quantile_above(p) : -normal_quantile_above(1 - p);
}

double overfit_expected_sharpe(size_t trials, double variance)
{
    if (trials < 2)
        return 0;
    double n = (double)trials;
    return sqrt(variance) *
           ((1 - EULER_GAMMA) * quantile_above(1 / n) + EULER_GAMMA * quantile_above(1 / (n * M_E)));
}

double overfit_luck_variance(double variance, size_t rows)
{
    return rows > 1 ? fmin(variance, 1 / (double)(rows - 1)) : variance;
}

struct deflated overfit_deflated_moments(double sharpe, double skew, double kurtosis, size_t n,
                                         double expected)
{
    double deviation = sqrt(1 - skew * sharpe + (kurtosis - 1) / 4 * sharpe * sharpe);
    double scale = sqrt((double)n - 1) / deviation;
    if (!isfinite(sharpe) || !isfinite(scale))
        return (struct deflated){sharpe, expected, NAN, NAN, NAN};
    return (struct deflated){sharpe, expected, normal_above(-sharpe * scale),
                             normal_above(-(sharpe - expected) * scale), scale};
}

int overfit_deflated_sharpe(const double *returns, size_t n, size_t trials, double variance,
                            struct deflated *ret)
{
    double mean = 0, m2 = 0, m3 = 0, m4 = 0, rows = (double)n, least = INFINITY, most = -INFINITY;
    if (n < 3 || trials < 1 || !isfinite(variance) || variance < 0)
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(returns[i]))
            return -EINVAL;
        mean += returns[i] / rows;
        least = fmin(least, returns[i]);
        most = fmax(most, returns[i]);
    }
    for (size_t i = 0; i < n; i++) {
        double d = returns[i] - mean;
        m2 += d * d / rows;
        m3 += d * d * d / rows;
        m4 += d * d * d * d / rows;
    }
    double expected = overfit_expected_sharpe(trials, variance);
    struct deflated deflated = {0, expected, NAN, NAN, NAN};
    if (least < most) {
        double skew = m3 / (m2 * sqrt(m2)), kurtosis = m4 / (m2 * m2);
        double sharpe = mean / sqrt(m2 * rows / (rows - 1));
        deflated = overfit_deflated_moments(sharpe, skew, kurtosis, n, expected);
    }
    *ret = deflated;
    return 0;
}
