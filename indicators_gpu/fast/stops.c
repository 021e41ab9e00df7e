/* Stops that follow the price, SAR and Supertrend: one bar after the other, since which way they go next
 * depends on every decision before. In float64 alone and, unlike the other kernels, compiled without
 * contraction: SAR then decides what the reference decides, to the bit.
 *
 * What is on the way from bar to bar is short, and whether the stop was reached, which happens once in many
 * bars, is left to the branch predictor. */
#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/recurrence.h"
#include "indicators_gpu/fast/set.h"

/* ---- SAR ---- */

struct sar {
    double step, most; /* of the factor */
    bool rising;
    double stop, extreme, factor;
};

static size_t sar_bytes(const double options[])
{
    (void)options;
    return sizeof(struct sar);
}

static void sar_start(void *state, const double options[])
{
    struct sar *s = state;
    s->step = s->factor = options[0] > options[1] ? options[1] : options[0];
    s->most = options[1];
}

static inline double larger(double a, double b)
{
    return a < b ? b : a;
}

static inline double smaller(double a, double b)
{
    return a > b ? b : a;
}

/* Goes on in one direction from local bar i until a bar reaches the stop. Returns that bar, or `count`. */
static size_t sar_rise(struct sar *s, const double *high, const double *low, size_t i, size_t count,
                       double *out)
{
    const double step = s->step, most = s->most;
    double stop = s->stop, extreme = s->extreme, factor = s->factor;
    for (; i < count && low[i] > stop; i++) {
        out[i] = stop;
        double faster = smaller(factor + step, most);
        factor = high[i] > extreme ? faster : factor;
        extreme = larger(extreme, high[i]);
        stop = smaller(stop + factor * (extreme - stop), smaller(low[(ptrdiff_t)i - 1], low[i]));
    }
    s->stop = stop;
    s->extreme = extreme;
    s->factor = factor;
    return i;
}

static size_t sar_fall(struct sar *s, const double *high, const double *low, size_t i, size_t count,
                       double *out)
{
    const double step = s->step, most = s->most;
    double stop = s->stop, extreme = s->extreme, factor = s->factor;
    for (; i < count && high[i] < stop; i++) {
        out[i] = stop;
        double faster = smaller(factor + step, most);
        factor = low[i] < extreme ? faster : factor;
        extreme = smaller(extreme, low[i]);
        stop = larger(stop + factor * (extreme - stop), larger(high[(ptrdiff_t)i - 1], high[i]));
    }
    s->stop = stop;
    s->extreme = extreme;
    s->factor = factor;
    return i;
}

/* The bar reaches the stop: from it on the other way. `before` is the bar before it. */
static void sar_turn(struct sar *s, const double *high, const double *low, size_t i, ptrdiff_t before,
                     double *out)
{
    s->factor = s->step;
    if (s->rising) {
        out[i] = s->stop = larger(larger(s->extreme, high[before]), high[i]);
        s->extreme = low[i];
        s->stop = s->stop + s->factor * (s->extreme - s->stop);
        s->stop = larger(larger(s->stop, high[before]), high[i]);
    } else {
        out[i] = s->stop = smaller(smaller(s->extreme, low[before]), low[i]);
        s->extreme = high[i];
        s->stop = s->stop + s->factor * (s->extreme - s->stop);
        s->stop = smaller(smaller(s->stop, low[before]), low[i]);
    }
    s->rising = !s->rising;
}

/* Bar 1, which stands for the bar before it too. */
static void sar_first(struct sar *s, const double *high, const double *low, double *out)
{
    double up = high[1] - high[0], down = low[0] - low[1];
    s->rising = !(down > 0.0 && down > up);
    s->stop = s->rising ? low[0] : high[0];
    s->extreme = s->rising ? high[1] : low[1];
    if (s->rising ? low[1] <= s->stop : high[1] >= s->stop) {
        sar_turn(s, high, low, 1, 1, out);
        return;
    }
    out[1] = s->stop;
    s->stop = s->stop + s->factor * (s->extreme - s->stop);
    s->stop = s->rising ? smaller(s->stop, low[1]) : larger(s->stop, high[1]);
}

static void sar_run(void *state, const struct fast_block *block)
{
    struct sar *s = state;
    const double *high = block->in[FAST_HIGH], *low = block->in[FAST_LOW];
    double *out = block->out[0];
    size_t i = 0, count = block->count;
    if (block->begin == 0) {
        sar_first(s, high, low, out);
        i = 2;
    }
    while (i < count) {
        i = s->rising ? sar_rise(s, high, low, i, count, out) : sar_fall(s, high, low, i, count, out);
        if (i < count) {
            sar_turn(s, high, low, i, (ptrdiff_t)i - 1, out);
            i++;
        }
    }
}

const struct fast_kernel FAST(sar) = {sar_bytes, NULL, sar_start, sar_run};

/* ---- Supertrend ---- */

struct supertrend {
    struct average range;
    double multiplier, upper, lower;
    bool begun, rising;
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
}

static void supertrend_bands(struct supertrend *s, const struct fast_block *block, const real *atr,
                             real *upper, real *lower)
{
    const real *high = block->in[FAST_HIGH], *low = block->in[FAST_LOW];
    const vec multiplier = vec_all(s->multiplier), half = vec_all(0.5);
    for (size_t i = 0; i < fast_cells(block->count); i += W) {
        vec middle = (vec_load(high + i) + vec_load(low + i)) * half, width = multiplier * vec_load(atr + i);
        vec_store(upper + i, middle + width);
        vec_store(lower + i, middle - width);
    }
}

static void supertrend_run(void *state, const struct fast_block *block)
{
    struct supertrend *s = state;
    const real *high = block->in[FAST_HIGH], *low = block->in[FAST_LOW], *close = block->in[FAST_CLOSE];
    real *ranges = block->work[0], *atr = block->work[1], *basic_upper = block->work[2],
         *basic_lower = block->work[3], *value = block->out[0], *direction = block->out[1];
    size_t count = block->count;

    for (size_t i = 0; i < fast_cells(count); i += W) {
        vec h = vec_load(high + i), l = vec_load(low + i), before = vec_load(close + i - 1);
        vec_store(ranges + i, vec_max(vec_max(vec_abs(h - before), vec_abs(l - before)), h - l));
    }
    size_t i = average_run(&s->range, ranges, block->begin, count, atr, block->work[4]);
    if (i == count)
        return;
    supertrend_bands(s, block, atr, basic_upper, basic_lower);
    if (!s->begun) {
        s->upper = value[i] = basic_upper[i];
        s->lower = basic_lower[i];
        direction[i++] = -1.0;
        s->begun = true;
    }
    double upper = s->upper, lower = s->lower, before = close[(ptrdiff_t)i - 1];
    bool rising = s->rising;
    for (; i < count; i++) {
        double now = close[i], bu = basic_upper[i], bl = basic_lower[i];
        upper = bu < upper || before > upper ? bu : upper;
        lower = bl > lower || before < lower ? bl : lower;
        rising = rising ? !(now < lower) : now > upper;
        value[i] = rising ? lower : upper;
        direction[i] = rising ? 1.0 : -1.0;
        before = now;
    }
    s->upper = upper;
    s->lower = lower;
    s->rising = rising;
}

const struct fast_kernel FAST(supertrend) = {supertrend_bytes, NULL, supertrend_start, supertrend_run};
