#include <math.h>
#include <string.h>

#include "strategy/metrics/series.h"

/* Keeps the list sorted, deepest first. */
static size_t insert(struct metrics_drawdown *list, size_t n, size_t cap,
                     const struct metrics_drawdown *drawdown)
{
    size_t at = n;
    while (at > 0 && list[at - 1].depth > drawdown->depth)
        at--;
    if (at == cap)
        return n;
    size_t behind = (n < cap ? n : cap - 1) - at;
    memmove(list + at + 1, list + at, behind * sizeof(*list));
    list[at] = *drawdown;
    return n < cap ? n + 1 : cap;
}

size_t metrics_drawdowns(const struct metrics_series *series, struct metrics_drawdown *ret, size_t cap)
{
    double room[SERIES_BLOCK], value = series->equity ? series->start : 1, peak = value, low = peak;
    struct metrics_drawdown now = {0};
    bool under = false;
    size_t found = 0;
    for (size_t from = 0, n; from < series->n; from += n) {
        n = series_block(series, from);
        const double *values = series->equity ? series->values + from : series_load(series, from, n, room);
        for (size_t i = 0; i < n; i++) {
            if (series->equity)
                value = values[i];
            else if (!isnan(values[i]))
                value *= 1 + values[i];
            if (value >= peak) {
                if (under) {
                    now.end = from + i;
                    now.recovered = true;
                    now.depth = (low - peak) / peak;
                    found = insert(ret, found, cap, &now);
                }
                under = false;
                peak = value;
            } else if (value < peak && !under) {
                under = true;
                now = (struct metrics_drawdown){.first = from + i, .trough = from + i};
                low = value;
            } else if (value < low) {
                now.trough = from + i;
                low = value;
            }
        }
    }
    if (under) {
        now.end = series->n;
        now.depth = (low - peak) / peak;
        found = insert(ret, found, cap, &now);
    }
    return found;
}
