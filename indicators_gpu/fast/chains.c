/* Averages of averages, the change of prices, and combinations of these. */
#include "indicators_gpu/fast/chain.h"
#include "indicators_gpu/fast/set.h"

/* ---- DEMA, TEMA ---- */

static void dema_run(void *state, const struct fast_block *block)
{
    const real *once = block->work[0], *twice = block->work[1];
    real *y = block->out[0];
    chain_averages(state, block, 2);
    for (size_t i = 0; i < fast_cells(block->count); i += W)
        vec_put(y + i, 2 * vec_load(once + i) - vec_load(twice + i), block->stream);
}

static void tema_run(void *state, const struct fast_block *block)
{
    const real *once = block->work[0], *twice = block->work[1], *thrice = block->work[2];
    real *y = block->out[0];
    chain_averages(state, block, 3);
    for (size_t i = 0; i < fast_cells(block->count); i += W)
        vec_put(y + i, 3 * (vec_load(once + i) - vec_load(twice + i)) + vec_load(thrice + i), block->stream);
}

const struct fast_kernel FAST(dema) = {chain_bytes, NULL, chain_start, dema_run, true};
const struct fast_kernel FAST(tema) = {chain_bytes, NULL, chain_start, tema_run, true};

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
        vec_put(y + i, vec_load(x + i) - vec_load(before + i), block->stream);
}

static void roc_run(void *state, const struct fast_block *block)
{
    const struct change *s = state;
    const real *x = block->in[FAST_CLOSE], *before = x - s->period;
    real *y = block->out[0];
    for (size_t i = 0; i < fast_cells(block->count); i += W)
        vec_put(y + i, change_of(vec_load(x + i), vec_load(before + i)), block->stream);
}

const struct fast_kernel FAST(mom) = {change_bytes, change_history, change_start, mom_run, true};
const struct fast_kernel FAST(roc) = {change_bytes, change_history, change_start, roc_run, true};

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

/* The close of the bar before this one; before the first, where it opens. */
static inline real heikin_ashi_before(const struct fast_block *block)
{
    const real *open = block->in[FAST_OPEN], *high = block->in[FAST_HIGH], *low = block->in[FAST_LOW],
               *close = block->in[FAST_CLOSE];
    if (block->begin == 0)
        return (open[0] + close[0]) / 2;
    return (((open[-1] + high[-1]) + low[-1]) + close[-1]) * (real)0.25;
}

static void heikin_ashi_run(void *state, const struct fast_block *block)
{
    struct heikin_ashi *s = state;
    const real *high = block->in[FAST_HIGH], *low = block->in[FAST_LOW];
    real *open = block->out[0], *top = block->out[1], *bottom = block->out[2], *close = block->out[3];
    vec before = vec_all(heikin_ashi_before(block));
    if (block->begin == 0)
        s->open.value = before[0]; /* the first open, unchanged */
    struct averaging average = averaging_of(&s->open);
    for (size_t i = 0; i < fast_cells(block->count); i += W) {
        vec c = heikin_ashi_close(block, (ptrdiff_t)i);
        vec o = averaging_next(&average, vec_later(before, c));
        vec_put(open + i, o, block->stream);
        vec_put(top + i, vec_max(vec_max(vec_load(high + i), o), c), block->stream);
        vec_put(bottom + i, vec_min(vec_min(vec_load(low + i), o), c), block->stream);
        vec_put(close + i, c, block->stream);
        before = c;
    }
    average_keep(&s->open, &average);
}

const struct fast_kernel FAST(heikin_ashi) = {heikin_ashi_bytes, NULL, heikin_ashi_start, heikin_ashi_run,
                                              true};
