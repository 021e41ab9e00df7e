/* Moving averages of the close, and differences of them. */
#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/recurrence.h"
#include "indicators_gpu/fast/set.h"
#include "indicators_gpu/step/recurrence.h"

/* ---- SMA: the mean at the block's beginning, summed anew, and what has come and gone since. A window that
 * is longer than a block is summed anew as often as it has passed by an eighth. ---- */

enum { SMA_FRESH = 8 };

struct sma {
    struct decay running; /* a = 1 */
    size_t period, fresh; /* bar at which to sum anew */
    double mean;          /* of the window that ends before the block */
};

static size_t sma_bytes(const double options[])
{
    (void)options;
    return sizeof(struct sma);
}

static size_t sma_history(const double options[])
{
    return (size_t)options[0];
}

static void sma_start(void *state, const double options[])
{
    struct sma *s = state;
    s->running = decay_of(1.0);
    s->period = (size_t)options[0];
}

static double mean_of(const real *x, size_t n)
{
    enum { SUMS = 8 };
    double sums[SUMS] = {0};
    size_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (size_t j = 0; j < SUMS; j++)
            sums[j] += (double)x[i + j];
    for (; i < n; i++)
        sums[0] += (double)x[i];
    return (((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))) /
           (double)n;
}

static void sma_run(void *state, const struct fast_block *block)
{
    struct sma *s = state;
    const real *x = block->in[FAST_CLOSE];
    real *y = block->out[0];
    size_t period = s->period, cells = fast_cells(block->count);
    if (block->begin + block->count < period)
        return;

    if (block->begin >= s->fresh) {
        s->mean = mean_of(x - period, period);
        s->fresh = block->begin + period / SMA_FRESH;
    }
    const struct decay running = s->running;
    const vec base = vec_all((real)s->mean), share = vec_all((real)(1.0 / (double)period));
    const vec one = vec_all(1);
    vec sum = vec_all((real)((s->mean - (double)base[0]) * (double)period));
    for (size_t i = 0; i < cells; i += 2 * W) {
        vec come0 = vec_load(x + i), come1 = vec_load(x + i + W), sum0, sum1;
        come0 -= vec_load(x + i - period);
        come1 -= vec_load(x + i + W - period);
        decay_next2(&running, one, come0, come1, &sum, &sum0, &sum1);
        vec_store(y + i, sum0 * share + base);
        vec_store(y + i + W, sum1 * share + base);
    }
    s->mean = (double)base[0] + (double)sum[0] / (double)period;
}

const struct fast_kernel FAST(sma) = {sma_bytes, sma_history, sma_start, sma_run};

/* ---- EMA ---- */

struct ema {
    struct average average;
    real lead[FAST_CELLS];
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
    average_run(&s->average, block->in[FAST_CLOSE], block->begin, block->count, block->out[0], s->lead);
}

const struct fast_kernel FAST(ema) = {ema_bytes, NULL, ema_start_block, ema_run};

/* ---- MACD: both averages on deviations from where they were, so that their difference is one of small
 * numbers in float32 too. ---- */

struct macd {
    struct average fast, slow, signal;
    real lead_fast[FAST_CELLS], lead_slow[FAST_CELLS];
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
                              real *out, real *out_signal, real *out_hist)
{
    struct averaging fast = averaging_of(&s->fast), slow = averaging_of(&s->slow),
                     signal = averaging_of(&s->signal);
    const vec apart = vec_all((real)((double)fast.base[0] - (double)slow.base[0]));
    for (size_t i = 0; i < cells; i += W) {
        vec f = averaging_deviation(&fast, vec_load(x_fast + i));
        vec d = averaging_deviation(&slow, vec_load(x_slow + i));
        vec macd = (f * fast.k + apart) - d * slow.k;
        vec_store(out + i, macd);
        if (all) {
            vec y = averaging_next(&signal, macd);
            vec_store(out_signal + i, y);
            vec_store(out_hist + i, macd - y);
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
        macd_sweep(s, x, x, cells, true, out, signal, hist);
        return;
    }
    if (begin <= s->slow.first) {
        size_t first = average_seed(&s->fast, x, begin, count);
        average_seed(&s->slow, x, begin, count);
        if (first == count)
            return;
        average_lead(&s->fast, x, first, cells, s->lead_fast);
        average_lead(&s->slow, x, first, cells, s->lead_slow);
        x_fast = s->lead_fast;
        x_slow = s->lead_slow;
    }
    macd_sweep(s, x_fast, x_slow, cells, false, out, NULL, NULL);
    if (average_run(&s->signal, out, begin, count, signal, s->lead_fast) == count)
        return;
    for (size_t i = 0; i < cells; i += W)
        vec_store(hist + i, vec_load(out + i) - vec_load(signal + i));
}

const struct fast_kernel FAST(macd) = {macd_bytes, NULL, macd_start_block, macd_run};
