/* SAR, the stop that follows the price and turns where it is reached: one bar after the other, since its
 * direction depends on every decision before. In float64 alone and, unlike most kernels, compiled without
 * contraction: its decisions are then the reference's, to the bit.
 *
 * The dependency from bar to bar is short, and whether the stop was reached, which happens once in many bars,
 * is left to the branch predictor. */
#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/set.h"
#include "indicators_gpu/fast/simd.h"

struct sar {
    double step, most; /* of the factor */
    bool rising;
    double stop, extreme, factor;
};

static size_t sar_bytes(const double options[])
{
    (void)options;
    return sizeof(struct sar);
}

static void sar_start(void *state, const double options[])
{
    struct sar *s = state;
    s->step = s->factor = options[0] > options[1] ? options[1] : options[0];
    s->most = options[1];
}

static inline double larger(double a, double b)
{
    return a < b ? b : a;
}

static inline double smaller(double a, double b)
{
    return a > b ? b : a;
}

/* Continues in one direction from local bar i until a bar reaches the stop. Returns that bar, or `count`. */
static inline size_t sar_continue(struct sar *s, const double *high, const double *low, size_t i,
                                  size_t count, bool rising, double *out)
{
    const double step = s->step, most = s->most;
    double stop = s->stop, extreme = s->extreme, factor = s->factor;
    for (; i < count && (rising ? low[i] > stop : high[i] < stop); i++) {
        out[i] = stop;
        double faster = smaller(factor + step, most);
        ptrdiff_t before = (ptrdiff_t)i - 1;
        if (rising) {
            factor = high[i] > extreme ? faster : factor;
            extreme = larger(extreme, high[i]);
            stop = smaller(stop + factor * (extreme - stop), smaller(low[before], low[i]));
        } else {
            factor = low[i] < extreme ? faster : factor;
            extreme = smaller(extreme, low[i]);
            stop = larger(stop + factor * (extreme - stop), larger(high[before], high[i]));
        }
    }
    s->stop = stop;
    s->extreme = extreme;
    s->factor = factor;
    return i;
}

/* The bar reaches the stop and reverses the direction. `before` is the bar before it. */
static void sar_turn(struct sar *s, const double *high, const double *low, size_t i, ptrdiff_t before,
                     double *out)
{
    s->factor = s->step;
    if (s->rising) {
        out[i] = s->stop = larger(larger(s->extreme, high[before]), high[i]);
        s->extreme = low[i];
        s->stop = s->stop + s->factor * (s->extreme - s->stop);
        s->stop = larger(larger(s->stop, high[before]), high[i]);
    } else {
        out[i] = s->stop = smaller(smaller(s->extreme, low[before]), low[i]);
        s->extreme = high[i];
        s->stop = s->stop + s->factor * (s->extreme - s->stop);
        s->stop = smaller(smaller(s->stop, low[before]), low[i]);
    }
    s->rising = !s->rising;
}

/* Bar 1, which also counts as the bar before it. */
static void sar_first(struct sar *s, const double *high, const double *low, double *out)
{
    double up = high[1] - high[0], down = low[0] - low[1];
    s->rising = !(down > 0.0 && down > up);
    s->stop = s->rising ? low[0] : high[0];
    s->extreme = s->rising ? high[1] : low[1];
    if (s->rising ? low[1] <= s->stop : high[1] >= s->stop) {
        sar_turn(s, high, low, 1, 1, out);
        return;
    }
    out[1] = s->stop;
    s->stop = s->stop + s->factor * (s->extreme - s->stop);
    s->stop = s->rising ? smaller(s->stop, low[1]) : larger(s->stop, high[1]);
}

static void sar_scalar(struct sar *s, const double *high, const double *low, size_t i, size_t count,
                       double *out)
{
    while (i < count) {
        i = s->rising ? sar_continue(s, high, low, i, count, true, out)
                      : sar_continue(s, high, low, i, count, false, out);
        if (i < count) {
            sar_turn(s, high, low, i, (ptrdiff_t)i - 1, out);
            i++;
        }
    }
}

/* A whole block in W parts at once, a lane each. Only lane 0 knows the stop that it begins with; the others
 * begin SAR_LEAD bars early with a guess. Once two stops turn at the same bar and from the same extreme, they
 * are equal from then on, which takes a few turns. Each lane's state at its part's beginning is compared with
 * the end of the lane before, and its part is computed again where they differ.
 *
 * A falling stop is a rising one in a mirror: high and low exchanged and negated, as are stop and extreme. */
enum { SAR_LEAD = 128, SAR_PART = FAST_BLOCK / W };

struct sar_lanes {
    vec stop, extreme, factor;
    vec_mask falling;
};

static inline vec sar_step(struct sar_lanes *s, vec high, vec low, vec high_before, vec low_before, vec step,
                           vec most)
{
    vec top = vec_select(s->falling, -low, high), bottom = vec_select(s->falling, -high, low);
    vec top_before = vec_select(s->falling, -low_before, high_before);
    vec bottom_before = vec_select(s->falling, -high_before, low_before);
    vec_mask turned = vec_ge(s->stop, bottom);

    vec factor = vec_select(vec_gt(top, s->extreme), vec_min(s->factor + step, most), s->factor);
    vec stop = vec_select(turned, -vec_max(vec_max(s->extreme, top_before), top), s->stop);
    vec extreme = vec_select(turned, -bottom, vec_max(s->extreme, top));
    factor = vec_select(turned, step, factor);
    s->falling ^= turned;
    vec out = vec_select(s->falling, -stop, stop);

    bottom = vec_select(turned, -top, bottom);
    bottom_before = vec_select(turned, -top_before, bottom_before);
    s->stop = vec_min(stop + factor * (extreme - stop), vec_min(bottom_before, bottom));
    s->extreme = extreme;
    s->factor = factor;
    return out;
}

/* Bars [from, to) of every part, from + W, + 2W...; out is NULL while they lead in. */
static inline void sar_sweep(struct sar_lanes *s, const double *high, const double *low, ptrdiff_t from,
                             ptrdiff_t to, vec step, vec most, double *out)
{
    vec h[W], l[W], y[W], high_before, low_before;
    for (int j = 0; j < W; j++) {
        ptrdiff_t at = j * SAR_PART + from - 1;
        high_before[j] = high[at < -1 ? -1 : at];
        low_before[j] = low[at < -1 ? -1 : at];
    }
    for (ptrdiff_t i = from; i < to; i += W) {
        for (int j = 0; j < W; j++) {
            ptrdiff_t at = j * SAR_PART + i;
            h[j] = vec_load(high + (at < 0 ? 0 : at)); /* lane 0 leads in on any bars */
            l[j] = vec_load(low + (at < 0 ? 0 : at));
        }
        vec_transpose(h);
        vec_transpose(l);
        for (int k = 0; k < W; k++) {
            y[k] = sar_step(s, h[k], l[k], high_before, low_before, step, most);
            high_before = h[k];
            low_before = l[k];
        }
        if (!out)
            continue;
        vec_transpose(y);
        for (int j = 0; j < W; j++)
            vec_store(out + j * SAR_PART + i, y[j]);
    }
}

/* A lane's state, out of the mirror. */
static struct sar sar_of_lane(const struct sar *s, const struct sar_lanes *lanes, int j)
{
    bool falling = mask_bits(lanes->falling) >> j & 1;
    struct sar lane = *s;
    lane.rising = !falling;
    lane.stop = falling ? -lanes->stop[j] : lanes->stop[j];
    lane.extreme = falling ? -lanes->extreme[j] : lanes->extreme[j];
    lane.factor = lanes->factor[j];
    return lane;
}

static bool sar_same(const struct sar *a, const struct sar *b)
{
    return a->rising == b->rising && a->stop == b->stop && a->extreme == b->extreme && a->factor == b->factor;
}

static void sar_block(struct sar *s, const double *high, const double *low, double *out)
{
    const vec step = vec_all(s->step), most = vec_all(s->most);
    struct sar_lanes lanes = {.factor = step};
    for (int j = 0; j < W; j++) {
        ptrdiff_t at = j * SAR_PART - SAR_LEAD;
        lanes.stop[j] = low[at < 0 ? 0 : at];
        lanes.extreme[j] = high[at < 0 ? 0 : at];
    }
    lanes.falling = vec_gt(vec_all(0), vec_all(0));
    sar_sweep(&lanes, high, low, -SAR_LEAD, 0, step, most, NULL);

    vec_mask first = vec_less_int(vec_index(), (ivec){0} + 1);
    double mirror = s->rising ? 1.0 : -1.0;
    vec_mask falling = vec_gt(vec_all(0), vec_all(mirror));
    lanes.stop = vec_select(first, vec_all(mirror * s->stop), lanes.stop);
    lanes.extreme = vec_select(first, vec_all(mirror * s->extreme), lanes.extreme);
    lanes.factor = vec_select(first, vec_all(s->factor), lanes.factor);
    lanes.falling = (falling & first) | (lanes.falling & ~first);
    struct sar_lanes guesses = lanes;
    sar_sweep(&lanes, high, low, 0, SAR_PART, step, most, out);

    *s = sar_of_lane(s, &lanes, 0);
    for (int j = 1; j < W; j++) {
        struct sar guess = sar_of_lane(s, &guesses, j);
        if (sar_same(s, &guess))
            *s = sar_of_lane(s, &lanes, j);
        else
            sar_scalar(s, high + j * SAR_PART, low + j * SAR_PART, 0, SAR_PART, out + j * SAR_PART);
    }
}

static void sar_run(void *state, const struct fast_block *block)
{
    struct sar *s = state;
    const double *high = block->in[FAST_HIGH], *low = block->in[FAST_LOW];
    double *out = block->out[0];
    if (block->begin == 0) {
        sar_first(s, high, low, out);
        sar_scalar(s, high, low, 2, block->count, out);
    } else if (block->count < FAST_BLOCK) {
        sar_scalar(s, high, low, 0, block->count, out);
    } else {
        sar_block(s, high, low, out);
    }
}

const struct fast_kernel FAST(sar) = {sar_bytes, NULL, sar_start, sar_run};
