/* Weighted averages of the close and its least-squares line. */
#include "indicators_gpu/fast/functions.h"
#include "indicators_gpu/fast/running.h"
#include "indicators_gpu/step/moving_averages.h"
#include "indicators_gpu/step/statistics.h"

/* Up to here a window is added up for itself: nearly as fast, and nothing is carried on. */
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

static inline void weighted_short(const struct running *r, const double *x, size_t n, double *out)
{
    for (size_t i = 0; i < n; i += 2 * WIDE) {
        vec_double now0 = wide_load(x + i), now1 = wide_load(x + i + WIDE);
        vec_double sum0 = now0 * r->of_base, sum1 = now1 * r->of_base;
        for (size_t age = 1; age < r->period; age++) {
            double of = (double)(r->period - age) * r->of_weighted + r->of_sum;
            sum0 += (wide_load(x + i - age) - now0) * of;
            sum1 += (wide_load(x + i + WIDE - age) - now1) * of;
        }
        wide_store(out + i, sum0);
        wide_store(out + i + WIDE, sum1);
    }
}

/* Of n bars; x has `period` more before. */
static inline void weighted_next(struct weighted *w, const double *x, size_t n, double *out)
{
    if (w->running.period <= WEIGHTED_SHORT)
        weighted_short(&w->running, x, n, out);
    else
        running_next(&w->running, x, n, out);
}

static size_t weighted_history(const double options[])
{
    return (size_t)options[0];
}

struct wma {
    struct weighted mean;
    struct widened close;
};

static size_t wma_layout(struct wma *k, const double options[])
{
    k->mean = weighted_of((size_t)options[0], false);
    return widened_layout(&k->close, window_begin(sizeof(*k)), (size_t)options[0]);
}

static void wma_run(void *state, const struct fast_block *block)
{
    struct wma *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        double wide[WINDOW_BARS], *mean = part_wide(block, &part, 0, wide);
        weighted_next(&k->mean, widened_part(state, &k->close, block, &part, FAST_CLOSE), part.n, mean);
        part_deliver(block, &part, 0, mean);
    }
}

WINDOW_KERNEL_BACK(wma, wma, weighted_history);

struct hma {
    struct weighted half, whole, root;
    struct widened close;
    struct past raw;
};

static size_t hma_layout(struct hma *k, const double options[])
{
    k->half = weighted_of(hma_half(options[0]), false);
    k->whole = weighted_of((size_t)options[0], false);
    k->root = weighted_of(hma_root(options[0]), false);
    size_t used = widened_layout(&k->close, window_begin(sizeof(*k)), (size_t)options[0]);
    return past_layout(&k->raw, used, hma_root(options[0]), sizeof(double));
}

static void hma_run(void *state, const struct fast_block *block)
{
    struct hma *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        double half[WINDOW_BARS], whole[WINDOW_BARS], *mean = part_wide(block, &part, 0, half);
        const double *close = widened_part(state, &k->close, block, &part, FAST_CLOSE);
        double *restrict raw = past_next(state, &k->raw, part.n * sizeof(double));
        weighted_next(&k->half, close, part.n, half);
        weighted_next(&k->whole, close, part.n, whole);
        for (size_t i = 0; i < part.n; i++)
            raw[i] = 2.0 * half[i] - whole[i];
        weighted_next(&k->root, raw, part.n, mean);
        part_deliver(block, &part, 0, mean);
    }
}

WINDOW_KERNEL_BACK(hma, hma, weighted_history);

struct linreg {
    struct weighted slope;
    struct widened close;
};

static size_t linreg_layout(struct linreg *k, const double options[])
{
    k->slope = weighted_of((size_t)options[0], true);
    return widened_layout(&k->close, window_begin(sizeof(*k)), (size_t)options[0]);
}

static void linreg_slope_run(void *state, const struct fast_block *block)
{
    struct linreg *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        double wide[WINDOW_BARS], *slope = part_wide(block, &part, 0, wide);
        weighted_next(&k->slope, widened_part(state, &k->close, block, &part, FAST_CLOSE), part.n, slope);
        part_deliver(block, &part, 0, slope);
    }
}

WINDOW_KERNEL_BACK(linreg_slope, linreg, weighted_history);

static void linreg_angle_run(void *state, const struct fast_block *block)
{
    const double degrees = 180.0 / 3.14159265358979323846;
    struct linreg *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        double slope[WINDOW_BARS];
        real *restrict angle = part_out(block, &part, 0);
        weighted_next(&k->slope, widened_part(state, &k->close, block, &part, FAST_CLOSE), part.n, slope);
        for (size_t i = 0; i < part.n; i++)
            angle[i] = (real)(function_atan(slope[i]) * degrees);
    }
}

WINDOW_KERNEL_BACK(linreg_angle, linreg, weighted_history);
