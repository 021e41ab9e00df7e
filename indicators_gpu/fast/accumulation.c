/* Sums since the beginning: OBV, AD and its oscillator, VWAP by session. In float64 alone. */
#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/recurrence.h"
#include "indicators_gpu/fast/set.h"
#include "indicators_gpu/step/volume.h"

struct running {
    struct decay decay; /* a = 1 */
    real sum;
};

static size_t running_bytes(const double options[])
{
    (void)options;
    return sizeof(struct running);
}

static void running_start(void *state, const double options[])
{
    struct running *s = state;
    (void)options;
    s->decay = decay_of(1.0);
}

static void obv_run(void *state, const struct fast_block *block)
{
    struct running *s = state;
    const real *close = block->in[FAST_CLOSE], *before = close - 1, *volume = block->in[FAST_VOLUME];
    real *y = block->out[0];
    const struct decay decay = s->decay;
    const vec zero = vec_all(0);
    vec sum = vec_all(block->begin == 0 ? volume[0] : s->sum); /* the first bar counts as risen */
    for (size_t i = 0; i < fast_cells(block->count); i += W) {
        vec x = vec_load(close + i), x0 = vec_load(before + i), v = vec_load(volume + i);
        vec flow = vec_select(vec_gt(x, x0), v, vec_select(vec_gt(x0, x), -v, zero));
        vec_store(y + i, decay_next(&decay, flow, &sum));
    }
    s->sum = sum[0];
}

const struct fast_kernel FAST(obv) = {running_bytes, NULL, running_start, obv_run};

static void ad_line(struct running *s, const struct fast_block *block, real *y)
{
    const real *high = block->in[FAST_HIGH], *low = block->in[FAST_LOW], *close = block->in[FAST_CLOSE],
               *volume = block->in[FAST_VOLUME];
    const struct decay decay = s->decay;
    const vec zero = vec_all(0);
    vec sum = vec_all(s->sum);
    for (size_t i = 0; i < fast_cells(block->count); i += W) {
        vec h = vec_load(high + i), l = vec_load(low + i), c = vec_load(close + i), range = h - l;
        vec flow = ((c - l) - (h - c)) / range * vec_load(volume + i);
        vec_store(y + i, decay_next(&decay, vec_select(vec_gt(range, zero), flow, zero), &sum));
    }
    s->sum = sum[0];
}

static void ad_run(void *state, const struct fast_block *block)
{
    ad_line(state, block, block->out[0]);
}

const struct fast_kernel FAST(ad) = {running_bytes, NULL, running_start, ad_run};

/* ---- ADOSC ---- */

struct adosc {
    struct running line;
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
    running_start(&s->line, options);
    average_start(&s->fast, ema_factor(options[0]), 0, 1);
    average_start(&s->slow, ema_factor(options[1]), 0, 1);
}

static void adosc_run(void *state, const struct fast_block *block)
{
    struct adosc *s = state;
    real *line = block->work[0], *fast = block->work[1], *y = block->out[0];
    ad_line(&s->line, block, line);
    average_run(&s->fast, line, block->begin, block->count, fast, block->work[2]);
    average_run(&s->slow, line, block->begin, block->count, y, block->work[2]);
    for (size_t i = 0; i < fast_cells(block->count); i += W)
        vec_store(y + i, vec_load(fast + i) - vec_load(y + i));
}

const struct fast_kernel FAST(adosc) = {adosc_bytes, NULL, adosc_start, adosc_run};

/* ---- VWAP ---- */

struct vwap {
    struct decay decay; /* a = 1 */
    double start_s, session;
    real flow, volume;
};

static size_t vwap_bytes(const double options[])
{
    (void)options;
    return sizeof(struct vwap);
}

static void vwap_start(void *state, const double options[])
{
    struct vwap *s = state;
    s->decay = decay_of(1.0);
    s->start_s = session_start_s(options[0]);
}

static void vwap_run(void *state, const struct fast_block *block)
{
    struct vwap *s = state;
    const real *high = block->in[FAST_HIGH], *low = block->in[FAST_LOW], *close = block->in[FAST_CLOSE],
               *volume = block->in[FAST_VOLUME], *time = block->in[FAST_TIME];
    real *y = block->out[0];
    const struct decay decay = s->decay;
    const vec zero = vec_all(0), start = vec_all(s->start_s), length = vec_all(SESSION_S);
    vec flow = vec_all(s->flow), volumes = vec_all(s->volume);
    vec session = vec_all(block->begin == 0 ? session_of(time[0], s->start_s) : s->session);

    for (size_t i = 0; i < fast_cells(block->count); i += W) {
        vec v = vec_load(volume + i);
        vec price = ((vec_load(high + i) + vec_load(low + i)) + vec_load(close + i)) / vec_all(3);
        vec now = vec_floor((vec_load(time + i) - start) / length), flows, sums;
        vec_mask same = vec_eq(now, vec_later(session, now));
        if (mask_any(mask_not(same))) {
            vec keeps = vec_select(same, vec_all(1), zero);
            flows = chain_next(keeps, price * v, &flow);
            sums = chain_next(keeps, v, &volumes);
        } else {
            flows = decay_next(&decay, price * v, &flow);
            sums = decay_next(&decay, v, &volumes);
        }
        vec_store(y + i, vec_select(vec_gt(sums, zero), flows / sums, price));
        session = now;
    }
    s->flow = flow[0];
    s->volume = volumes[0];
    s->session = session_of(time[block->count - 1], s->start_s);
}

const struct fast_kernel FAST(vwap) = {vwap_bytes, NULL, vwap_start, vwap_run};
