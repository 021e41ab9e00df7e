/* The recurrences of the rows, one step at a time: the order of operations that the streams, the
 * reference and the exact GPU kernels share, as plain functions over small structs that compile for host and
 * device.
 *
 * Sources: TA-Lib's definitions (ta_EMA.c, ta_RSI.c, ta_MACD.c, ta_ATR.c describe them); J. Welles Wilder,
 * New Concepts in Technical Trading Systems, 1978, for RSI and ATR. Seeds are sums from the oldest value to
 * the newest, divided once. Each *_step() takes one bar and returns whether its outputs exist; a state is a
 * value to copy. */
#ifndef INDICATORS_GPU_STEP_RECURRENCE_H
#define INDICATORS_GPU_STEP_RECURRENCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define STEP static inline __host__ __device__
#else
#define STEP static inline
#endif

/* An average below this counts as 0, as of gains and losses together: its digits are lost. TA-Lib 0.8.1 has
 * no such bound, and ends with rounding errors. */
#define AVERAGE_FADED 1e-290

STEP double ema_factor(double period)
{
    return 2.0 / (period + 1.0);
}

STEP double ema_next(double y, double x, double k)
{
    return y + k * (x - y);
}

/* Wilder's smoothing. */
STEP double wilder_next(double y, double x, double period)
{
    return (y * (period - 1.0) + x) / period;
}

STEP double rsi_value(double gain, double loss)
{
    double sum = gain + loss;
    return sum < AVERAGE_FADED ? 0.0 : 100.0 * (gain / sum);
}

/* From this bar's high and low and the close before. */
STEP double true_range(double high, double low, double close_before)
{
    double range = high - low;
    double up = fabs(high - close_before), down = fabs(low - close_before);
    if (up > range)
        range = up;
    if (down > range)
        range = down;
    return range;
}

struct ema_state {
    double k, period;
    double value; /* sum of the seed's values until `seen` reaches the period */
    uint32_t seen;
};

STEP void ema_start(struct ema_state *s, double period)
{
    s->k = ema_factor(period);
    s->period = period;
    s->value = 0.0;
    s->seen = 0;
}

STEP bool ema_step(struct ema_state *s, double x)
{
    uint32_t period = (uint32_t)s->period;
    if (s->seen == period) {
        s->value = ema_next(s->value, x, s->k);
        return true;
    }
    s->value += x;
    if (++s->seen < period)
        return false;
    s->value /= s->period;
    return true;
}

/* Wilder's average, seeded with a simple one. */
struct wilder_state {
    double period;
    double value; /* sum of the seed's values until `seen` reaches the period */
    uint32_t seen;
};

STEP void wilder_start(struct wilder_state *s, double period)
{
    s->period = period;
    s->value = 0.0;
    s->seen = 0;
}

STEP bool wilder_step(struct wilder_state *s, double x)
{
    uint32_t period = (uint32_t)s->period;
    if (s->seen == period) {
        s->value = wilder_next(s->value, x, s->period);
        return true;
    }
    s->value += x;
    if (++s->seen < period)
        return false;
    s->value /= s->period;
    return true;
}

struct rsi_state {
    double period;
    double before; /* the last close */
    double gain, loss;
    uint32_t seen; /* closes, up to period + 1 */
};

STEP void rsi_start(struct rsi_state *s, double period)
{
    s->period = period;
    s->before = s->gain = s->loss = 0.0;
    s->seen = 0;
}

STEP bool rsi_step(struct rsi_state *s, double close, double *ret_rsi)
{
    uint32_t period = (uint32_t)s->period;
    double change = close - s->before;
    double gain = change > 0.0 ? change : 0.0, loss = change < 0.0 ? -change : 0.0;
    s->before = close;
    if (s->seen > period) {
        s->gain = wilder_next(s->gain, gain, s->period);
        s->loss = wilder_next(s->loss, loss, s->period);
    } else {
        if (s->seen++ == 0)
            return false;
        s->gain += gain;
        s->loss += loss;
        if (s->seen <= period)
            return false;
        s->gain /= s->period;
        s->loss /= s->period;
    }
    *ret_rsi = rsi_value(s->gain, s->loss);
    return true;
}

/* The fast average starts late, so that both seeds end at the same bar. */
struct macd_state {
    struct ema_state fast, slow, signal;
    uint32_t wait; /* bars until the fast average's seed begins */
};

struct macd_values {
    double macd, signal, hist;
};

STEP void macd_start(struct macd_state *s, double fast, double slow, double signal)
{
    if (fast > slow) {
        double swap = fast;
        fast = slow;
        slow = swap;
    }
    ema_start(&s->fast, fast);
    ema_start(&s->slow, slow);
    ema_start(&s->signal, signal);
    s->wait = (uint32_t)(slow - fast);
}

STEP bool macd_step(struct macd_state *s, double close, struct macd_values *ret)
{
    if (s->wait > 0)
        s->wait--;
    else
        ema_step(&s->fast, close);
    if (!ema_step(&s->slow, close))
        return false;
    double macd = s->fast.value - s->slow.value;
    if (!ema_step(&s->signal, macd))
        return false;
    ret->macd = macd;
    ret->signal = s->signal.value;
    ret->hist = macd - s->signal.value;
    return true;
}

struct atr_state {
    double period;
    double before; /* the last close */
    double value;  /* sum of the seed's true ranges until `seen` exceeds the period */
    uint32_t seen; /* bars, up to period + 1 */
};

STEP void atr_start(struct atr_state *s, double period)
{
    s->period = period;
    s->before = s->value = 0.0;
    s->seen = 0;
}

STEP bool atr_step(struct atr_state *s, double high, double low, double close, double *ret_atr)
{
    uint32_t period = (uint32_t)s->period;
    double range = true_range(high, low, s->before);
    s->before = close;
    if (s->seen > period) {
        s->value = wilder_next(s->value, range, s->period);
    } else {
        if (s->seen++ == 0)
            return false;
        s->value += range;
        if (s->seen <= period)
            return false;
        s->value /= s->period;
    }
    *ret_atr = s->value;
    return true;
}

/* What a line has that adds up from bar to bar. */
struct line_state {
    double before, value; /* the last close, the sum */
    uint64_t any;         /* whether there was a bar */
};

STEP void line_start(struct line_state *s)
{
    s->before = s->value = 0.0;
    s->any = 0;
}

/* The change of a value; false: it is the first. */
struct delta_state {
    double before; /* the last value */
    uint64_t any;  /* whether there was one */
};

STEP void delta_start(struct delta_state *s)
{
    s->before = 0.0;
    s->any = 0;
}

STEP bool delta_step(struct delta_state *s, double value, double *ret_change)
{
    bool any = s->any != 0;
    *ret_change = value - s->before;
    s->before = value;
    s->any = 1;
    return any;
}

#endif
