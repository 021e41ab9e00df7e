/* Typical prices and ranges in windows: CCI, MFI and the ultimate oscillator. */
#include "indicators_gpu/fast/sums.h"
#include "indicators_gpu/fast/window.h"
#include "indicators_gpu/step/recurrence.h"

/* Differences that are at most this share of prices count as 0 (step/stochastic.h). */
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
        if (block->begin + part.at + part.n < k->period)
            continue;
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
    struct summed in, all;
};

static size_t mfi_layout(struct mfi *k, const double options[])
{
    k->period = (size_t)options[0];
    size_t used = past_layout(&k->price, window_begin(sizeof(*k)), 1, sizeof(double));
    used = summed_layout(&k->in, used, k->period);
    return summed_layout(&k->all, used, k->period);
}

static void mfi_run(void *state, const struct fast_block *block)
{
    struct mfi *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        double sum_in[WINDOW_BARS], sum[WINDOW_BARS];
        double *price = past_next(state, &k->price, part.n * sizeof(double)), *before = price - 1;
        double *restrict inflow = summed_next(state, &k->in, part.n);
        double *restrict flows = summed_next(state, &k->all, part.n);
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
        sums_of(state, &k->in.sums, inflow, part.n, 1.0, sum_in);
        sums_of(state, &k->all.sums, flows, part.n, 1.0, sum);
        for (size_t i = 0; i < part.n; i++) {
            double index = 100.0 * (sum_in[i] / sum[i]);
            out[i] = (real)(sum[i] > 0.0 ? index : 0.0);
        }
    }
}

WINDOW_KERNEL(mfi, mfi);

/* A series' sums over three periods, the shortest first. Where each is twice the one before, as by default, a
 * sum consists of two shorter ones. */
struct thrice {
    size_t periods[3];
    bool doubling;
    struct past values, half, quarter;
    struct sums sums[3];
};

static size_t thrice_layout(struct thrice *t, size_t used, const size_t periods[3])
{
    memcpy(t->periods, periods, sizeof(t->periods));
    t->doubling = periods[1] == 2 * periods[0] && periods[2] == 2 * periods[1];
    used = past_layout(&t->values, used, periods[2], sizeof(double));
    used = past_layout(&t->half, used, periods[1], sizeof(double));
    used = past_layout(&t->quarter, used, periods[0], sizeof(double));
    for (size_t p = 0; p < 3; p++)
        used = sums_layout(&t->sums[p], used, periods[p]);
    return used;
}

static inline void thrice_of(void *state, struct thrice *t, const double *x, size_t n,
                             double scratch[3][WINDOW_BARS], const double *ret_sums[3])
{
    for (size_t p = 0; p < 3; p++)
        ret_sums[p] = scratch[p];
    if (!t->doubling) {
        for (size_t p = 0; p < 3; p++)
            sums_of(state, &t->sums[p], x, n, 1.0, scratch[p]);
        return;
    }
    double *quarter = past_next(state, &t->quarter, n * sizeof(double));
    double *half = past_next(state, &t->half, n * sizeof(double));
    sums_of(state, &t->sums[0], x, n, 1.0, quarter);
    sums_join(quarter, quarter - t->periods[0], n, 1.0, half);
    sums_join(half, half - t->periods[1], n, 1.0, scratch[2]);
    ret_sums[0] = quarter;
    ret_sums[1] = half;
}

/* Bars whose quotients are computed while so many of the next block come from memory. */
enum { ULTOSC_FETCH = 32 };

struct ultosc {
    struct thrice pressure, range;
};

static size_t ultosc_layout(struct ultosc *k, const double options[])
{
    size_t periods[3];
    for (size_t i = 0; i < 3; i++) {
        size_t at = i, period = (size_t)options[i];
        for (; at > 0 && periods[at - 1] > period; at--)
            periods[at] = periods[at - 1];
        periods[at] = period;
    }
    size_t used = thrice_layout(&k->pressure, window_begin(sizeof(*k)), periods);
    return thrice_layout(&k->range, used, periods);
}

static inline double ultosc_share(double weight, double pressure, double range)
{
    double share = weight * (pressure / range);
    return range > 0.0 ? share : 0.0;
}

static void ultosc_run(void *state, const struct fast_block *block)
{
    struct ultosc *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        double pressures[3][WINDOW_BARS], ranges[3][WINDOW_BARS];
        const double *up[3], *all[3];
        double *restrict pressure = past_next(state, &k->pressure.values, part.n * sizeof(double));
        double *restrict range = past_next(state, &k->range.values, part.n * sizeof(double));
        const real *highs = part_in(block, &part, FAST_HIGH), *lows = part_in(block, &part, FAST_LOW);
        const real *closes = part_in(block, &part, FAST_CLOSE), *before_close = closes - 1;
        real *restrict out = part_out(block, &part, 0);

        for (size_t i = 0; i < part.n; i++) {
            double before = (double)before_close[i], high = (double)highs[i], low = (double)lows[i];
            pressure[i] = (double)closes[i] - (low < before ? low : before);
            range[i] = true_range(high, low, before);
        }
        thrice_of(state, &k->pressure, pressure, part.n, pressures, up);
        thrice_of(state, &k->range, range, part.n, ranges, all);
        for (size_t at = 0, end; at < part.n; at = end) {
            end = part.n - at < ULTOSC_FETCH ? part.n : at + ULTOSC_FETCH;
            fast_fetch(highs + at, sizeof(real), ULTOSC_FETCH);
            fast_fetch(lows + at, sizeof(real), ULTOSC_FETCH);
            fast_fetch(closes + at, sizeof(real), ULTOSC_FETCH);
            for (size_t i = at; i < end; i++)
                out[i] = (real)((100.0 / 7.0) * (ultosc_share(4.0, up[0][i], all[0][i]) +
                                                 ultosc_share(2.0, up[1][i], all[1][i]) +
                                                 ultosc_share(1.0, up[2][i], all[2][i])));
        }
    }
}

WINDOW_KERNEL(ultosc, ultosc);
