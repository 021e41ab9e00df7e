/* Wilder's averages: of gains and losses, of the true range, of directional movement. */
#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/recurrence.h"
#include "indicators_gpu/fast/set.h"
#include "indicators_gpu/fast/true_range.h"
#include "indicators_gpu/step/recurrence.h"

/* ---- RSI ---- */

struct rsi {
    struct average gain, loss;
};

static size_t rsi_bytes(const double options[])
{
    (void)options;
    return sizeof(struct rsi);
}

static void rsi_start_block(void *state, const double options[])
{
    struct rsi *s = state;
    average_start(&s->gain, 1.0 / options[0], 1, (size_t)options[0]);
    average_start(&s->loss, 1.0 / options[0], 1, (size_t)options[0]);
}

/* Sums below this are too near to the smallest `real`: with a constant price they decay, while RSI stays. */
#define RSI_FADING ((real)(REAL_BYTES == 4 ? 0x1p-100 : 0x1p-900))

/* Bar by bar in float64. */
static void rsi_walk(struct rsi *s, const real *x, const real *gains, const real *losses, size_t cells,
                     real *y)
{
    double gain = s->gain.value, loss = s->loss.value, period = 1.0 / s->gain.k;
    for (size_t i = 0; i < cells; i++) {
        double change = gains ? 0.0 : (double)x[i] - (double)x[(ptrdiff_t)i - 1];
        gain = wilder_next(gain, gains ? (double)gains[i] : change > 0.0 ? change : 0.0, period);
        loss = wilder_next(loss, gains ? (double)losses[i] : change < 0.0 ? -change : 0.0, period);
        y[i] = (real)rsi_value(gain, loss);
    }
    s->gain.value = gain;
    s->loss.value = loss;
}

/* From the averages' sums, not multiplied by k: the quotient is the same. */
static inline void rsi_sweep(struct rsi *s, const real *x, const real *gains, const real *losses,
                             size_t cells, real *y, bool stream)
{
    struct averaging gain = averaging_of_small(&s->gain), loss = averaging_of_small(&s->loss);
    const vec zero = vec_all(0);
    vec least = vec_all(RSI_FADING);
    for (size_t i = 0; i < cells; i += W) {
        vec up, down;
        if (gains) {
            up = vec_load(gains + i);
            down = vec_load(losses + i);
        } else {
            vec change = vec_load(x + i) - vec_load(x + i - 1);
            up = vec_max(change, zero);
            down = up - change;
        }
        up = decay_next(&gain.decay, up, &gain.u);
        down = decay_next(&loss.decay, down, &loss.u);
        vec sum = up + down;
        least = vec_min(least, sum);
        vec_put(y + i, vec_all(100) * up / sum, stream);
    }
    for (int lane = 0; lane < W; lane++)
        if (least[lane] < RSI_FADING) {
            rsi_walk(s, x, gains, losses, cells, y);
            return;
        }
    average_keep(&s->gain, &gain);
    average_keep(&s->loss, &loss);
}

static void rsi_run(void *state, const struct fast_block *block)
{
    struct rsi *s = state;
    const real *x = block->in[FAST_CLOSE];
    real *gains = block->work[0], *losses = block->work[1];
    size_t begin = block->begin, count = block->count, cells = fast_cells(count);

    if (begin > s->gain.first) {
        rsi_sweep(s, x, NULL, NULL, cells, block->out[0], block->stream);
        return;
    }
    for (size_t i = 0; i < cells; i++) {
        real change = x[i] - x[(ptrdiff_t)i - 1];
        gains[i] = change > 0 ? change : 0;
        losses[i] = change < 0 ? -change : 0;
    }
    size_t first = average_seed(&s->gain, gains, begin, count);
    average_seed(&s->loss, losses, begin, count);
    if (first == count)
        return;
    average_lead(&s->gain, gains, first, cells, gains);
    average_lead(&s->loss, losses, first, cells, losses);
    rsi_sweep(s, NULL, gains, losses, cells, block->out[0], false);
}

const struct fast_kernel FAST(rsi) = {rsi_bytes, NULL, rsi_start_block, rsi_run, true};

/* ---- ATR ---- */

struct atr {
    struct average average;
};

static size_t atr_bytes(const double options[])
{
    (void)options;
    return sizeof(struct atr);
}

static void atr_start_block(void *state, const double options[])
{
    struct atr *s = state;
    average_start(&s->average, 1.0 / options[0], 1, (size_t)options[0]);
}

static void atr_run(void *state, const struct fast_block *block)
{
    struct atr *s = state;
    const real *high = block->in[FAST_HIGH], *low = block->in[FAST_LOW], *close = block->in[FAST_CLOSE];
    real *y = block->out[0], *ranges = block->work[0];
    size_t begin = block->begin, count = block->count, cells = fast_cells(count);

    if (begin <= s->average.first) {
        for (size_t i = 0; i < cells; i += W)
            vec_store(ranges + i, true_ranges(high, low, close, i));
        const real *x = ranges;
        if (average_begin(&s->average, &x, begin, count, block->work[1]) == count)
            return;
        struct averaging a = averaging_of_positive(&s->average);
        for (size_t i = 0; i < cells; i += W)
            vec_store(y + i, averaging_next_positive(&a, vec_load(x + i)));
        average_keep(&s->average, &a);
        return;
    }
    struct averaging a = averaging_of(&s->average);
    for (size_t i = 0; i < cells; i += W)
        vec_put(y + i, averaging_next(&a, true_ranges(high, low, close, i)), block->stream);
    average_keep(&s->average, &a);
}

const struct fast_kernel FAST(atr) = {atr_bytes, NULL, atr_start_block, atr_run, true};

static inline vec natr_of(vec atr, vec close)
{
    return vec_select(vec_eq(close, vec_all(0)), vec_all(0), vec_all(100) * atr / close);
}

static void natr_run(void *state, const struct fast_block *block)
{
    struct atr *s = state;
    const real *high = block->in[FAST_HIGH], *low = block->in[FAST_LOW], *close = block->in[FAST_CLOSE];
    real *atr = block->work[2], *y = block->out[0];
    size_t cells = fast_cells(block->count);

    if (block->begin <= s->average.first) {
        struct fast_block inner = *block;
        inner.out[0] = atr;
        atr_run(state, &inner);
        for (size_t i = 0; i < cells; i += W)
            vec_store(y + i, natr_of(vec_load(atr + i), vec_load(close + i)));
        return;
    }
    struct averaging a = averaging_of_positive(&s->average);
    for (size_t i = 0; i < cells; i += W) {
        vec average = averaging_next_positive(&a, true_ranges(high, low, close, i));
        vec_put(y + i, natr_of(average, vec_load(close + i)), block->stream);
    }
    average_keep(&s->average, &a);
}

const struct fast_kernel FAST(natr) = {atr_bytes, NULL, atr_start_block, natr_run, true};

static size_t trange_bytes(const double options[])
{
    (void)options;
    return 0;
}

static void trange_start(void *state, const double options[])
{
    (void)state;
    (void)options;
}

static void trange_run(void *state, const struct fast_block *block)
{
    const real *high = block->in[FAST_HIGH], *low = block->in[FAST_LOW], *close = block->in[FAST_CLOSE];
    real *y = block->out[0];
    (void)state;
    for (size_t i = 0; i < fast_cells(block->count); i += W)
        vec_put(y + i, true_ranges(high, low, close, i), block->stream);
}

const struct fast_kernel FAST(trange) = {trange_bytes, NULL, trange_start, trange_run, true};

/* ---- Keltner's channel ---- */

struct keltner {
    struct average middle, range;
    double multiplier;
};

static size_t keltner_bytes(const double options[])
{
    (void)options;
    return sizeof(struct keltner);
}

static void keltner_start(void *state, const double options[])
{
    struct keltner *s = state;
    size_t ema = (size_t)options[0], atr = (size_t)options[1], first = ema > atr ? ema - 1 : atr;
    average_start(&s->middle, ema_factor(options[0]), first + 1 - ema, ema); /* both seeds end there */
    average_start(&s->range, 1.0 / options[1], first + 1 - atr, atr);
    s->multiplier = options[2];
}

static inline vec keltner_price(const real *high, const real *low, const real *close, size_t i)
{
    return (vec_load(high + i) + vec_load(low + i) + vec_load(close + i)) * vec_all((real)(1.0 / 3.0));
}

/* The blocks up to the seeds' end: both averages into scratch. */
static void keltner_seeds(struct keltner *s, const struct fast_block *block, real *middle, real *width)
{
    const real *high = block->in[FAST_HIGH], *low = block->in[FAST_LOW], *close = block->in[FAST_CLOSE];
    real *price = block->work[2], *ranges = block->work[3], *lead = block->work[4];
    for (size_t i = 0; i < fast_cells(block->count); i += W) {
        vec_store(price + i, keltner_price(high, low, close, i));
        vec_store(ranges + i, true_ranges(high, low, close, i));
    }
    average_run(&s->middle, price, block->begin, block->count, middle, lead);
    average_run(&s->range, ranges, block->begin, block->count, width, lead);
}

static void keltner_run(void *state, const struct fast_block *block)
{
    struct keltner *s = state;
    const real *high = block->in[FAST_HIGH], *low = block->in[FAST_LOW], *close = block->in[FAST_CLOSE];
    real *upper = block->out[0], *center = block->out[1], *lower = block->out[2];
    real *middle = block->work[0], *width = block->work[1];
    const vec multiplier = vec_all((real)s->multiplier);
    bool seeding = block->begin <= s->middle.first;

    if (seeding)
        keltner_seeds(s, block, middle, width);
    struct averaging prices = averaging_of(&s->middle), ranges = averaging_of(&s->range);
    for (size_t i = 0; i < fast_cells(block->count); i += W) {
        vec m = seeding ? vec_load(middle + i) : averaging_next(&prices, keltner_price(high, low, close, i));
        vec w = seeding ? vec_load(width + i) : averaging_next(&ranges, true_ranges(high, low, close, i));
        vec_put(upper + i, multiplier * w + m, block->stream);
        vec_put(center + i, m, block->stream);
        vec_put(lower + i, m - multiplier * w, block->stream);
    }
    if (!seeding) {
        average_keep(&s->middle, &prices);
        average_keep(&s->range, &ranges);
    }
}

const struct fast_kernel FAST(keltner) = {keltner_bytes, NULL, keltner_start, keltner_run, true};
