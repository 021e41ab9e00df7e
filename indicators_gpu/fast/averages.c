/* Moving averages of the close, and differences of them. */
#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/recurrence.h"
#include "indicators_gpu/fast/set.h"
#include "indicators_gpu/fast/sliding.h"
#include "indicators_gpu/step/recurrence.h"

/* ---- SMA ---- */

static size_t sma_bytes(const double options[])
{
    (void)options;
    return sizeof(struct sliding);
}

static size_t sma_history(const double options[])
{
    return (size_t)options[0];
}

static void sma_start(void *state, const double options[])
{
    sliding_start(state, (size_t)options[0]);
}

static void sma_run(void *state, const struct fast_block *block)
{
    sliding_run(state, block->in[FAST_CLOSE], block->begin, block->count, block->out[0], block->stream);
}

const struct fast_kernel FAST(sma) = {sma_bytes, sma_history, sma_start, sma_run, true};

/* ---- EMA ---- */

struct ema {
    struct average average;
};

static size_t ema_bytes(const double options[])
{
    (void)options;
    return sizeof(struct ema);
}

static void ema_start_block(void *state, const double options[])
{
    struct ema *s = state;
    average_start(&s->average, ema_factor(options[0]), 0, (size_t)options[0]);
}

static void ema_run(void *state, const struct fast_block *block)
{
    struct ema *s = state;
    const real *x = block->in[FAST_CLOSE];
    if (average_begin(&s->average, &x, block->begin, block->count, block->work[0]) < block->count)
        average_sweep(&s->average, averaging_of(&s->average), x, fast_cells(block->count), block->out[0],
                      block->stream);
}

const struct fast_kernel FAST(ema) = {ema_bytes, NULL, ema_start_block, ema_run, true};

/* ---- MACD: both averages on deviations from where they were, so that their difference is one of small
 * numbers in float32 too. ---- */

struct macd {
    struct average fast, slow, signal;
};

static size_t macd_bytes(const double options[])
{
    (void)options;
    return sizeof(struct macd);
}

static void macd_start_block(void *state, const double options[])
{
    struct macd *s = state;
    bool reversed = options[0] > options[1];
    size_t fast = (size_t)options[reversed], slow = (size_t)options[!reversed];
    average_start(&s->fast, ema_factor((double)fast), slow - fast, fast);
    average_start(&s->slow, ema_factor((double)slow), 0, slow);
    average_start(&s->signal, ema_factor(options[2]), slow - 1, (size_t)options[2]);
}

/* Once each is seeded: the signal too, or the difference alone. */
static inline void macd_sweep(struct macd *s, const real *x_fast, const real *x_slow, size_t cells, bool all,
                              bool stream, real *out, real *out_signal, real *out_hist)
{
    struct averaging fast = averaging_of(&s->fast), slow = averaging_of(&s->slow),
                     signal = averaging_of(&s->signal);
    const vec apart = vec_all((real)((double)fast.base[0] - (double)slow.base[0]));
    for (size_t i = 0; i < cells; i += W) {
        vec f = averaging_deviation(&fast, vec_load(x_fast + i));
        vec d = averaging_deviation(&slow, vec_load(x_slow + i));
        vec macd = (f * fast.k + apart) - d * slow.k;
        vec_put(out + i, macd, stream);
        if (all) {
            vec y = averaging_next(&signal, macd);
            vec_put(out_signal + i, y, stream);
            vec_put(out_hist + i, macd - y, stream);
        }
    }
    average_keep(&s->fast, &fast);
    average_keep(&s->slow, &slow);
    if (all)
        average_keep(&s->signal, &signal);
}

static void macd_run(void *state, const struct fast_block *block)
{
    struct macd *s = state;
    const real *x = block->in[FAST_CLOSE], *x_fast = x, *x_slow = x;
    real *out = block->out[0], *signal = block->out[1], *hist = block->out[2];
    size_t begin = block->begin, count = block->count, cells = fast_cells(count);

    if (begin > s->signal.first) {
        macd_sweep(s, x, x, cells, true, block->stream, out, signal, hist);
        return;
    }
    if (begin <= s->slow.first) {
        size_t first = average_seed(&s->fast, x, begin, count);
        average_seed(&s->slow, x, begin, count);
        if (first == count)
            return;
        average_lead(&s->fast, x, first, cells, block->work[0]);
        average_lead(&s->slow, x, first, cells, block->work[1]);
        x_fast = block->work[0];
        x_slow = block->work[1];
    }
    macd_sweep(s, x_fast, x_slow, cells, false, false, out, NULL, NULL);
    if (average_run(&s->signal, out, begin, count, signal, block->work[0]) == count)
        return;
    for (size_t i = 0; i < cells; i += W)
        vec_store(hist + i, vec_load(out + i) - vec_load(signal + i));
}

const struct fast_kernel FAST(macd) = {macd_bytes, NULL, macd_start_block, macd_run, true};
