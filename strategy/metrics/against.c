#include <math.h>

#include "strategy/metrics/lanes.h"
#include "strategy/metrics/series.h"

struct pair {
    const struct metrics_series *series, *benchmark;
    double centre, beta; /* of the benchmark; beta 0 until it is known */
};

enum pair_term { BENCHMARK, COVARIANCE, VARIANCE, UNEXPLAINED };

static inline double term_of(const struct pair *pair, enum pair_term term, double r, double b)
{
    double off = b - pair->centre;
    switch (term) {
    case BENCHMARK:
        return isnan(r) ? NAN : b;
    case COVARIANCE:
        return off * r;
    case VARIANCE:
        return isnan(r) ? NAN : off * off;
    case UNEXPLAINED:
        return r - pair->beta * b;
    }
    return NAN;
}

/* The mean of a term from the first row to the last, NaN left out. */
static double mean_of(const struct pair *pair, enum pair_term term)
{
    double room_r[SERIES_BLOCK], room_b[SERIES_BLOCK], sum = 0;
    size_t present = 0;
    for (size_t from = 0, n; from < pair->series->n; from += n) {
        n = series_block(pair->series, from);
        const double *r = series_load(pair->series, from, n, room_r);
        const double *b = series_load(pair->benchmark, from, n, room_b);
        for (size_t i = 0; i < n; i++) {
            double x = term_of(pair, term, r[i], b[i]);
            if (!isnan(x)) {
                sum += x;
                present++;
            }
        }
    }
    return sum / (double)present;
}

void metrics_against(const struct metrics_series *series, const struct metrics_series *benchmark,
                     double periods_per_year, struct metrics_against *ret)
{
    struct pair pair = {.series = series, .benchmark = benchmark};
    *ret = (struct metrics_against){NAN, NAN};
    if (series->n < 2)
        return;
    if (series->equity && benchmark->equity && series->n > METRICS_ROWS_EXACT &&
        metrics_lanes_against(series, benchmark, INDICATOR_ISA_BEST, periods_per_year, ret))
        return;
    pair.centre = mean_of(&pair, BENCHMARK);
    double variance = mean_of(&pair, VARIANCE);
    pair.beta = mean_of(&pair, COVARIANCE) / (variance < METRICS_LEAST_VARIANCE ? NAN : variance);
    ret->beta = pair.beta;
    ret->alpha = pow(mean_of(&pair, UNEXPLAINED) + 1, periods_per_year) - 1;
}
