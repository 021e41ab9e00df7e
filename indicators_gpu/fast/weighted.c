/* Weighted averages and least-squares lines of the close, from its windows' sums and tilts (tilts.h). With
 * the weights 1..p the weighted mean is mean + 2 tilt / (p (p + 1)); the line rises by 12 tilt / (p (p^2 -
 * 1)) a bar. */
#include "indicators_gpu/fast/functions.h"
#include "indicators_gpu/fast/tilts.h"
#include "indicators_gpu/step/moving_averages.h"
#include "indicators_gpu/step/statistics.h"

static void weighted_means(const struct tilts_rungs *r, size_t period, size_t n, double *restrict mean)
{
    struct tilts_scratch of;
    double p = (double)period, share = 1.0 / p, tilt_share = 2.0 / (p * (p + 1.0));
    tilts_of(r, period, n, &of);
    for (size_t i = 0; i < n; i++)
        mean[i] = share * of.sum[i] + tilt_share * of.tilt[i];
}

struct wma {
    size_t period;
    struct tilts tilts;
};

static size_t wma_layout(struct wma *k, const double options[])
{
    k->period = (size_t)options[0];
    return tilts_layout(&k->tilts, window_begin(sizeof(*k)), k->period);
}

static void wma_run(void *state, const struct fast_block *block)
{
    struct wma *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        struct tilts_rungs rungs;
        double mean[WINDOW_BARS];
        part_widen(part_in(block, &part, FAST_CLOSE), part.n, tilts_next(state, &k->tilts, part.n, &rungs));
        tilts_climb(&rungs, part.n);
        weighted_means(&rungs, k->period, part.n, mean);
        part_narrow(mean, part.n, part_out(block, &part, 0));
    }
}

WINDOW_KERNEL(wma, wma);

struct hma {
    size_t half, whole, root;
    struct tilts closes, raw;
};

static size_t hma_layout(struct hma *k, const double options[])
{
    k->half = hma_half(options[0]);
    k->whole = (size_t)options[0];
    k->root = hma_root(options[0]);
    size_t used = tilts_layout(&k->closes, window_begin(sizeof(*k)), k->whole);
    return tilts_layout(&k->raw, used, k->root);
}

static void hma_run(void *state, const struct fast_block *block)
{
    struct hma *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        struct tilts_rungs closes, raw;
        double half[WINDOW_BARS], whole[WINDOW_BARS];
        size_t n = part.n;
        part_widen(part_in(block, &part, FAST_CLOSE), n, tilts_next(state, &k->closes, n, &closes));
        tilts_climb(&closes, n);
        weighted_means(&closes, k->half, n, half);
        weighted_means(&closes, k->whole, n, whole);
        double *restrict next = tilts_next(state, &k->raw, n, &raw);
        for (size_t i = 0; i < n; i++)
            next[i] = 2.0 * half[i] - whole[i];
        tilts_climb(&raw, n);
        weighted_means(&raw, k->root, n, whole);
        part_narrow(whole, n, part_out(block, &part, 0));
    }
}

WINDOW_KERNEL(hma, hma);

struct linreg {
    size_t period;
    double factor;
    struct tilts tilts;
};

static size_t linreg_layout(struct linreg *k, const double options[])
{
    k->period = (size_t)options[0];
    k->factor = 2.0 / linreg_divisor(options[0]);
    return tilts_layout(&k->tilts, window_begin(sizeof(*k)), k->period);
}

static void linreg_part(struct linreg *k, const struct fast_block *block, const struct part *part,
                        double *restrict slope)
{
    struct tilts_rungs rungs;
    struct tilts_scratch of;
    part_widen(part_in(block, part, FAST_CLOSE), part->n, tilts_next(k, &k->tilts, part->n, &rungs));
    tilts_climb(&rungs, part->n);
    tilts_of(&rungs, k->period, part->n, &of);
    for (size_t i = 0; i < part->n; i++)
        slope[i] = k->factor * of.tilt[i];
}

static void linreg_slope_run(void *state, const struct fast_block *block)
{
    for (struct part part = {0}; part_next(block, &part);) {
        double slope[WINDOW_BARS];
        linreg_part(state, block, &part, slope);
        part_narrow(slope, part.n, part_out(block, &part, 0));
    }
}

WINDOW_KERNEL(linreg_slope, linreg);

static void linreg_angle_run(void *state, const struct fast_block *block)
{
    const double degrees = 180.0 / 3.14159265358979323846;
    for (struct part part = {0}; part_next(block, &part);) {
        double slope[WINDOW_BARS];
        real *restrict angle = part_out(block, &part, 0);
        linreg_part(state, block, &part, slope);
        for (size_t i = 0; i < part.n; i++)
            angle[i] = (real)(function_atan(slope[i]) * degrees);
    }
}

WINDOW_KERNEL(linreg_angle, linreg);
