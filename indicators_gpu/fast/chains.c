/* Averages of averages, the change of prices, and what is put together of such. */
#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/recurrence.h"
#include "indicators_gpu/fast/set.h"
#include "indicators_gpu/fast/window.h"
#include "indicators_gpu/step/momentum.h"

/* ---- Three averages, each of the one before: DEMA, TEMA, TRIX ---- */

struct chain {
    struct average average[3];
    real before; /* the third's last value */
};

static size_t chain_bytes(const double options[])
{
    (void)options;
    return sizeof(struct chain);
}

static void chain_start(void *state, const double options[])
{
    struct chain *s = state;
    size_t period = (size_t)options[0];
    for (size_t i = 0; i < 3; i++)
        average_start(&s->average[i], ema_factor(options[0]), i * (period - 1), period);
}

/* Into work[0] to work[n - 1]; work[n] is for the seeds. */
static void chain_averages(struct chain *s, const struct fast_block *block, size_t n)
{
    const real *x = block->in[FAST_CLOSE];
    for (size_t i = 0; i < n; i++) {
        average_run(&s->average[i], x, block->begin, block->count, block->work[i], block->work[n]);
        x = block->work[i];
    }
}

static void dema_run(void *state, const struct fast_block *block)
{
    const real *once = block->work[0], *twice = block->work[1];
    real *y = block->out[0];
    chain_averages(state, block, 2);
    for (size_t i = 0; i < fast_cells(block->count); i += W)
        vec_store(y + i, 2 * vec_load(once + i) - vec_load(twice + i));
}

static void tema_run(void *state, const struct fast_block *block)
{
    const real *once = block->work[0], *twice = block->work[1], *thrice = block->work[2];
    real *y = block->out[0];
    chain_averages(state, block, 3);
    for (size_t i = 0; i < fast_cells(block->count); i += W)
        vec_store(y + i, 3 * (vec_load(once + i) - vec_load(twice + i)) + vec_load(thrice + i));
}

const struct fast_kernel FAST(dema) = {chain_bytes, NULL, chain_start, dema_run};
const struct fast_kernel FAST(tema) = {chain_bytes, NULL, chain_start, tema_run};

/* In per cent of `before`; 0 where that is 0. */
static inline vec change_of(vec x, vec before)
{
#if FAST_F32
    vec change = vec_all(100) * ((x - before) / before);
#else
    vec change = vec_all(100) * (x / before - vec_all(1)); /* as the reference rounds it */
#endif
    return vec_select(vec_eq(before, vec_all(0)), vec_all(0), change);
}

#if !FAST_F32
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
#endif

/* ---- Changes over some bars ---- */

struct change {
    size_t period;
};

static size_t change_bytes(const double options[])
{
    (void)options;
    return sizeof(struct change);
}

static size_t change_history(const double options[])
{
    return (size_t)options[0];
}

static void change_start(void *state, const double options[])
{
    struct change *s = state;
    s->period = (size_t)options[0];
}

static void mom_run(void *state, const struct fast_block *block)
{
    const struct change *s = state;
    const real *x = block->in[FAST_CLOSE], *before = x - s->period;
    real *y = block->out[0];
    for (size_t i = 0; i < fast_cells(block->count); i += W)
        vec_store(y + i, vec_load(x + i) - vec_load(before + i));
}

static void roc_run(void *state, const struct fast_block *block)
{
    const struct change *s = state;
    const real *x = block->in[FAST_CLOSE], *before = x - s->period;
    real *y = block->out[0];
    for (size_t i = 0; i < fast_cells(block->count); i += W)
        vec_store(y + i, change_of(vec_load(x + i), vec_load(before + i)));
}

const struct fast_kernel FAST(mom) = {change_bytes, change_history, change_start, mom_run};
const struct fast_kernel FAST(roc) = {change_bytes, change_history, change_start, roc_run};

/* ---- Heikin-Ashi: the open is an average with k = 1/2 of the closes one bar before. ---- */

struct heikin_ashi {
    struct average open;
};

static size_t heikin_ashi_bytes(const double options[])
{
    (void)options;
    return sizeof(struct heikin_ashi);
}

static void heikin_ashi_start(void *state, const double options[])
{
    struct heikin_ashi *s = state;
    (void)options;
    average_start(&s->open, 0.5, 0, 1);
}

static inline vec heikin_ashi_close(const struct fast_block *block, ptrdiff_t i)
{
    const real *open = block->in[FAST_OPEN], *high = block->in[FAST_HIGH], *low = block->in[FAST_LOW],
               *close = block->in[FAST_CLOSE];
    return (((vec_load(open + i) + vec_load(high + i)) + vec_load(low + i)) + vec_load(close + i)) *
           vec_all(0.25);
}

static void heikin_ashi_run(void *state, const struct fast_block *block)
{
    struct heikin_ashi *s = state;
    const real *high = block->in[FAST_HIGH], *low = block->in[FAST_LOW];
    real *before = block->work[0], *open = block->out[0], *top = block->out[1], *bottom = block->out[2],
         *close = block->out[3];
    size_t cells = fast_cells(block->count);
    for (size_t i = 0; i < cells; i += W)
        vec_store(before + i, heikin_ashi_close(block, (ptrdiff_t)i - 1));
    if (block->begin == 0)
        before[0] = (((const real *)block->in[FAST_OPEN])[0] + ((const real *)block->in[FAST_CLOSE])[0]) / 2;
    average_run(&s->open, before, block->begin, block->count, open, block->work[1]);
    for (size_t i = 0; i < cells; i += W) {
        vec o = vec_load(open + i), c = heikin_ashi_close(block, (ptrdiff_t)i);
        vec_store(close + i, c);
        vec_store(top + i, vec_max(vec_max(vec_load(high + i), o), c));
        vec_store(bottom + i, vec_min(vec_min(vec_load(low + i), o), c));
    }
}

const struct fast_kernel FAST(heikin_ashi) = {heikin_ashi_bytes, NULL, heikin_ashi_start, heikin_ashi_run};
