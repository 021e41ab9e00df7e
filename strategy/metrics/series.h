/* A series read in blocks of returns. */
#ifndef STRATEGY_METRICS_SERIES_H
#define STRATEGY_METRICS_SERIES_H

#include "strategy/metrics.h"

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
    const double *values = series->values + from;
    if (!series->equity)
        return values;
    double before = from ? values[-1] : series->start;
    room[0] = (values[0] - before) / before;
    for (size_t i = 1; i < n; i++)
        room[i] = (values[i] - values[i - 1]) / values[i - 1];
    return room;
}

#endif
