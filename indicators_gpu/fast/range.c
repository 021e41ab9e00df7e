/* Where prices stand in the range of their highest highs and lowest lows. */
#include "indicators_gpu/fast/range.h"
#include "indicators_gpu/fast/rsi.h"

#define EXTREMES_OF    double
#define EXTREMES(name) extremes_wide_##name
#include "indicators_gpu/fast/extremes.h"

/* Ranges that are no larger a share of their ends are flat (step/stochastic.h). */
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
    return range_layout(&k->range, window_begin(sizeof(*k)), k->period);
}

static void willr_run(void *state, const struct fast_block *block)
{
    struct willr *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        struct range_rungs rungs;
        const real *high, *low, *close = part_in(block, &part, FAST_CLOSE);
        real *restrict out = part_out(block, &part, 0);
        range_climb(state, &k->range, block, &part, &rungs);
        range_of(&rungs, k->period, part.n, &high, &low);
        for (size_t i = 0; i < part.n; i++)
            out[i] = range_share(close[i], high[i], high[i], low[i]);
    }
}

WINDOW_KERNEL(willr, willr);

static void donchian_run(void *state, const struct fast_block *block)
{
    struct willr *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        struct range_rungs rungs;
        const real *high, *low;
        real *restrict upper = part_out(block, &part, 0), *restrict middle = part_out(block, &part, 1),
                       *restrict lower = part_out(block, &part, 2);
        range_climb(state, &k->range, block, &part, &rungs);
        range_of(&rungs, k->period, part.n, &high, &low);
        for (size_t i = 0; i < part.n; i++) {
            upper[i] = high[i];
            middle[i] = (high[i] + low[i]) * (real)0.5;
            lower[i] = low[i];
        }
    }
}

WINDOW_KERNEL(donchian, willr);

/* K, in the memory of D's means; D, its mean. */
struct stochf {
    size_t k_period, d_period;
    struct range range;
    struct ladder d;
};

static size_t stochf_layout(struct stochf *k, const double options[])
{
    k->k_period = (size_t)options[0];
    k->d_period = (size_t)options[1];
    size_t used = range_layout(&k->range, window_begin(sizeof(*k)), k->k_period);
    return ladder_layout(&k->d, used, k->d_period, sizeof(double));
}

static inline void stochastic_part(void *state, struct range *range, size_t period,
                                   const struct fast_block *block, const struct part *part,
                                   double *restrict k)
{
    struct range_rungs rungs;
    const real *high, *low, *close = part_in(block, part, FAST_CLOSE);
    range_climb(state, range, block, part, &rungs);
    range_of(&rungs, period, part->n, &high, &low);
    for (size_t i = 0; i < part->n; i++)
        k[i] = (double)range_share(close[i], low[i], high[i], low[i]);
}

static void stochf_run(void *state, const struct fast_block *block)
{
    struct stochf *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        struct rungs d;
        double wide[WINDOW_BARS], *mean = part_wide(block, &part, 1, wide),
                                  *share = rungs_next(state, &k->d, part.n, &d);
        stochastic_part(state, &k->range, k->k_period, block, &part, share);
        means_of(&d, k->d_period, part.n, mean);
        part_narrow(share, part.n, part_out(block, &part, 0));
        part_deliver(block, &part, 1, mean);
    }
}

WINDOW_KERNEL(stochf, stochf);

struct stoch {
    size_t fast_period, k_period, d_period;
    struct range range;
    struct ladder k, d;
};

static size_t stoch_layout(struct stoch *k, const double options[])
{
    k->fast_period = (size_t)options[0];
    k->k_period = (size_t)options[1];
    k->d_period = (size_t)options[2];
    size_t used = range_layout(&k->range, window_begin(sizeof(*k)), k->fast_period);
    used = ladder_layout(&k->k, used, k->k_period, sizeof(double));
    return ladder_layout(&k->d, used, k->d_period, sizeof(double));
}

static void stoch_run(void *state, const struct fast_block *block)
{
    struct stoch *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        struct rungs fast, slow;
        double wide[WINDOW_BARS], *mean = part_wide(block, &part, 1, wide),
                                  *share = rungs_next(state, &k->k, part.n, &fast);
        double *slow_k = rungs_next(state, &k->d, part.n, &slow);
        stochastic_part(state, &k->range, k->fast_period, block, &part, share);
        means_of(&fast, k->k_period, part.n, slow_k);
        means_of(&slow, k->d_period, part.n, mean);
        part_narrow(slow_k, part.n, part_out(block, &part, 0));
        part_deliver(block, &part, 1, mean);
    }
}

WINDOW_KERNEL(stoch, stoch);

/* RSI goes on from bar to bar as in the reference, to the bit: where it stands still but for rounding, the
 * place of one value among its neighbours is rounding too. */
struct stochrsi {
    struct rsi_state rsi;
    size_t k_period, d_period;
    struct ladder high, low, d;
};

static size_t stochrsi_layout(struct stochrsi *k, const double options[])
{
    rsi_start(&k->rsi, options[0]);
    k->k_period = (size_t)options[1];
    k->d_period = (size_t)options[2];
    size_t used = ladder_layout(&k->high, window_begin(sizeof(*k)), k->k_period, sizeof(double));
    used = ladder_layout(&k->low, used, k->k_period, sizeof(double));
    return ladder_layout(&k->d, used, k->d_period, sizeof(double));
}

static void stochrsi_run(void *state, const struct fast_block *block)
{
    struct stochrsi *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        struct extremes_wide_rungs highs, lows;
        struct rungs d;
        double close[WINDOW_BARS], rsi[WINDOW_BARS], highest[WINDOW_BARS], lowest[WINDOW_BARS];
        double *restrict share = rungs_next(state, &k->d, part.n, &d);
        size_t n = part.n;

        part_widen(part_in(block, &part, FAST_CLOSE), n, close);
        fast_rsi(&k->rsi, close, n, rsi);
        extremes_wide_climb(state, &k->high, rsi, n, true, &highs);
        extremes_wide_climb(state, &k->low, rsi, n, false, &lows);
        const double *high = extremes_wide_of(&highs, k->k_period, n, true, highest);
        const double *low = extremes_wide_of(&lows, k->k_period, n, false, lowest);
        for (size_t i = 0; i < n; i++)
            share[i] = range_share_wide(rsi[i], low[i], high[i], low[i]);
        means_of(&d, k->d_period, n, rsi);
        part_narrow(share, n, part_out(block, &part, 0));
        part_narrow(rsi, n, part_out(block, &part, 1));
    }
}

WINDOW_KERNEL(stochrsi, stochrsi);
