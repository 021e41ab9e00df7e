/* A symbol's bars without the missing ones. */
#include <errno.h>
#include <stdlib.h>

#include "engine/backtest/columns.h"

static size_t count_present(const struct market_series *series, size_t from, size_t to)
{
    if (from >= series->first && to <= series->last + 1 && series->missing == 0)
        return to - from;
    size_t n = 0;
    for (size_t row = from; row < to; row++)
        n += market_present(series, row);
    return n;
}

static int copy_present(const struct market *market, const struct market_series *series, size_t from,
                        size_t to, struct columns_bars *ret)
{
    double *cells = malloc((6 * ret->n + 1) * sizeof *cells);
    if (!cells)
        return -ENOMEM;
    double *open = cells, *high = open + ret->n, *low = high + ret->n, *close = low + ret->n,
           *volume = close + ret->n;
    int64_t *open_ns = (int64_t *)(volume + ret->n);
    size_t n = 0;
    for (size_t row = from; row < to; row++) {
        if (!market_present(series, row))
            continue;
        open[n] = series->open[row];
        high[n] = series->high[row];
        low[n] = series->low[row];
        close[n] = series->close[row];
        volume[n] = series->volume[row];
        open_ns[n++] = market->start_ns + (int64_t)row * market->interval_ns;
    }
    ret->owned = cells;
    ret->open = open;
    ret->high = high;
    ret->low = low;
    ret->close = close;
    ret->volume = volume;
    ret->open_ns = open_ns;
    return 0;
}

int backtest_columns_dense(const struct market *market, int symbol, size_t from, size_t to,
                           const int64_t *grid, struct columns_bars *ret)
{
    const struct market_series *series = &market->series[symbol];
    struct columns_bars bars = {.interval_ns = market->interval_ns};
    bars.n = count_present(series, from, to);
    if (bars.n < to - from) {
        int r = copy_present(market, series, from, to, &bars);
        if (r < 0)
            return r;
    } else {
        bars.open_ns = grid ? grid + from : NULL;
        bars.open = series->open + from;
        bars.high = series->high + from;
        bars.low = series->low + from;
        bars.close = series->close + from;
        bars.volume = series->volume + from;
    }
    *ret = bars;
    return 0;
}

void backtest_columns_dense_finish(struct columns_bars *bars)
{
    free(bars->owned);
    *bars = (struct columns_bars){0};
}
