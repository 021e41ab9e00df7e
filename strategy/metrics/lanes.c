#include "strategy/metrics/lanes.h"

#include <math.h>

#include "indicators_gpu/isa.h"

#if HAVE_AVX_SETS
extern const struct lanes_set metrics_lanes_set_baseline, metrics_lanes_set_avx2, metrics_lanes_set_avx512;
#else
extern const struct lanes_set metrics_lanes_set_baseline;
#endif

/* For an instruction set that the processor has; BEST: the best of them. */
static const struct lanes_set *metrics_lanes_set(enum indicator_isa isa)
{
    switch (isa == INDICATOR_ISA_BEST ? indicator_isa_best() : isa) {
#if HAVE_AVX_SETS
    case INDICATOR_ISA_AVX512:
        return &metrics_lanes_set_avx512;
    case INDICATOR_ISA_AVX2:
        return &metrics_lanes_set_avx2;
#endif
    default:
        return &metrics_lanes_set_baseline;
    }
}

struct lanes_range metrics_lanes_range(const double *values, size_t n)
{
    return metrics_lanes_set(INDICATOR_ISA_BEST)->range(values, n);
}

static bool regular(double value)
{
    return value > 0 && value < INFINITY;
}

/* The mean of the logs of 1 + r, as a return: below the mean by half the variance, which is far less than a
 * deviation, so that sums around it keep their precision. NaN for a curve that is not positive and finite at
 * its ends. */
static double metrics_lanes_shift(const struct metrics_series *curve)
{
    double last = curve->values[curve->n - 1];
    if (!regular(curve->start) || !regular(last))
        return NAN;
    return expm1(log(last / curve->start) / (double)curve->n);
}

/* Up to here CAGR's power would raise the roundings that empyrical's product has and a quotient has not. */
enum { PRODUCT_ROWS = 32768 };

static double product_of(const struct metrics_series *curve)
{
    return curve->n <= PRODUCT_ROWS ? metrics_product_exact(curve)
                                    : curve->values[curve->n - 1] / curve->start;
}

/* A variance of less than this share of the mean's square is of roundings. */
static const double EVEN = 1e-8;

bool metrics_lanes_sums(const struct metrics_series *curve, enum indicator_isa isa, struct metrics_sums *ret)
{
    struct lanes_curve sums;
    double n = (double)curve->n, shift = metrics_lanes_shift(curve);
    if (!isfinite(shift))
        return false;
    metrics_lanes_set(isa)->curve(curve->start, curve->values, curve->n, shift, &sums);
    /* A NaN may hide from highest and lowest, but not from the sums. */
    if (!regular(sums.highest) || !regular(sums.lowest) || !isfinite(sums.off[3]) || sums.best == sums.worst)
        return false;
    double off = sums.off[0] / n, m2 = sums.off[1] / n, m3 = sums.off[2] / n, m4 = sums.off[3] / n;
    double square = off * off, mean = shift + off;
    if (m2 - square < EVEN * mean * mean)
        return false;
    *ret = (struct metrics_sums){
        .n = curve->n,
        .present = curve->n,
        .product = product_of(curve),
        .mean = mean,
        .squares = sums.off[1] - sums.off[0] * off,
        .down_squares = sums.down,
        .gains = sums.gains,
        .losses = sums.losses,
        .max_drawdown = sums.max_drawdown,
        .best = sums.best,
        .worst = sums.worst,
        .centre = mean,
        .m2 = m2 - square,
        .m3 = m3 - 3 * off * m2 + 2 * off * square,
        .level = sums.level / n,
        .m4 = m4 - 4 * off * m3 + 6 * square * m2 - 3 * square * square,
    };
    return true;
}

bool metrics_lanes_against(const struct metrics_series *series, const struct metrics_series *benchmark,
                           enum indicator_isa isa, double periods_per_year, struct metrics_against *ret)
{
    struct lanes_pair sums;
    double n = (double)series->n, shift_r = metrics_lanes_shift(series),
           shift_b = metrics_lanes_shift(benchmark);
    if (!isfinite(shift_r) || !isfinite(shift_b))
        return false;
    metrics_lanes_set(isa)->pair(series, benchmark, shift_r, shift_b, &sums);
    if (!regular(sums.highest) || !regular(sums.lowest) || !isfinite(sums.rb) || !isfinite(sums.bb))
        return false;
    double off_r = sums.r / n, off_b = sums.b / n;
    double variance = sums.bb / n - off_b * off_b;
    if (variance < METRICS_LEAST_VARIANCE)
        return false;
    double beta = (sums.rb / n - off_r * off_b) / variance;
    double alpha = shift_r + off_r - beta * (shift_b + off_b);
    *ret = (struct metrics_against){.beta = beta, .alpha = pow(alpha + 1, periods_per_year) - 1};
    return true;
}
