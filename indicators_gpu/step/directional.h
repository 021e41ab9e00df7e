/* Wilder's directional movement, one bar at a time: what the rows +DI, -DI, DX, ADX and ADXR share.
 *
 * Source: J. Welles Wilder, New Concepts in Technical Trading Systems, 1978, as TA-Lib computes it
 * (ta_PLUS_DI.c, ta_DX.c, ta_ADX.c describe it): the sums begin with the first period - 1 values, and from
 * then on lose a period's share and take the new one. */
#ifndef INDICATORS_GPU_STEP_DIRECTIONAL_H
#define INDICATORS_GPU_STEP_DIRECTIONAL_H

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/recurrence.h"

/* How far the high rose beyond the low's fall; 0 where it did not. `up` and `down` are the moves of high and
 * low away from each other. The minus movement is the same with both exchanged. */
STEP double directional_movement(double up, double down)
{
    return up > 0.0 && up > down ? up : 0.0;
}

STEP double directional_next(double sum, double x, double period)
{
    return sum - sum / period + x;
}

/* A DI from the sums of its movement and of true ranges; 0 where there was no range. */
STEP double directional_index(double movement, double range)
{
    return range == 0.0 ? 0.0 : 100.0 * (movement / range);
}

/* DX of the sums; false, and nothing written, where the range or both DI are 0. */
STEP bool directional_dx(double plus, double minus, double range, double *ret_dx)
{
    if (range == 0.0)
        return false;
    double plus_di = 100.0 * (plus / range), minus_di = 100.0 * (minus / range), both = minus_di + plus_di;
    if (both == 0.0)
        return false;
    *ret_dx = 100.0 * (fabs(minus_di - plus_di) / both);
    return true;
}

struct directional_state {
    double period;
    double high, low, close; /* the last bar's */
    double plus, minus, range;
    uint32_t seen; /* bars, up to the period */
};

STEP void directional_start(struct directional_state *s, double period)
{
    s->period = period;
    s->high = s->low = s->close = 0.0;
    s->plus = s->minus = s->range = 0.0;
    s->seen = 0;
}

/* True once the sums are complete. */
STEP bool directional_step(struct directional_state *s, const struct indicator_bar *bar)
{
    double up = bar->high - s->high, down = s->low - bar->low;
    double plus = directional_movement(up, down), minus = directional_movement(down, up);
    double range = true_range(bar->high, bar->low, s->close);
    s->high = bar->high;
    s->low = bar->low;
    s->close = bar->close;
    if (s->seen < (uint32_t)s->period) {
        if (s->seen++ > 0) {
            s->plus += plus;
            s->minus += minus;
            s->range += range;
        }
        return false;
    }
    s->plus = directional_next(s->plus, plus, s->period);
    s->minus = directional_next(s->minus, minus, s->period);
    s->range = directional_next(s->range, range, s->period);
    return true;
}

struct adx_state {
    struct directional_state directional;
    double value;  /* sum of the seed's DX until `seen` reaches the period */
    uint32_t seen; /* DX, up to the period */
};

STEP void adx_start(struct adx_state *s, double period)
{
    directional_start(&s->directional, period);
    s->value = 0.0;
    s->seen = 0;
}

STEP bool adx_step(struct adx_state *s, const struct indicator_bar *bar, double *ret_adx)
{
    const struct directional_state *d = &s->directional;
    double dx;
    if (!directional_step(&s->directional, bar))
        return false;
    bool any = directional_dx(d->plus, d->minus, d->range, &dx);
    if (s->seen < (uint32_t)d->period) {
        if (any)
            s->value += dx;
        if (++s->seen < (uint32_t)d->period)
            return false;
        s->value /= d->period;
    } else if (any) {
        s->value = wilder_next(s->value, dx, d->period);
    }
    *ret_adx = s->value;
    return true;
}

#endif
