#include "engine/backtest/points.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

bool points_serve(const struct desk_spec *specs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct indicator_spec *spec = &specs[i].indicator;
        if (specs[i].frame_ns > 0 || (spec->row->inputs & INDICATOR_TIME) ||
            indicator_warmup(spec, INDICATOR_F64) != indicator_lookback(spec))
            return false;
    }
    return true;
}

/* In the reference's order. */
static double mean(const double *oldest, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += oldest[i];
    return sum / (double)n;
}

static int window_at(struct points *points, const struct indicator_spec *spec,
                     const struct columns_bars *bars, size_t first, size_t n, double *out)
{
    size_t n_outputs = spec->row->n_outputs;
    if (points->cap < n * n_outputs) {
        double *room = realloc(points->room, n * n_outputs * sizeof *room);
        if (!room)
            return -ENOMEM;
        points->room = room;
        points->cap = n * n_outputs;
    }
    double *columns[INDICATOR_OUTPUTS_MAX];
    for (size_t k = 0; k < n_outputs; k++)
        columns[k] = points->room + k * n;
    const struct indicator_columns in = {.open = bars->open + first,
                                         .high = bars->high + first,
                                         .low = bars->low + first,
                                         .close = bars->close + first,
                                         .volume = bars->volume + first};
    int r = indicator_reference(spec, &in, n, columns);
    for (size_t k = 0; k < n_outputs && r == 0; k++)
        out[k] = columns[k][n - 1];
    return r;
}

int points_at(struct points *points, const struct desk_spec *specs, size_t n, const struct columns_bars *bars,
              size_t bar, double *out)
{
    int r = 0;
    for (size_t i = 0; i < n && r == 0; out += specs[i++].indicator.row->n_outputs) {
        const struct indicator_spec *spec = &specs[i].indicator;
        size_t window = indicator_lookback(spec) + 1;
        if (bar + 1 < window)
            for (size_t k = 0; k < spec->row->n_outputs; k++)
                out[k] = NAN;
        else if (spec->row->id == INDICATOR_SMA)
            out[0] = mean(bars->close + bar + 1 - window, window);
        else
            r = window_at(points, spec, bars, bar + 1 - window, window, out);
    }
    return r;
}

void points_finish(struct points *points)
{
    free(points->room);
    *points = (struct points){0};
}
