/* Supertrend: bands around the price; the one that the price last closed beyond is the stop. One bar after
 * the other, since its direction depends on every decision before. In float64 alone and, unlike most kernels,
 * compiled without contraction, as fast/sar.c is. */
#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/recurrence.h"
#include "indicators_gpu/fast/set.h"
#include "indicators_gpu/fast/true_range.h"

struct supertrend {
    struct average range;
    double multiplier, upper, lower;
    bool started, rising;
};

static size_t supertrend_bytes(const double options[])
{
    (void)options;
    return sizeof(struct supertrend);
}

static void supertrend_start(void *state, const double options[])
{
    struct supertrend *s = state;
    average_start(&s->range, 1.0 / options[0], 1, (size_t)options[0]);
    s->multiplier = options[1];
    s->rising = true;
}

/* The bands by this bar alone, in one loop with the average of the true ranges. Returns the local index of
 * the first, `count` if there is none. */
static size_t supertrend_bands(struct supertrend *s, const struct fast_block *block, real *upper, real *lower)
{
    const real *high = block->in[FAST_HIGH], *low = block->in[FAST_LOW], *close = block->in[FAST_CLOSE];
    real *ranges = block->work[0], *seeded = block->work[1];
    const vec multiplier = vec_all(s->multiplier), half = vec_all(0.5);
    bool seeding = block->begin <= s->range.first;
    size_t first = 0, cells = fast_cells(block->count);

    if (seeding) {
        for (size_t i = 0; i < cells; i += W)
            vec_store(ranges + i, true_ranges(high, low, close, i));
        first = average_run(&s->range, ranges, block->begin, block->count, seeded, block->work[4]);
        if (first == block->count)
            return first;
    }
    struct averaging a = averaging_of(&s->range);
    for (size_t i = 0; i < cells; i += W) {
        vec range = seeding ? vec_load(seeded + i) : averaging_next(&a, true_ranges(high, low, close, i));
        vec middle = (vec_load(high + i) + vec_load(low + i)) * half, width = multiplier * range;
        vec_store(upper + i, middle + width);
        vec_store(lower + i, middle - width);
    }
    if (!seeding)
        average_keep(&s->range, &a);
    return first;
}

/* Columns of the basic bands, and of the results. `each_upper` and `each_lower`: the bands of part j's bar i
 * at i * W + j, when the parts were computed. */
struct supertrend_columns {
    const double *close, *upper, *lower;
    double *each_upper, *each_lower, *value, *direction;
};

static inline void supertrend_bar(struct supertrend *s, const struct supertrend_columns *c, size_t i)
{
    double before = c->close[(ptrdiff_t)i - 1], now = c->close[i];
    s->upper = ((before > s->upper) | (c->upper[i] < s->upper)) ? c->upper[i] : s->upper;
    s->lower = ((before < s->lower) | (c->lower[i] > s->lower)) ? c->lower[i] : s->lower;
    s->rising = s->rising ? !(now < s->lower) : now > s->upper;
    c->value[i] = s->rising ? s->lower : s->upper;
    c->direction[i] = s->rising ? 1.0 : -1.0;
}

/* As SAR's: in W parts at once, each but the first started SUPERTREND_LEAD bars early without bands. A part
 * that began differently from how the one before ended is computed again until its bands and direction agree,
 * from where on it is right. */
enum { SUPERTREND_LEAD = 64, SUPERTREND_PART = FAST_BLOCK / W };

struct supertrend_lanes {
    vec upper, lower;
    vec_mask rising;
};

/* Bars [from, to) of every part; with nothing written during the lead. */
static inline void supertrend_sweep(struct supertrend_lanes *s, const struct supertrend_columns *c,
                                    ptrdiff_t from, ptrdiff_t to, bool lead)
{
    const vec up = vec_all(1), down = vec_all(-1);
    vec now[W], upper[W], lower[W], value[W], direction[W], before;
    for (int j = 0; j < W; j++) {
        ptrdiff_t at = j * SUPERTREND_PART + from - 1;
        before[j] = c->close[at < -1 ? -1 : at];
    }
    for (ptrdiff_t i = from; i < to; i += W) {
        for (int j = 0; j < W; j++) {
            ptrdiff_t at = j * SUPERTREND_PART + i;
            at = at < 0 ? 0 : at; /* the first part leads in on any bars */
            now[j] = vec_load(c->close + at);
            upper[j] = vec_load(c->upper + at);
            lower[j] = vec_load(c->lower + at);
        }
        vec_transpose(now);
        vec_transpose(upper);
        vec_transpose(lower);
        for (int k = 0; k < W; k++) {
            s->upper = vec_select(vec_gt(before, s->upper), upper[k], vec_min(upper[k], s->upper));
            s->lower = vec_select(vec_gt(s->lower, before), lower[k], vec_max(lower[k], s->lower));
            vec_mask below = vec_gt(s->lower, now[k]), above = vec_gt(now[k], s->upper);
            s->rising = (s->rising & mask_not(below)) | (above & mask_not(s->rising));
            before = now[k];
            if (lead)
                continue;
            value[k] = vec_select(s->rising, s->lower, s->upper);
            direction[k] = vec_select(s->rising, up, down);
            vec_store(c->each_upper + (i + k) * W, s->upper);
            vec_store(c->each_lower + (i + k) * W, s->lower);
        }
        if (lead)
            continue;
        vec_transpose(value);
        vec_transpose(direction);
        for (int j = 0; j < W; j++) {
            vec_store(c->value + j * SUPERTREND_PART + i, value[j]);
            vec_store(c->direction + j * SUPERTREND_PART + i, direction[j]);
        }
    }
}

/* A whole block. */
static void supertrend_block(struct supertrend *s, const struct supertrend_columns *c)
{
    struct supertrend_lanes lanes = {.upper = vec_all((double)INFINITY), .lower = vec_all(-(double)INFINITY)};
    lanes.rising = vec_gt(vec_all(0), vec_all(0));
    supertrend_sweep(&lanes, c, -SUPERTREND_LEAD, 0, true);

    vec_mask first = vec_less_int(vec_index(), (ivec){0} + 1);
    vec_mask rising = vec_gt(vec_all(s->rising ? 1.0 : -1.0), vec_all(0));
    lanes.upper = vec_select(first, vec_all(s->upper), lanes.upper);
    lanes.lower = vec_select(first, vec_all(s->lower), lanes.lower);
    lanes.rising = (rising & first) | (lanes.rising & mask_not(first));
    struct supertrend_lanes guesses = lanes;
    supertrend_sweep(&lanes, c, 0, SUPERTREND_PART, false);

    for (int j = 0; j < W; j++) {
        bool same = j == 0 || (s->upper == guesses.upper[j] && s->lower == guesses.lower[j] &&
                               s->rising == (mask_bits(guesses.rising) >> j & 1));
        for (int i = 0; !same && i < SUPERTREND_PART; i++) {
            size_t at = (size_t)(j * SUPERTREND_PART + i);
            bool rose = c->direction[at] > 0.0;
            supertrend_bar(s, c, at);
            same = s->rising == rose && s->upper == c->each_upper[i * W + j] &&
                   s->lower == c->each_lower[i * W + j];
        }
        if (same) {
            s->upper = lanes.upper[j];
            s->lower = lanes.lower[j];
            s->rising = mask_bits(lanes.rising) >> j & 1;
        }
    }
}

static void supertrend_run(void *state, const struct fast_block *block)
{
    struct supertrend *s = state;
    struct supertrend_columns c = {.close = block->in[FAST_CLOSE],
                                   .upper = block->work[2],
                                   .lower = block->work[3],
                                   .each_upper = block->work[0],
                                   .each_lower = block->work[1],
                                   .value = block->out[0],
                                   .direction = block->out[1]};
    size_t count = block->count, i = supertrend_bands(s, block, block->work[2], block->work[3]);

    if (s->started && count == FAST_BLOCK) {
        supertrend_block(s, &c);
        return;
    }
    if (!s->started && i < count) {
        s->upper = c.upper[i];
        s->lower = c.value[i] = c.lower[i];
        c.direction[i++] = 1.0;
        s->started = true;
    }
    for (; i < count; i++)
        supertrend_bar(s, &c, i);
}

const struct fast_kernel FAST(supertrend) = {supertrend_bytes, NULL, supertrend_start, supertrend_run};
