#include "engine/backtest/columns.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "indicators_gpu/indicator_rows.h"
#include "strategy/clones.h"

bool backtest_points_serve(const struct runner_spec *specs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct indicator_spec *spec = &specs[i].indicator;
        if (specs[i].frame_ns > 0 || (spec->row->inputs & INDICATOR_TIME) ||
            indicator_warmup(spec, INDICATOR_F64) != indicator_lookback(spec))
            return false;
    }
    return true;
}

enum { FOUR = 4, FOURS = POINTS_MOST / FOUR };

typedef double four __attribute__((vector_size(FOUR * sizeof(double)), aligned(sizeof(double)), may_alias));

/* Adds x[0][k] to x[3][k] of four windows to their four sums, for k of 0 to 3, one after the other. */
static inline void add_four(four *sum, const double *const *x, size_t k)
{
    const four a = *(const four *)(x[0] + k), b = *(const four *)(x[1] + k);
    const four c = *(const four *)(x[2] + k), d = *(const four *)(x[3] + k);
    const four ab_even = __builtin_shufflevector(a, b, 0, 4, 2, 6);
    const four ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const four cd_even = __builtin_shufflevector(c, d, 0, 4, 2, 6);
    const four cd_odd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    *sum += __builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5);
    *sum += __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5);
    *sum += __builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7);
    *sum += __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7);
}

/* Means of windows that end at the bars, each summed in the reference's order. */
CLONES static void means(const double *close, size_t period, const size_t *at, size_t n, double *out,
                         size_t stride)
{
    const double *oldest[POINTS_MOST];
    four sums[FOURS] = {{0}};
    size_t k = 0;
    for (size_t i = 0; i < POINTS_MOST; i++)
        oldest[i] = close + at[i < n ? i : n - 1] + 1 - period;
    for (; k + FOUR <= period; k += FOUR)
        for (size_t i = 0; i < FOURS; i++)
            add_four(&sums[i], oldest + i * FOUR, k);
    for (; k < period; k++)
        for (size_t i = 0; i < FOURS; i++)
            for (size_t j = 0; j < FOUR; j++)
                sums[i][j] += oldest[i * FOUR + j][k];
    for (size_t i = 0; i < FOURS; i++)
        sums[i] /= (double)period;
    for (size_t i = 0; i < n; i++)
        out[i * stride] = sums[i / FOUR][i % FOUR];
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

int backtest_points_at(struct points *points, const struct runner_spec *specs, size_t n_specs,
                       const struct columns_bars *bars, const size_t *at, size_t n, double *out)
{
    size_t stride = engine_runner_outputs(specs, n_specs);
    int r = 0;
    for (size_t s = 0; s < n_specs && r == 0; out += specs[s++].indicator.row->n_outputs) {
        const struct indicator_spec *spec = &specs[s].indicator;
        size_t window = indicator_lookback(spec) + 1, first = 0;
        for (; first < n && at[first] + 1 < window; first++)
            for (size_t k = 0; k < spec->row->n_outputs; k++)
                out[first * stride + k] = NAN;
        if (spec->row->id == INDICATOR_SMA && first < n)
            means(bars->close, window, at + first, n - first, out + first * stride, stride);
        for (size_t i = first; i < n && spec->row->id != INDICATOR_SMA && r == 0; i++)
            r = window_at(points, spec, bars, at[i] + 1 - window, window, out + i * stride);
    }
    return r;
}

void backtest_points_finish(struct points *points)
{
    free(points->room);
    *points = (struct points){0};
}
