#include <math.h>
#include <string.h>

#include "strategy/metrics/lanes.h"
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

struct scan {
    const double *equity; /* NULL: of returns */
    struct metrics_drawdown *list, now;
    size_t found, cap;
    double peak, low;
    bool under;
};

static void end_at(struct scan *scan, size_t row, bool recovered)
{
    scan->now.end = row;
    scan->now.recovered = recovered;
    scan->now.depth = (scan->low - scan->peak) / scan->peak;
    while (scan->equity && scan->equity[scan->now.trough] > scan->low)
        scan->now.trough++;
    scan->found = insert(scan->list, scan->found, scan->cap, &scan->now);
    scan->under = false;
}

static inline void see(struct scan *scan, size_t row, double value)
{
    if (value >= scan->peak) {
        if (scan->under)
            end_at(scan, row, true);
        scan->peak = value;
    } else if (value < scan->peak && !scan->under) {
        scan->under = true;
        scan->now = (struct metrics_drawdown){.first = row, .trough = row};
        scan->low = value;
    } else if (value < scan->low) {
        scan->now.trough = row;
        scan->low = value;
    }
}

/* Takes rows as a whole: those within which no time under water begins or ends. Their trough is searched at
 * the end, if the list still has that drawdown. False: they must be read one by one. */
static bool see_all(struct scan *scan, size_t row, const double *equity, size_t n)
{
    struct lanes_range range = metrics_lanes_range(equity, n);
    if (!isfinite(range.sum))
        return false;
    if (!scan->under)
        return range.highest == scan->peak && range.lowest == scan->peak;
    if (range.highest >= scan->peak)
        return false;
    if (range.lowest < scan->low) {
        scan->now.trough = row;
        scan->low = range.lowest;
    }
    return true;
}

static void see_equity(struct scan *scan, const double *equity, size_t rows)
{
    enum { SMALL = 128, LARGE = 2048 };
    for (size_t row = 0, n; row < rows; row += n) {
        n = rows - row < LARGE ? rows - row : LARGE;
        if (row % LARGE == 0 && see_all(scan, row, equity + row, n))
            continue;
        n = rows - row < SMALL ? rows - row : SMALL;
        if (!see_all(scan, row, equity + row, n))
            for (size_t i = 0; i < n; i++)
                see(scan, row + i, equity[row + i]);
    }
}

size_t metrics_drawdowns(const struct metrics_series *series, struct metrics_drawdown *ret, size_t cap)
{
    double room[SERIES_BLOCK], value = series->equity ? series->start : 1;
    struct scan scan = {.list = ret, .cap = cap, .peak = value, .low = value};
    scan.equity = series->equity ? series->values : NULL;
    if (series->equity)
        see_equity(&scan, series->values, series->n);
    for (size_t from = 0, n; !series->equity && from < series->n; from += n) {
        n = series_block(series, from);
        const double *returns = series_load(series, from, n, room);
        for (size_t i = 0; i < n; i++) {
            value *= isnan(returns[i]) ? 1 : 1 + returns[i];
            see(&scan, from + i, value);
        }
    }
    if (scan.under)
        end_at(&scan, series->n, false);
    return scan.found;
}
