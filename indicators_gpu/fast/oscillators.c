/* Quotients of averages: TRIX and PPO. In float64 alone, since the quotient is close to 1 and its difference
 * from 1 is the result. */
#include "indicators_gpu/fast/chain.h"
#include "indicators_gpu/fast/set.h"
#include "indicators_gpu/fast/sums.h"
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
        vec_put(y + i, change_of(now, vec_later(before, now)), block->stream);
        before = now;
    }
    s->before = thrice[count - 1];
}

const struct fast_kernel FAST(trix) = {chain_bytes, NULL, chain_start, trix_run, true};

/* ---- PPO ---- */

struct ppo {
    bool exponential;
    size_t fast_period, slow_period;
    struct average fast, slow;
    struct sums fast_sums, slow_sums; /* when the averages are simple */
};

static size_t ppo_layout(struct ppo *s, const double options[])
{
    bool reversed = options[0] > options[1];
    s->fast_period = (size_t)options[reversed];
    s->slow_period = (size_t)options[!reversed];
    s->exponential = options[2] != 0.0;
    average_start(&s->fast, ema_factor((double)s->fast_period), 0, s->fast_period);
    average_start(&s->slow, ema_factor((double)s->slow_period), 0, s->slow_period);
    if (s->exponential)
        return sizeof(*s);
    return sums_layout(&s->slow_sums, sums_layout(&s->fast_sums, window_begin(sizeof(*s)), s->fast_period),
                       s->slow_period);
}

static size_t ppo_history(const double options[])
{
    return (size_t)(options[0] > options[1] ? options[0] : options[1]);
}

static void simple_averages(struct ppo *s, const struct fast_block *block, double *fast, double *slow)
{
    const double fast_share = 1.0 / (double)s->fast_period, slow_share = 1.0 / (double)s->slow_period;
    for (struct part part = {0}; part_next(block, &part);) {
        const real *close = part_in(block, &part, FAST_CLOSE);
        sums_of(s, &s->fast_sums, close, part.n, fast_share, fast + part.at);
        sums_of(s, &s->slow_sums, close, part.n, slow_share, slow + part.at);
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

WINDOW_KERNEL_BACK(ppo, ppo, ppo_history);
