/* Weighted averages of the close and its least-squares line. */
#include "indicators_gpu/fast/functions.h"
#include "indicators_gpu/fast/running.h"
#include "indicators_gpu/fast/window.h"
#include "indicators_gpu/step/moving_averages.h"
#include "indicators_gpu/step/statistics.h"

/* Up to here a window is summed on its own: nearly as fast, and without carried errors. */
enum { WEIGHTED_SHORT = 8 };

struct weighted {
    struct running running;
};

static struct weighted weighted_of(size_t period, bool line)
{
    const double p = (double)period, weights = wma_weights(p);
    struct weighted w = {.running = {.period = period}};
    if (line) {
        w.running.of_weighted = 2.0 / linreg_divisor(p);
        w.running.of_sum = -(p + 1.0) / linreg_divisor(p);
    } else {
        w.running.of_base = 1.0;
        w.running.of_weighted = 1.0 / weights;
    }
    return w;
}

static inline void weighted_short(const struct running *r, const real *x, size_t n, real *out, bool stream)
{
    for (size_t i = 0; i < n; i += W) {
        vec now = vec_load(x + i), sum = now * (real)r->of_base;
        for (size_t age = 1; age < r->period; age++) {
            double of = (double)(r->period - age) * r->of_weighted + r->of_sum;
            sum += (vec_load(x + i - age) - now) * (real)of;
        }
        vec_put(out + i, sum, stream);
    }
}

/* Of n bars; x has `period` more before. */
static inline void weighted_next(struct weighted *w, const real *x, size_t n, real *out, bool stream)
{
    if (w->running.period <= WEIGHTED_SHORT)
        weighted_short(&w->running, x, n, out, stream);
    else
        running_next(&w->running, x, n, out, stream);
}

static size_t weighted_history(const double options[])
{
    return (size_t)options[0];
}

struct wma {
    struct weighted mean;
};

static size_t wma_layout(struct wma *k, const double options[])
{
    k->mean = weighted_of((size_t)options[0], false);
    return sizeof(*k);
}

static void wma_run(void *state, const struct fast_block *block)
{
    struct wma *k = state;
    weighted_next(&k->mean, block->in[FAST_CLOSE], block->count, block->out[0], block->stream);
}

WINDOW_KERNEL_DIRECT(wma, wma, weighted_history);

struct hma {
    struct weighted half, whole, root;
    struct past raw;
};

static size_t hma_layout(struct hma *k, const double options[])
{
    k->half = weighted_of(hma_half(options[0]), false);
    k->whole = weighted_of((size_t)options[0], false);
    k->root = weighted_of(hma_root(options[0]), false);
    return past_layout(&k->raw, window_begin(sizeof(*k)), hma_root(options[0]), sizeof(real));
}

static void hma_run(void *state, const struct fast_block *block)
{
    struct hma *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        real half[WINDOW_BARS], whole[WINDOW_BARS];
        const real *close = part_in(block, &part, FAST_CLOSE);
        real *restrict raw = past_next(state, &k->raw, part.n * sizeof(real));
        weighted_next(&k->half, close, part.n, half, false);
        weighted_next(&k->whole, close, part.n, whole, false);
        for (size_t i = 0; i < part.n; i++)
            raw[i] = 2 * half[i] - whole[i];
        weighted_next(&k->root, raw, part.n, part_out(block, &part, 0), block->stream);
    }
}

WINDOW_KERNEL_DIRECT(hma, hma, weighted_history);

struct linreg {
    struct weighted slope;
};

static size_t linreg_layout(struct linreg *k, const double options[])
{
    k->slope = weighted_of((size_t)options[0], true);
    return sizeof(*k);
}

static void linreg_slope_run(void *state, const struct fast_block *block)
{
    struct linreg *k = state;
    weighted_next(&k->slope, block->in[FAST_CLOSE], block->count, block->out[0], block->stream);
}

WINDOW_KERNEL_DIRECT(linreg_slope, linreg, weighted_history);

static void linreg_angle_run(void *state, const struct fast_block *block)
{
    const double degrees = 180.0 / 3.14159265358979323846;
    struct linreg *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        real slope[WINDOW_BARS];
        real *restrict angle = part_out(block, &part, 0);
        weighted_next(&k->slope, part_in(block, &part, FAST_CLOSE), part.n, slope, false);
        for (size_t i = 0; i < part.n; i++)
            angle[i] = (real)(function_atan((double)slope[i]) * degrees);
    }
}

WINDOW_KERNEL_BACK(linreg_angle, linreg, weighted_history);
