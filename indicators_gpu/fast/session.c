/* VWAP, the volume-weighted price of a session. In float64 alone, since its sums are of a whole day. */
#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/recurrence.h"
#include "indicators_gpu/fast/set.h"
#include "indicators_gpu/step/volume.h"

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
        vec_put(y + i, vec_select(vec_gt(sums, zero), flows / sums, price), block->stream);
        session = now;
    }
    s->flow = flow[0];
    s->volume = volumes[0];
    s->session = session_of(time[block->count - 1], s->start_s);
}

const struct fast_kernel FAST(vwap) = {vwap_bytes, NULL, vwap_start, vwap_run, true};
