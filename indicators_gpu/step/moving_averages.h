/* Moving averages, one bar at a time. See step/dispatch.h for a row's functions. */
#ifndef INDICATORS_GPU_STEP_MOVING_AVERAGES_H
#define INDICATORS_GPU_STEP_MOVING_AVERAGES_H

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/ring.h"

struct step_sma {
    double period;
    struct ring ring;
};

STEP size_t step_sma_cells(const double options[])
{
    return (size_t)options[0];
}

STEP void step_sma_start(struct step_sma *s, const double options[])
{
    s->period = options[0];
    ring_start(&s->ring, options[0]);
}

STEP bool step_sma_next(struct step_sma *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1);
    if (!ring_push(&s->ring, cells, bar->close))
        return false;
    out[0] = ring_sum(&s->ring, cells) / s->period;
    return true;
}

struct step_ema {
    struct ema_state ema;
};

STEP size_t step_ema_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_ema_start(struct step_ema *s, const double options[])
{
    ema_start(&s->ema, options[0]);
}

STEP bool step_ema_next(struct step_ema *s, const struct indicator_bar *bar, double out[])
{
    if (!ema_step(&s->ema, bar->close))
        return false;
    out[0] = s->ema.value;
    return true;
}

/* The sum of 1, 2, ... period, which are a weighted mean's weights from the oldest value to the newest. */
STEP double wma_weights(double period)
{
    return period * (period + 1.0) * 0.5;
}

/* The weighted mean of the newest `period` values; period <= seen. */
STEP double wma_of_ring(const struct ring *r, const double cells[], uint32_t period)
{
    double sum = 0.0;
    uint32_t at = ring_place(r, period - 1);
    for (uint32_t weight = 1; weight <= period; weight++, at = ring_newer(r, at))
        sum += (double)weight * cells[at];
    return sum / wma_weights((double)period);
}

struct step_wma {
    struct ring ring;
};

STEP size_t step_wma_cells(const double options[])
{
    return (size_t)options[0];
}

STEP void step_wma_start(struct step_wma *s, const double options[])
{
    ring_start(&s->ring, options[0]);
}

STEP bool step_wma_next(struct step_wma *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1);
    if (!ring_push(&s->ring, cells, bar->close))
        return false;
    out[0] = wma_of_ring(&s->ring, cells, s->ring.length);
    return true;
}

STEP double dema_value(double once, double twice)
{
    return 2.0 * once - twice;
}

struct step_dema {
    struct ema_state once, twice;
};

STEP size_t step_dema_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_dema_start(struct step_dema *s, const double options[])
{
    ema_start(&s->once, options[0]);
    ema_start(&s->twice, options[0]);
}

STEP bool step_dema_next(struct step_dema *s, const struct indicator_bar *bar, double out[])
{
    if (!ema_step(&s->once, bar->close) || !ema_step(&s->twice, s->once.value))
        return false;
    out[0] = dema_value(s->once.value, s->twice.value);
    return true;
}

STEP double tema_value(double once, double twice, double thrice)
{
    return thrice + (3.0 * once - 3.0 * twice);
}

struct step_tema {
    struct ema_state once, twice, thrice;
};

STEP size_t step_tema_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_tema_start(struct step_tema *s, const double options[])
{
    ema_start(&s->once, options[0]);
    ema_start(&s->twice, options[0]);
    ema_start(&s->thrice, options[0]);
}

STEP bool step_tema_next(struct step_tema *s, const struct indicator_bar *bar, double out[])
{
    if (!ema_step(&s->once, bar->close) || !ema_step(&s->twice, s->once.value) ||
        !ema_step(&s->thrice, s->twice.value))
        return false;
    out[0] = tema_value(s->once.value, s->twice.value, s->thrice.value);
    return true;
}

/* Kaufman's smoothing constants go from that of an EMA of 30 to that of one of 2, squared. */
#define KAMA_SLOWEST (2.0 / 31.0)
#define KAMA_FASTEST (2.0 / 3.0)

/* The next average from the price, its change over the period, and the sum of its |changes| bar by bar. A
 * price that does not move at all is as efficient as one that moves one way. */
STEP double kama_next(double y, double x, double change, double path)
{
    double efficiency = path <= change ? 1.0 : fabs(change / path);
    double k = efficiency * (KAMA_FASTEST - KAMA_SLOWEST) + KAMA_SLOWEST;
    return y + (k * k) * (x - y);
}

struct step_kama {
    double value; /* the last close until the first output */
    struct ring ring;
};

STEP size_t step_kama_cells(const double options[])
{
    return (size_t)options[0] + 1;
}

STEP void step_kama_start(struct step_kama *s, const double options[])
{
    s->value = 0.0;
    ring_start(&s->ring, options[0] + 1.0);
}

STEP bool step_kama_next(struct step_kama *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1), path = 0.0;
    if (!ring_push(&s->ring, cells, bar->close)) {
        s->value = bar->close;
        return false;
    }
    uint32_t at = s->ring.next;
    double oldest = cells[at], before = oldest;
    for (uint32_t i = 1; i < s->ring.length; i++) {
        at = ring_newer(&s->ring, at);
        path += fabs(cells[at] - before);
        before = cells[at];
    }
    out[0] = s->value = kama_next(s->value, bar->close, bar->close - oldest, path);
    return true;
}

/* Hull rounds both periods down. */
STEP uint32_t hma_half(double period)
{
    return (uint32_t)(period / 2.0);
}

STEP uint32_t hma_root(double period)
{
    return (uint32_t)sqrt(period);
}

STEP double hma_raw(double half, double whole)
{
    return 2.0 * half - whole;
}

/* Cells: the closes, then the input of the last mean. */
struct step_hma {
    struct ring closes, raw;
    uint32_t half;
};

STEP size_t step_hma_cells(const double options[])
{
    return (size_t)options[0] + hma_root(options[0]);
}

STEP void step_hma_start(struct step_hma *s, const double options[])
{
    ring_start(&s->closes, options[0]);
    ring_start(&s->raw, (double)hma_root(options[0]));
    s->half = hma_half(options[0]);
}

STEP bool step_hma_next(struct step_hma *s, const struct indicator_bar *bar, double out[])
{
    double *closes = (double *)(s + 1), *raw = closes + s->closes.length;
    if (!ring_push(&s->closes, closes, bar->close))
        return false;
    double half = wma_of_ring(&s->closes, closes, s->half);
    double whole = wma_of_ring(&s->closes, closes, s->closes.length);
    if (!ring_push(&s->raw, raw, hma_raw(half, whole)))
        return false;
    out[0] = wma_of_ring(&s->raw, raw, s->raw.length);
    return true;
}

/* T. Tillson's T3: six averages of each other, and the last four weighted by the volume factor. */
STEP double t3_value(const double average[4], double factor)
{
    double squared = factor * factor, last = -squared * factor;
    double third = 3.0 * (squared - last), second = -6.0 * squared - 3.0 * (factor - last);
    double first = 1.0 + 3.0 * factor - last + 3.0 * squared;
    return last * average[3] + third * average[2] + second * average[1] + first * average[0];
}

enum { T3_AVERAGES = 6 };

struct step_t3 {
    double factor;
    struct ema_state ema[T3_AVERAGES];
};

STEP size_t step_t3_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_t3_start(struct step_t3 *s, const double options[])
{
    s->factor = options[1];
    for (int i = 0; i < T3_AVERAGES; i++)
        ema_start(&s->ema[i], options[0]);
}

STEP bool step_t3_next(struct step_t3 *s, const struct indicator_bar *bar, double out[])
{
    double x = bar->close;
    for (int i = 0; i < T3_AVERAGES; i++) {
        if (!ema_step(&s->ema[i], x))
            return false;
        x = s->ema[i].value;
    }
    const double last[4] = {s->ema[2].value, s->ema[3].value, s->ema[4].value, s->ema[5].value};
    out[0] = t3_value(last, s->factor);
    return true;
}

#endif
