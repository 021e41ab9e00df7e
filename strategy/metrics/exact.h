/* The sums behind the metrics, in the order in which empyrical's libraries add: Bottleneck's nanmean and
 * nanstd and NumPy's products from the first to the last, NumPy's mean in pairs of halves. */
#ifndef STRATEGY_METRICS_EXACT_H
#define STRATEGY_METRICS_EXACT_H

#include "strategy/metrics.h"

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

#endif
