/* Typical prices and ranges in windows: CCI, MFI and the ultimate oscillator. */
#include "indicators_gpu/fast/wide.h"
#include "indicators_gpu/fast/window.h"
#include "indicators_gpu/step/recurrence.h"

/* Differences that are no larger a share of prices are none (step/stochastic.h). */
#define FLOWS_ROUNDING 1e-14

/* Vectors of CCI's windows side by side, enough to hide the latency of an addition. */
enum { SIDE_BY_SIDE = 4, SIDE_BARS = SIDE_BY_SIDE * WIDE };

static inline void typical_prices(const struct fast_block *block, const struct part *part,
                                  double *restrict price)
{
    const real *high = part_in(block, part, FAST_HIGH), *low = part_in(block, part, FAST_LOW);
    const real *close = part_in(block, part, FAST_CLOSE);
    for (size_t i = 0; i < part->n; i++)
        price[i] = ((double)high[i] + (double)low[i] + (double)close[i]) / 3.0;
}

struct cci {
    size_t period;
    struct past price;
};

static size_t cci_layout(struct cci *k, const double options[])
{
    k->period = (size_t)options[0];
    return past_layout(&k->price, window_begin(sizeof(*k)), k->period, sizeof(double));
}

/* Means and mean distances from them, both added up from the oldest to the newest as in the reference, many
 * windows at a time: no product is in the sums, so that the bits are the reference's. Writes a multiple of
 * SIDE_BARS. */
static inline void cci_windows(const double *price, size_t period, size_t n, double *mean, double *deviation)
{
    const double count = (double)period;
    for (size_t i = 0; i < n; i += SIDE_BARS) {
        const double *oldest = price + i - (period - 1);
        vec_double sum[SIDE_BY_SIDE] = {{0}}, apart[SIDE_BY_SIDE] = {{0}};
        for (size_t t = 0; t < period; t++)
            for (size_t v = 0; v < SIDE_BY_SIDE; v++)
                sum[v] += wide_load(oldest + t + v * WIDE);
        for (size_t v = 0; v < SIDE_BY_SIDE; v++)
            sum[v] /= count;
        for (size_t t = 0; t < period; t++)
            for (size_t v = 0; v < SIDE_BY_SIDE; v++)
                apart[v] += wide_abs(wide_load(oldest + t + v * WIDE) - sum[v]);
        for (size_t v = 0; v < SIDE_BY_SIDE; v++) {
            wide_store(mean + i + v * WIDE, sum[v]);
            wide_store(deviation + i + v * WIDE, apart[v] / count);
        }
    }
}

static void cci_run(void *state, const struct fast_block *block)
{
    struct cci *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        double mean[WINDOW_BARS], deviation[WINDOW_BARS];
        double *price = past_next(state, &k->price, part.n * sizeof(double));
        real *restrict out = part_out(block, &part, 0);
        typical_prices(block, &part, price);
        cci_windows(price, k->period, part.n, mean, deviation);
        for (size_t i = 0; i < part.n; i++) {
            double distance = price[i] - mean[i], least = FLOWS_ROUNDING * fabs(mean[i]);
            double index = distance / (0.015 * deviation[i]);
            bool flat = (fabs(distance) <= least) | (deviation[i] <= least);
            out[i] = (real)(flat ? 0.0 : index);
        }
    }
}

WINDOW_KERNEL(cci, cci);

struct mfi {
    size_t period;
    struct past price;
    struct ladder in, all;
};

static size_t mfi_layout(struct mfi *k, const double options[])
{
    k->period = (size_t)options[0];
    size_t used = past_layout(&k->price, window_begin(sizeof(*k)), 1, sizeof(double));
    used = ladder_layout(&k->in, used, k->period, sizeof(double));
    return ladder_layout(&k->all, used, k->period, sizeof(double));
}

static void mfi_run(void *state, const struct fast_block *block)
{
    struct mfi *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        struct rungs in, all;
        double in_scratch[WINDOW_BARS], all_scratch[WINDOW_BARS];
        double *price = past_next(state, &k->price, part.n * sizeof(double)), *before = price - 1;
        double *restrict inflow = rungs_next(state, &k->in, part.n, &in);
        double *restrict flows = rungs_next(state, &k->all, part.n, &all);
        const real *volume = part_in(block, &part, FAST_VOLUME);
        real *restrict out = part_out(block, &part, 0);

        typical_prices(block, &part, price);
        for (size_t i = 0; i < part.n; i++) {
            double change = price[i] - before[i], flow = price[i] * (double)volume[i];
            bool none = fabs(change) <= FLOWS_ROUNDING * (fabs(price[i]) + fabs(before[i]));
            flow = none ? 0.0 : flow;
            flows[i] = flow;
            inflow[i] = change > 0.0 ? flow : 0.0;
        }
        rungs_sum(&in, part.n);
        rungs_sum(&all, part.n);
        const double *sum_in = sums_of(&in, k->period, part.n, in_scratch);
        const double *sum = sums_of(&all, k->period, part.n, all_scratch);
        for (size_t i = 0; i < part.n; i++) {
            double index = 100.0 * (sum_in[i] / sum[i]);
            out[i] = (real)(sum[i] > 0.0 ? index : 0.0);
        }
    }
}

WINDOW_KERNEL(mfi, mfi);

struct ultosc {
    size_t periods[3]; /* the shortest first */
    struct ladder pressure, range;
};

static size_t ultosc_layout(struct ultosc *k, const double options[])
{
    for (size_t i = 0; i < 3; i++) {
        size_t at = i, period = (size_t)options[i];
        for (; at > 0 && k->periods[at - 1] > period; at--)
            k->periods[at] = k->periods[at - 1];
        k->periods[at] = period;
    }
    size_t used = ladder_layout(&k->pressure, window_begin(sizeof(*k)), k->periods[2], sizeof(double));
    return ladder_layout(&k->range, used, k->periods[2], sizeof(double));
}

static void ultosc_run(void *state, const struct fast_block *block)
{
    static const double weights[3] = {4.0, 2.0, 1.0};
    struct ultosc *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        struct rungs pressures, ranges;
        double pressure_scratch[WINDOW_BARS], range_scratch[WINDOW_BARS], total[WINDOW_BARS] = {0};
        double *restrict pressure = rungs_next(state, &k->pressure, part.n, &pressures);
        double *restrict range = rungs_next(state, &k->range, part.n, &ranges);
        const real *highs = part_in(block, &part, FAST_HIGH), *lows = part_in(block, &part, FAST_LOW);
        const real *closes = part_in(block, &part, FAST_CLOSE), *before_close = closes - 1;
        real *restrict out = part_out(block, &part, 0);

        for (size_t i = 0; i < part.n; i++) {
            double before = (double)before_close[i], high = (double)highs[i], low = (double)lows[i];
            pressure[i] = (double)closes[i] - (low < before ? low : before);
            range[i] = true_range(high, low, before);
        }
        rungs_sum(&pressures, part.n);
        rungs_sum(&ranges, part.n);
        for (size_t p = 0; p < 3; p++) {
            const double *up = sums_of(&pressures, k->periods[p], part.n, pressure_scratch);
            const double *all = sums_of(&ranges, k->periods[p], part.n, range_scratch);
            for (size_t i = 0; i < part.n; i++) {
                double share = weights[p] * (up[i] / all[i]);
                total[i] += all[i] > 0.0 ? share : 0.0;
            }
        }
        for (size_t i = 0; i < part.n; i++)
            out[i] = (real)(total[i] * (100.0 / 7.0));
    }
}

WINDOW_KERNEL(ultosc, ultosc);
