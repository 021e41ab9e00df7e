/* Quotients of averages: TRIX and PPO. In float64 alone, since their digits are those that the quotient
 * leaves. */
#include "indicators_gpu/fast/chain.h"
#include "indicators_gpu/fast/set.h"
#include "indicators_gpu/fast/window.h"
#include "indicators_gpu/step/momentum.h"

/* ---- TRIX ---- */

static void trix_run(void *state, const struct fast_block *block)
{
    struct chain *s = state;
    real *thrice = block->work[2], *y = block->out[0];
    size_t count = block->count;
    const real *x = block->in[FAST_CLOSE];
    for (size_t i = 0; i < 3; i++) {
        average_run_small(&s->average[i], x, block->begin, count, block->work[i], block->work[3]);
        x = block->work[i];
    }
    vec before = vec_all(s->before);
    for (size_t i = 0; i < fast_cells(count); i += W) {
        vec now = vec_load(thrice + i);
        vec_store(y + i, change_of(now, vec_later(before, now)));
        before = now;
    }
    s->before = thrice[count - 1];
}

const struct fast_kernel FAST(trix) = {chain_bytes, NULL, chain_start, trix_run};

/* ---- PPO ---- */

struct ppo {
    bool exponential;
    size_t fast_period, slow_period;
    struct average fast, slow;
    struct ladder closes; /* when the averages are simple */
};

static size_t ppo_layout(struct ppo *s, const double options[])
{
    bool reversed = options[0] > options[1];
    s->fast_period = (size_t)options[reversed];
    s->slow_period = (size_t)options[!reversed];
    s->exponential = options[2] != 0.0;
    average_start(&s->fast, ema_factor((double)s->fast_period), 0, s->fast_period);
    average_start(&s->slow, ema_factor((double)s->slow_period), 0, s->slow_period);
    return s->exponential
               ? sizeof(*s)
               : ladder_layout(&s->closes, window_begin(sizeof(*s)), s->slow_period, sizeof(double));
}

static void simple_averages(struct ppo *s, const struct fast_block *block, double *fast, double *slow)
{
    const double fast_share = 1.0 / (double)s->fast_period, slow_share = 1.0 / (double)s->slow_period;
    double scratch[WINDOW_BARS];
    struct part part = {0};
    while (part_next(block, &part)) {
        struct rungs rungs;
        memcpy(rungs_next(s, &s->closes, part.n, &rungs), part_in(block, &part, FAST_CLOSE),
               part.n * sizeof(double));
        rungs_sum(&rungs, part.n);
        const double *sums = sums_of(&rungs, s->fast_period, part.n, scratch);
        for (size_t i = 0; i < part.n; i++)
            fast[part.at + i] = sums[i] * fast_share;
        sums = sums_of(&rungs, s->slow_period, part.n, scratch);
        for (size_t i = 0; i < part.n; i++)
            slow[part.at + i] = sums[i] * slow_share;
    }
}

static void ppo_run(void *state, const struct fast_block *block)
{
    struct ppo *s = state;
    const real *x = block->in[FAST_CLOSE];
    real *fast = block->work[0], *slow = block->work[1], *y = block->out[0];
    size_t begin = block->begin, count = block->count;
    if (s->exponential) {
        average_run_small(&s->fast, x, begin, count, fast, block->work[2]);
        average_run_small(&s->slow, x, begin, count, slow, block->work[2]);
    } else {
        simple_averages(s, block, fast, slow);
    }
    for (size_t i = 0; i < fast_cells(count); i += W) {
        vec f = vec_load(fast + i), d = vec_load(slow + i), change = vec_all(100) * ((f - d) / d);
        vec_store(y + i, vec_select(vec_gt(vec_all(PPO_ZERO), vec_abs(d)), vec_all(0), change));
    }
}

WINDOW_KERNEL(ppo, ppo);
