#include "engine/backtest/higher.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/backtest/columns.h"
#include "engine/frame.h"
#include "strategy/clones.h"

static const struct trading_calendar none;

struct cells {
    double *open, *high, *low, *close, *volume, *time;
};

/* Room for `cap` higher bars. */
static int open_cells(size_t cap, struct higher *ret, struct cells *cells)
{
    double *at = malloc(6 * (cap + 1) * sizeof *at);
    if (!at)
        return -ENOMEM;
    double **const columns[] = {&cells->open,  &cells->high,   &cells->low,
                                &cells->close, &cells->volume, &cells->time};
    ret->cells = at;
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++, at += cap + 1)
        *columns[k] = at;
    ret->columns = (struct indicator_columns){cells->open,  cells->high,   cells->low,
                                              cells->close, cells->volume, cells->time};
    return 0;
}

/* ---- bars without gaps, of a market that never closes ---- */

enum { LANES = 8 }; /* compared side by side, each from the first value on */

CLONES static double highest(const double *x, size_t n)
{
    double lanes[LANES];
    size_t i = 0;
    for (size_t k = 0; k < LANES; k++)
        lanes[k] = x[0];
    for (; i + LANES <= n; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            lanes[k] = x[i + k] > lanes[k] ? x[i + k] : lanes[k];
    for (; i < n; i++)
        lanes[0] = x[i] > lanes[0] ? x[i] : lanes[0];
    for (size_t k = 1; k < LANES; k++)
        lanes[0] = lanes[k] > lanes[0] ? lanes[k] : lanes[0];
    return lanes[0];
}

CLONES static double lowest(const double *x, size_t n)
{
    double lanes[LANES];
    size_t i = 0;
    for (size_t k = 0; k < LANES; k++)
        lanes[k] = x[0];
    for (; i + LANES <= n; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            lanes[k] = x[i + k] < lanes[k] ? x[i + k] : lanes[k];
    for (; i < n; i++)
        lanes[0] = x[i] < lanes[0] ? x[i] : lanes[0];
    for (size_t k = 1; k < LANES; k++)
        lanes[0] = lanes[k] < lanes[0] ? lanes[k] : lanes[0];
    return lanes[0];
}

static double sum(const double *x, size_t n)
{
    double all = 0;
    for (size_t i = 0; i < n; i++)
        all += x[i];
    return all;
}

/* Are higher bars so many bars each, after the `skipped` ones of the first that is not whole? */
static bool is_even(const struct columns_bars *bars, int64_t frame_ns, struct higher_closed *ret)
{
    int64_t open_ns, end_ns, last = (int64_t)bars->n - 1;
    if (bars->n == 0 || bars->calendar || frame_ns % bars->interval_ns != 0 ||
        bars->open_ns[last] - bars->open_ns[0] != last * bars->interval_ns)
        return false;
    trading_bar_span(&none, frame_ns, bars->open_ns[0], &open_ns, &end_ns);
    if (end_ns - open_ns != frame_ns || (bars->open_ns[0] - open_ns) % bars->interval_ns != 0)
        return false;
    bool whole = open_ns == bars->open_ns[0];
    size_t left = (size_t)((end_ns - bars->open_ns[0]) / bars->interval_ns);
    *ret = (struct higher_closed){.skipped = whole ? 0 : left, .per = (size_t)(frame_ns / bars->interval_ns)};
    return true;
}

static int build_even(const struct columns_bars *bars, bool volume, struct higher *higher)
{
    const size_t per = higher->closed.per;
    struct cells to;
    higher->n = higher_closed(&higher->closed, bars->n - 1);
    if (open_cells(higher->n, higher, &to) < 0)
        return -ENOMEM;
    for (size_t i = 0, at = higher->closed.skipped; i < higher->n; i++, at += per) {
        to.open[i] = bars->open[at];
        to.high[i] = highest(bars->high + at, per);
        to.low[i] = lowest(bars->low + at, per);
        to.close[i] = bars->close[at + per - 1];
        to.volume[i] = volume ? sum(bars->volume + at, per) : 0;
        to.time[i] = frame_seconds(bars->open_ns[at]);
    }
    return 0;
}

/* ---- any bars ---- */

static int build_each(const struct columns_bars *bars, int64_t frame_ns, struct higher *higher)
{
    struct frame frame = {.interval_ns = frame_ns, .base_ns = bars->interval_ns};
    struct cells to;
    size_t n = 0;
    higher->counts = malloc((bars->n + 1) * sizeof *higher->counts);
    if (!higher->counts || open_cells(bars->n, higher, &to) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < bars->n; i++) {
        const struct indicator_bar bar = {bars->open[i],  bars->high[i],   bars->low[i],
                                          bars->close[i], bars->volume[i], 0};
        struct indicator_bar ended[2];
        size_t n_ended =
            engine_frame_add(&frame, bars->calendar ? bars->calendar : &none, bars->open_ns[i], &bar, ended);
        for (size_t k = 0; k < n_ended; k++, n++) {
            to.open[n] = ended[k].open;
            to.high[n] = ended[k].high;
            to.low[n] = ended[k].low;
            to.close[n] = ended[k].close;
            to.volume[n] = ended[k].volume;
            to.time[n] = ended[k].time;
        }
        higher->counts[i] = (uint32_t)n;
    }
    higher->n = n;
    higher->closed.counts = higher->counts;
    return 0;
}

int backtest_higher_build(const struct columns_bars *bars, int64_t frame_ns, bool volume, struct higher *ret)
{
    struct higher higher = {0};
    int r = is_even(bars, frame_ns, &higher.closed) ? build_even(bars, volume, &higher)
                                                    : build_each(bars, frame_ns, &higher);
    if (r < 0)
        backtest_higher_finish(&higher);
    else
        *ret = higher;
    return r;
}

void backtest_higher_finish(struct higher *higher)
{
    free(higher->cells);
    free(higher->counts);
    *higher = (struct higher){0};
}
