/* The position of prices in the range of their highest highs and lowest lows. */
#include "indicators_gpu/fast/range.h"
#include "indicators_gpu/fast/rsi.h"
#include "indicators_gpu/fast/sums.h"

#define EXTREMES(name) extremes_wide_##name
#define EXTREMES_OF    double
#define EXTREMES_VEC   vec_double
#define EXTREMES_N     WIDE
#define EXTREMES_LOG   LOG_WIDE
#define EXTREMES_LANES WIDE_LANES
#define EXTREMES_MAX   wide_max
#define EXTREMES_MIN   wide_min
#include "indicators_gpu/fast/extremes.h"

/* Ranges that are at most this share of their ends are flat (step/stochastic.h). */
#define RANGE_ROUNDING 1e-14

/* 100 times the share of the range that x is above `from`; 0 in a flat range. */
#define RANGE_SHARE(name, type) \
    static inline type name(type x, type from, type high, type low) \
    { \
        type range = high - low, share = 100 * ((x - from) / range); \
        type ends = (high < 0 ? -high : high) + (low < 0 ? -low : low); \
        return (range < 0 ? -range : range) <= (type)RANGE_ROUNDING * ends ? 0 : share; \
    }

RANGE_SHARE(range_share, real)
RANGE_SHARE(range_share_wide, double)

struct willr {
    size_t period;
    struct range range;
};

static size_t willr_layout(struct willr *k, const double options[])
{
    k->period = (size_t)options[0];
    return range_layout(&k->range, window_begin(sizeof(*k)), k->period, k->period);
}

static void willr_run(void *state, const struct fast_block *block)
{
    struct willr *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        struct range_rungs rungs;
        const real *close = part_in(block, &part, FAST_CLOSE);
        real *restrict out = part_out(block, &part, 0);
        range_climb(state, &k->range, block, &part, &rungs);
        struct extremes_two highs = extremes_of(&rungs.high, k->period);
        struct extremes_two lows = extremes_of(&rungs.low, k->period);
        for (size_t i = 0; i < part.n; i++) {
            real high = extremes_highest(highs, i), low = extremes_lowest(lows, i);
            out[i] = range_share(close[i], high, high, low);
        }
    }
}

WINDOW_KERNEL_BACK(willr, willr, range_history);

static void donchian_run(void *state, const struct fast_block *block)
{
    struct willr *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        struct range_rungs rungs;
        real *restrict upper = part_out(block, &part, 0), *restrict middle = part_out(block, &part, 1),
                       *restrict lower = part_out(block, &part, 2);
        range_climb(state, &k->range, block, &part, &rungs);
        struct extremes_two highs = extremes_of(&rungs.high, k->period);
        struct extremes_two lows = extremes_of(&rungs.low, k->period);
        for (size_t i = 0; i < part.n; i++) {
            real high = extremes_highest(highs, i), low = extremes_lowest(lows, i);
            upper[i] = high;
            middle[i] = (high + low) * (real)0.5;
            lower[i] = low;
        }
    }
}

WINDOW_KERNEL_BACK(donchian, willr, range_history);

/* K, in the memory of D's means; D, its mean. */
struct stochf {
    size_t k_period, d_period;
    struct range range;
    struct summed d;
};

static size_t stochf_layout(struct stochf *k, const double options[])
{
    k->k_period = (size_t)options[0];
    k->d_period = (size_t)options[1];
    size_t used = range_layout(&k->range, window_begin(sizeof(*k)), k->k_period, k->k_period);
    return summed_layout(&k->d, used, k->d_period);
}

static inline void stochastic_part(void *state, struct range *range, size_t period,
                                   const struct fast_block *block, const struct part *part,
                                   double *restrict k)
{
    struct range_rungs rungs;
    const real *close = part_in(block, part, FAST_CLOSE);
    range_climb(state, range, block, part, &rungs);
    struct extremes_two highs = extremes_of(&rungs.high, period), lows = extremes_of(&rungs.low, period);
    for (size_t i = 0; i < part->n; i++) {
        real low = extremes_lowest(lows, i);
        k[i] = (double)range_share(close[i], low, extremes_highest(highs, i), low);
    }
}

static void stochf_run(void *state, const struct fast_block *block)
{
    struct stochf *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        double wide[WINDOW_BARS], *mean = part_wide(block, &part, 1, wide),
                                  *share = summed_next(state, &k->d, part.n);
        stochastic_part(state, &k->range, k->k_period, block, &part, share);
        sums_of(state, &k->d.sums, share, part.n, 1.0 / (double)k->d_period, mean);
        part_narrow(share, part.n, part_out(block, &part, 0));
        part_deliver(block, &part, 1, mean);
    }
}

WINDOW_KERNEL_BACK(stochf, stochf, range_history);

struct stoch {
    size_t fast_period, k_period, d_period;
    struct range range;
    struct summed k, d;
};

static size_t stoch_layout(struct stoch *k, const double options[])
{
    k->fast_period = (size_t)options[0];
    k->k_period = (size_t)options[1];
    k->d_period = (size_t)options[2];
    size_t used = range_layout(&k->range, window_begin(sizeof(*k)), k->fast_period, k->fast_period);
    used = summed_layout(&k->k, used, k->k_period);
    return summed_layout(&k->d, used, k->d_period);
}

static void stoch_run(void *state, const struct fast_block *block)
{
    struct stoch *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        double wide[WINDOW_BARS], *mean = part_wide(block, &part, 1, wide),
                                  *share = summed_next(state, &k->k, part.n);
        double *slow_k = summed_next(state, &k->d, part.n);
        stochastic_part(state, &k->range, k->fast_period, block, &part, share);
        sums_of(state, &k->k.sums, share, part.n, 1.0 / (double)k->k_period, slow_k);
        sums_of(state, &k->d.sums, slow_k, part.n, 1.0 / (double)k->d_period, mean);
        part_narrow(slow_k, part.n, part_out(block, &part, 0));
        part_deliver(block, &part, 1, mean);
    }
}

WINDOW_KERNEL_BACK(stoch, stoch, range_history);

/* RSI is computed bar by bar as in the reference, to the bit: where it is constant except for rounding, a
 * value's place among its neighbours depends on rounding too. */
struct stochrsi {
    struct rsi_state rsi;
    size_t k_period, d_period;
    struct past values;
    struct extremes_wide_ladder high, low;
    struct summed d;
};

static size_t stochrsi_layout(struct stochrsi *k, const double options[])
{
    rsi_start(&k->rsi, options[0]);
    k->k_period = (size_t)options[1];
    k->d_period = (size_t)options[2];
    size_t used = past_layout(&k->values, window_begin(sizeof(*k)), WIDE, sizeof(double));
    used = extremes_wide_layout(&k->high, used, k->k_period, k->k_period);
    used = extremes_wide_layout(&k->low, used, k->k_period, k->k_period);
    return summed_layout(&k->d, used, k->d_period);
}

static void stochrsi_run(void *state, const struct fast_block *block)
{
    struct stochrsi *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        struct extremes_wide_rungs high_rungs, low_rungs;
        size_t n = part.n;
        double close[WINDOW_BARS], wide[WINDOW_BARS], *mean = part_wide(block, &part, 1, wide);
        double *rsi = past_next(state, &k->values, n * sizeof(double));
        double *restrict share = summed_next(state, &k->d, n);

        part_widen(part_in(block, &part, FAST_CLOSE), n, close);
        fast_rsi(&k->rsi, close, n, rsi);
        extremes_wide_climb(state, &k->high, rsi, n, true, &high_rungs);
        extremes_wide_climb(state, &k->low, rsi, n, false, &low_rungs);
        struct extremes_wide_two highs = extremes_wide_of(&high_rungs, k->k_period);
        struct extremes_wide_two lows = extremes_wide_of(&low_rungs, k->k_period);
        for (size_t i = 0; i < n; i++) {
            double low = extremes_wide_lowest(lows, i);
            share[i] = range_share_wide(rsi[i], low, extremes_wide_highest(highs, i), low);
        }
        sums_of(state, &k->d.sums, share, n, 1.0 / (double)k->d_period, mean);
        part_narrow(share, n, part_out(block, &part, 0));
        part_deliver(block, &part, 1, mean);
    }
}

WINDOW_KERNEL(stochrsi, stochrsi);
