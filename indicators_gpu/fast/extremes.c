/* The age of extremes (Aroon) and the middles of ranges in time (Ichimoku). */
#include "indicators_gpu/fast/range.h"

/* Values of steps of a ladder and their ages in bars. Of equal ones the newer counts. */
struct aged {
    struct ladder value, age; /* the age's step 0 stays 0 */
};

static size_t aged_layout(struct aged *aged, size_t used, size_t period)
{
    used = ladder_layout(&aged->value, used, period, sizeof(real));
    return ladder_layout(&aged->age, used, period, sizeof(real));
}

/* Of a newer and an older window, `apart` bars before. */
static inline void aged_pairs(const real *x, const real *age, size_t apart, size_t n, bool highest,
                              real *extreme, real *its_age)
{
    const real *x_before = x - apart, *age_before = age - apart;
    for (size_t i = 0; i < n; i += W) {
        vec now = vec_load(x + i), then = vec_load(x_before + i);
        vec_mask newer = highest ? vec_ge(now, then) : vec_ge(then, now);
        vec_store(extreme + i, vec_select(newer, now, then));
        vec_store(its_age + i, vec_select(newer, vec_load(age + i), vec_load(age_before + i) + (real)apart));
    }
}

/* Ages of the extremes of `period` bars, in `scratch` or in the ladder. */
static inline const real *aged_of(void *state, struct aged *aged, const real *x, size_t period, size_t n,
                                  bool highest, real *scratch)
{
    real *value[LADDER_STEPS], *age[LADDER_STEPS], unused[WINDOW_BARS];
    size_t top = aged->value.top, rest = period - ((size_t)1 << top);

    for (size_t s = 0; s <= top; s++) {
        value[s] = past_next(state, &aged->value.step[s], n * sizeof(real));
        age[s] = past_next(state, &aged->age.step[s], n * sizeof(real));
    }
    memcpy(value[0], x, n * sizeof(real));
    for (size_t s = 0; s < top; s++)
        aged_pairs(value[s], age[s], (size_t)1 << s, n, highest, value[s + 1], age[s + 1]);
    if (rest == 0)
        return age[top];
    aged_pairs(value[top], age[top], rest, n, highest, unused, scratch);
    return scratch;
}

struct aroon {
    size_t period;
    struct aged high, low;
};

static size_t aroon_layout(struct aroon *k, const double options[])
{
    k->period = (size_t)options[0];
    size_t used = aged_layout(&k->high, window_begin(sizeof(*k)), k->period + 1);
    return aged_layout(&k->low, used, k->period + 1);
}

static void aroon_side(void *state, struct aged *aged, const real *x, size_t period, size_t n, bool highest,
                       real *restrict out)
{
    real scratch[WINDOW_BARS], whole = (real)period, factor = (real)(100.0 / (double)period);
    const real *age = aged_of(state, aged, x, period + 1, n, highest, scratch);
    for (size_t i = 0; i < n; i++)
        out[i] = factor * (whole - age[i]);
}

static void aroon_run(void *state, const struct fast_block *block)
{
    struct aroon *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        aroon_side(state, &k->low, part_in(block, &part, FAST_LOW), k->period, part.n, false,
                   part_out(block, &part, 0));
        aroon_side(state, &k->high, part_in(block, &part, FAST_HIGH), k->period, part.n, true,
                   part_out(block, &part, 1));
    }
}

WINDOW_KERNEL(aroon, aroon);

struct ichimoku {
    size_t tenkan, kijun, senkou, displacement;
    struct range range;
    struct past span_a, span_b;
};

static size_t ichimoku_layout(struct ichimoku *k, const double options[])
{
    k->tenkan = (size_t)options[0];
    k->kijun = (size_t)options[1];
    k->senkou = (size_t)options[2];
    k->displacement = (size_t)options[3];
    size_t longest = k->tenkan > k->kijun ? k->tenkan : k->kijun;
    if (k->senkou > longest)
        longest = k->senkou;
    size_t shortest = k->tenkan < k->kijun ? k->tenkan : k->kijun;
    if (k->senkou < shortest)
        shortest = k->senkou;
    size_t used = range_layout(&k->range, window_begin(sizeof(*k)), shortest, longest);
    used = past_layout(&k->span_a, used, k->displacement, sizeof(real));
    return past_layout(&k->span_b, used, k->displacement, sizeof(real));
}

static void ichimoku_run(void *state, const struct fast_block *block)
{
    struct ichimoku *k = state;
    for (struct part part = {0}; part_next(block, &part);) {
        struct range_rungs rungs;
        size_t n = part.n, bytes = n * sizeof(real);
        real *tenkan = part_out(block, &part, 0), *kijun = part_out(block, &part, 1);
        real *restrict span_a = past_next(state, &k->span_a, bytes);
        real *span_b = past_next(state, &k->span_b, bytes);

        range_climb(state, &k->range, block, &part, &rungs);
        range_middles(&rungs, k->tenkan, n, tenkan);
        range_middles(&rungs, k->kijun, n, kijun);
        range_middles(&rungs, k->senkou, n, span_b);
        for (size_t i = 0; i < n; i++)
            span_a[i] = (tenkan[i] + kijun[i]) * (real)0.5;
        memcpy(part_out(block, &part, 2), span_a - k->displacement, bytes);
        memcpy(part_out(block, &part, 3), span_b - k->displacement, bytes);
    }
}

WINDOW_KERNEL_BACK(ichimoku, ichimoku, range_history);
