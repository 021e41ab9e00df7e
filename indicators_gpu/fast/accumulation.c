/* Sums of volume since the beginning: OBV, AD and its oscillator. */
#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/recurrence.h"
#include "indicators_gpu/fast/set.h"
#include "indicators_gpu/step/volume.h"

struct total {
    double sum;
};

static size_t total_bytes(const double options[])
{
    (void)options;
    return sizeof(struct total);
}

static void total_start(void *state, const double options[])
{
    struct total *s = state;
    (void)options;
    s->sum = 0.0;
}

static void obv_run(void *state, const struct fast_block *block)
{
    struct total *s = state;
    const real *close = block->in[FAST_CLOSE], *before = close - 1, *volume = block->in[FAST_VOLUME];
    real *y = block->out[0];
    const vec zero = vec_all(0);
    vec_double sum =
        wide_all(block->begin == 0 ? (double)volume[0] : s->sum); /* the first bar counts as a rise */
    for (size_t i = 0; i < fast_cells(block->count); i += W) {
        vec x = vec_load(close + i), x0 = vec_load(before + i), v = vec_load(volume + i);
        vec flow = vec_select(vec_gt(x, x0), v, vec_select(vec_gt(x0, x), -v, zero));
        vec_put(y + i, vec_narrow(total_next(&sum, flow)), block->stream);
    }
    s->sum = sum[0];
}

const struct fast_kernel FAST(obv) = {total_bytes, NULL, total_start, obv_run, true};

/* What the bars at local index i on add to the line. */
static inline vec ad_flow(const struct fast_block *block, size_t i)
{
    const real *high = block->in[FAST_HIGH], *low = block->in[FAST_LOW], *close = block->in[FAST_CLOSE],
               *volume = block->in[FAST_VOLUME];
    vec h = vec_load(high + i), l = vec_load(low + i), c = vec_load(close + i), range = h - l,
        zero = vec_all(0);
    vec flow = ((c - l) - (h - c)) / range * vec_load(volume + i);
    return vec_select(vec_gt(range, zero), flow, zero);
}

static void ad_run(void *state, const struct fast_block *block)
{
    struct total *s = state;
    real *y = block->out[0];
    vec_double sum = wide_all(s->sum);
    for (size_t i = 0; i < fast_cells(block->count); i += W) {
        for (size_t column = FAST_HIGH; column <= FAST_VOLUME; column++)
            fast_fetch((const real *)block->in[column] + i, sizeof(real), (size_t)W);
        vec_put(y + i, vec_narrow(total_next(&sum, ad_flow(block, i))), block->stream);
    }
    s->sum = sum[0];
}

const struct fast_kernel FAST(ad) = {total_bytes, NULL, total_start, ad_run, true};

/* ---- ADOSC: how far two averages of the line are behind it, one less the other. With the line's L, its y =
 * a*y' + (1-a)*L and what it gains, f: (L - y) = a*(L' - y') + a*f, an average of f*a/(1-a) itself. So the
 * line, which may grow large and would drown the difference, is not needed. ---- */

struct adosc {
    struct average fast, slow;
};

static size_t adosc_bytes(const double options[])
{
    (void)options;
    return sizeof(struct adosc);
}

static void adosc_start(void *state, const double options[])
{
    struct adosc *s = state;
    average_start(&s->fast, ema_factor(options[0]), 0, 1);
    average_start(&s->slow, ema_factor(options[1]), 0, 1);
}

static inline vec adosc_share(const struct average *s)
{
    return vec_all((real)((1.0 - s->k) / s->k));
}

static void adosc_run(void *state, const struct fast_block *block)
{
    struct adosc *s = state;
    real *flow = block->work[0], *y = block->out[0];
    struct averaging fast = averaging_of(&s->fast), slow = averaging_of(&s->slow);
    const vec fast_share = adosc_share(&s->fast), slow_share = adosc_share(&s->slow);
    for (size_t i = 0; i < fast_cells(block->count); i += W)
        vec_store(flow + i, ad_flow(block, i));
    if (block->begin == 0) /* the line's first value is the seed of both */
        flow[0] = 0;
    for (size_t i = 0; i < fast_cells(block->count); i += 2 * W) {
        for (size_t column = FAST_HIGH; column <= FAST_VOLUME; column++)
            fast_fetch((const real *)block->in[column] + i, sizeof(real), 2 * (size_t)W);
        vec x0 = vec_load(flow + i), x1 = vec_load(flow + i + W), fast0, fast1, slow0, slow1;
        averaging_next2(&fast, x0 * fast_share, x1 * fast_share, &fast0, &fast1);
        averaging_next2(&slow, x0 * slow_share, x1 * slow_share, &slow0, &slow1);
        vec_put(y + i, slow0 - fast0, block->stream);
        vec_put(y + i + W, slow1 - fast1, block->stream);
    }
    average_keep(&s->fast, &fast);
    average_keep(&s->slow, &slow);
}

const struct fast_kernel FAST(adosc) = {adosc_bytes, NULL, adosc_start, adosc_run, true};
