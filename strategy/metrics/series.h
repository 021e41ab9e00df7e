/* A series read in blocks of returns. */
#ifndef STRATEGY_METRICS_SERIES_H
#define STRATEGY_METRICS_SERIES_H

#include "strategy/metrics.h"

/* Writes the returns [from, from + n) of a series of equity; n > 0. */
static inline void series_divide(const struct metrics_series *series, size_t from, size_t n,
                                 double *restrict ret)
{
    const double *values = series->values + from;
    double before = from ? values[-1] : series->start;
    ret[0] = (values[0] - before) / before;
    for (size_t i = 1; i < n; i++)
        ret[i] = (values[i] - values[i - 1]) / values[i - 1];
}

enum { SERIES_BLOCK = 128 };

static inline size_t series_block(const struct metrics_series *series, size_t from)
{
    size_t left = series->n - from;
    return left < SERIES_BLOCK ? left : SERIES_BLOCK;
}

/* Returns [from, from + n): the series' own, or `room` with those of its equity. 0 < n <= SERIES_BLOCK. */
static inline const double *series_load(const struct metrics_series *series, size_t from, size_t n,
                                        double room[static SERIES_BLOCK])
{
    if (!series->equity)
        return series->values + from;
    series_divide(series, from, n, room);
    return room;
}

#endif
