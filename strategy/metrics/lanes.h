/* The sums over long curves of equity, eight rows side by side: one pass, one division a row. The order of
 * the sums is one for all instruction sets, and so are the bits. */
#ifndef STRATEGY_METRICS_LANES_H
#define STRATEGY_METRICS_LANES_H

#include "indicators_gpu/indicators.h"
#include "strategy/metrics.h"

/* The sums behind the metrics, in the order in which empyrical's libraries add: Bottleneck's nanmean and
 * nanstd and NumPy's products from the first to the last, NumPy's mean in pairs of halves. */

/* empyrical's: a benchmark that varies less has no beta. */
#define METRICS_LEAST_VARIANCE 1e-30

struct metrics_sums {
    size_t n, present;    /* returns, and those that are not NaN */
    double product;       /* of 1 + r */
    double mean;          /* NaN of none */
    double squares;       /* sum of (r - mean)^2 */
    double down_squares;  /* sum of min(r, 0)^2 */
    double gains, losses; /* sums of r > 0 and of r < 0 */
    double max_drawdown;
    double best, worst;
    double level;              /* mean of the equity, by metrics_lanes_sums() only */
    double centre, m2, m3, m4; /* mean and central moments; NaN with a NaN among the returns */
};

/* Of 1 + r, the first to the last. */
double metrics_product_exact(const struct metrics_series *series);

void metrics_sums_exact(const struct metrics_series *series, struct metrics_sums *ret);

/* Sums over returns r of a curve, less a shift near their mean. */
struct lanes_curve {
    double off[4];              /* of (r - shift)^1..4 */
    double down, gains, losses; /* of min(r, 0)^2, max(r, 0), min(r, 0) */
    double best, worst;         /* return */
    double highest, lowest;     /* equity after a row */
    double level;               /* of the equity */
    double max_drawdown;
};

/* Sums over the returns r of a curve and b of a benchmark, less a shift each. */
struct lanes_pair {
    double r, b, bb, rb;
    double highest, lowest; /* of both curves */
};

struct lanes_range {
    double highest, lowest;
    double sum; /* not finite where a value is not; then the others are meaningless */
};

struct lanes_set {
    struct lanes_range (*range)(const double *values, size_t n);
    void (*curve)(double start, const double *equity, size_t n, double shift, struct lanes_curve *ret);
    void (*pair)(const struct metrics_series *series, const struct metrics_series *benchmark, double shift_r,
                 double shift_b, struct lanes_pair *ret);
};

/* The range of n > 0 values, by the best instruction set. */
struct lanes_range metrics_lanes_range(const double *values, size_t n);

/* False, with nothing written, for a curve that is not positive and finite throughout, or of equal returns:
 * there the result depends on the order of the sums. */
bool metrics_lanes_sums(const struct metrics_series *curve, enum indicator_isa isa, struct metrics_sums *ret);
bool metrics_lanes_against(const struct metrics_series *series, const struct metrics_series *benchmark,
                           enum indicator_isa isa, double periods_per_year, struct metrics_against *ret);

#endif
