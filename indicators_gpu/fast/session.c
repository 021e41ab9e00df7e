/* VWAP, the volume-weighted price of a session. Its sums cover a whole day: float64 in either precision. */
#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/set.h"
#include "indicators_gpu/fast/wide.h"
#include "indicators_gpu/step/volume.h"

/* The same in every lane: the values carried from bar to bar, and the times that are certainly in `session`:
 * nearer than `reach` to `noon`. No bar is where `reach` is below 0. */
struct vwap {
    vec_double flow, volume, noon, reach;
    double start_s, session;
};

static size_t vwap_bytes(const double options[])
{
    (void)options;
    return sizeof(struct vwap);
}

static void vwap_start(void *state, const double options[])
{
    struct vwap *s = state;
    s->start_s = session_start_s(options[0]);
}

/* Times and quotients are rounded by less than the second that is left out at either end. */
static void vwap_session(struct vwap *s, double session)
{
    const double known = 0x1p24, half = SESSION_S / 2.0;
    s->session = session;
    s->noon = wide_all(session * SESSION_S + s->start_s + half);
    s->reach = wide_all(fabs(session) < known ? half - 1.0 : -1.0);
}

/* Bar by bar: where a session begins, or there was no trade yet. */
static vec_double vwap_walk(struct vwap *s, vec_double price, vec_double traded, vec_double time)
{
    double flow = s->flow[0], volume = s->volume[0], session = s->session;
    vec_double y = price;
    for (int lane = 0; lane < WIDE; lane++) {
        double now = session_of(time[lane], s->start_s);
        if (now != session)
            flow = volume = 0.0;
        session = now;
        flow += price[lane] * traded[lane];
        volume += traded[lane];
        y[lane] = volume > 0.0 ? flow / volume : price[lane];
    }
    s->flow = wide_all(flow);
    s->volume = wide_all(volume);
    vwap_session(s, session);
    return y;
}

/* `flow` and `volume` are the state's, in registers. */
static inline vec_double vwap_next(struct vwap *s, const struct fast_block *block, size_t i, vec_double *flow,
                                   vec_double *volume)
{
    const real *high = block->in[FAST_HIGH], *low = block->in[FAST_LOW], *close = block->in[FAST_CLOSE];
    vec_double time = wide_load((const double *)block->in[FAST_TIME] + i);
    vec_double traded = wide_load_real((const real *)block->in[FAST_VOLUME] + i);
    vec_double price = ((wide_load_real(high + i) + wide_load_real(low + i)) + wide_load_real(close + i)) *
                       wide_all(1.0 / 3.0);
    vec_double flows = wide_scan(price * traded), volumes = wide_scan(traded);
    vec_double last_flow = wide_last(flows), last_volume = wide_last(volumes);
    flows += *flow;
    volumes += *volume;
    if (wide_above(wide_min(s->reach - wide_abs(time - s->noon), volumes), wide_all(0.0))) {
        *flow += last_flow;
        *volume += last_volume;
        return flows / volumes;
    }
    s->flow = *flow;
    s->volume = *volume;
    price = vwap_walk(s, price, traded, time);
    *flow = s->flow;
    *volume = s->volume;
    return price;
}

static void vwap_run(void *state, const struct fast_block *block)
{
    struct vwap *s = state;
    real *y = block->out[0];
    if (block->begin == 0)
        vwap_session(s, session_of(((const double *)block->in[FAST_TIME])[0], s->start_s));
    vec_double flow = s->flow, volume = s->volume;
    for (size_t i = 0; i < fast_cells(block->count); i += W) {
        vec_wide prices;
        prices.lo = vwap_next(s, block, i, &flow, &volume);
#if FAST_F32
        prices.hi = vwap_next(s, block, i + WIDE, &flow, &volume);
#endif
        vec_put(y + i, vec_narrow(prices), block->stream);
    }
    s->flow = flow;
    s->volume = volume;
}

const struct fast_kernel FAST(vwap) = {vwap_bytes, NULL, vwap_start, vwap_run, true};
