/* KAMA: an average whose weight is each bar's own. In float64 alone. */
#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/recurrence.h"
#include "indicators_gpu/fast/set.h"
#include "indicators_gpu/fast/sums.h"
#include "indicators_gpu/step/moving_averages.h"

struct kama {
    size_t period;
    bool seeded;
    double value;
    struct summed steps; /* |changes| from bar to bar */
};

static size_t kama_layout(struct kama *s, const double options[])
{
    s->period = (size_t)options[0];
    s->seeded = false;
    return summed_layout(&s->steps, window_begin(sizeof(*s)), s->period);
}

static size_t kama_history(const double options[])
{
    return (size_t)options[0];
}

/* The sums of |changes| over the period, to path[0..n). */
static void kama_paths(struct kama *s, const struct fast_block *block, double *path)
{
    for (struct part part = {0}; part_next(block, &part);) {
        const real *x = part_in(block, &part, FAST_CLOSE), *before = x - 1;
        double *steps = summed_next(s, &s->steps, part.n);
        for (size_t i = 0; i < part.n; i++)
            steps[i] = fabs(x[i] - before[i]);
        sums_of(s, &s->steps.sums, steps, part.n, 1.0, path + part.at);
    }
}

/* The square of the weight that efficiency gives. */
static inline vec kama_weight(vec change, vec path)
{
    vec efficiency = vec_abs(change) / path;
    efficiency = vec_select(vec_ge(change, path), vec_all(1), efficiency);
    vec k = efficiency * vec_all(KAMA_FASTEST - KAMA_SLOWEST) + vec_all(KAMA_SLOWEST);
    return k * k;
}

static void kama_run(void *state, const struct fast_block *block)
{
    struct kama *s = state;
    const real *x = block->in[FAST_CLOSE], *before = x - s->period;
    double *path = block->work[0], *weight = block->work[1], *y = block->out[0];
    size_t begin = block->begin, count = block->count, first = 0;
    const vec one = vec_all(1);
    kama_paths(s, block, path);

    if (!s->seeded) {
        if (begin + count < s->period)
            return;
        first = s->period - 1 - begin; /* where the value is the close itself */
        s->value = x[first++];
        s->seeded = true;
    }
    /* Weights first, in a loop of their own: in one loop quotients and the chain would stall each other. */
    for (size_t i = first / W * W; i < count; i += W)
        vec_store(weight + i, kama_weight(vec_load(x + i) - vec_load(before + i), vec_load(path + i)));
    for (size_t i = first / W * W; i < first; i++) /* these bars leave the value alone, */
        weight[i] = 0;
    for (size_t i = count; i % W != 0; i++) /* as those past the end do */
        weight[i] = 0;
    vec carry = vec_all(s->value);
    for (size_t i = first / W * W; i < count; i += W) {
        vec k = vec_load(weight + i);
        vec_put(y + i, chain_next(one - k, k * vec_load(x + i), &carry), block->stream);
    }
    s->value = carry[0];
}

WINDOW_KERNEL_DIRECT(kama, kama, kama_history);
