/* Wilder's directional movement, one bar at a time: +DI, -DI, DX, ADX and ADXR, and the sums that they
 * share. See step/dispatch.h for a row's functions.
 *
 * Source: J. Welles Wilder, New Concepts in Technical Trading Systems, 1978, as TA-Lib computes it
 * (ta_PLUS_DI.c, ta_DX.c, ta_ADX.c describe it): the sums begin with the first period - 1 values, and from
 * then on lose a period's share and take the new one. */
#ifndef INDICATORS_GPU_STEP_DIRECTIONAL_H
#define INDICATORS_GPU_STEP_DIRECTIONAL_H

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/ring.h"

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

struct step_plus_di {
    struct directional_state directional;
};

STEP size_t step_plus_di_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_plus_di_start(struct step_plus_di *s, const double options[])
{
    directional_start(&s->directional, options[0]);
}

STEP bool step_plus_di_next(struct step_plus_di *s, const struct indicator_bar *bar, double out[])
{
    if (!directional_step(&s->directional, bar))
        return false;
    out[0] = directional_index(s->directional.plus, s->directional.range);
    return true;
}

struct step_minus_di {
    struct directional_state directional;
};

STEP size_t step_minus_di_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_minus_di_start(struct step_minus_di *s, const double options[])
{
    directional_start(&s->directional, options[0]);
}

STEP bool step_minus_di_next(struct step_minus_di *s, const struct indicator_bar *bar, double out[])
{
    if (!directional_step(&s->directional, bar))
        return false;
    out[0] = directional_index(s->directional.minus, s->directional.range);
    return true;
}

struct step_dx {
    struct directional_state directional;
    double value; /* held where there is none */
};

STEP size_t step_dx_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_dx_start(struct step_dx *s, const double options[])
{
    directional_start(&s->directional, options[0]);
    s->value = 0.0;
}

STEP bool step_dx_next(struct step_dx *s, const struct indicator_bar *bar, double out[])
{
    const struct directional_state *d = &s->directional;
    if (!directional_step(&s->directional, bar))
        return false;
    directional_dx(d->plus, d->minus, d->range, &s->value);
    out[0] = s->value;
    return true;
}

struct step_adx {
    struct adx_state adx;
};

STEP size_t step_adx_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_adx_start(struct step_adx *s, const double options[])
{
    adx_start(&s->adx, options[0]);
}

STEP bool step_adx_next(struct step_adx *s, const struct indicator_bar *bar, double out[])
{
    return adx_step(&s->adx, bar, &out[0]);
}

struct step_adxr {
    struct adx_state adx;
    struct ring ring; /* of ADX */
};

STEP size_t step_adxr_cells(const double options[])
{
    return (size_t)options[0];
}

STEP void step_adxr_start(struct step_adxr *s, const double options[])
{
    adx_start(&s->adx, options[0]);
    ring_start(&s->ring, options[0]);
}

STEP bool step_adxr_next(struct step_adxr *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1), adx;
    if (!adx_step(&s->adx, bar, &adx) || !ring_push(&s->ring, cells, adx))
        return false;
    out[0] = (adx + ring_at(&s->ring, cells, s->ring.length - 1)) / 2.0;
    return true;
}

/* The sum of one movement alone, which is complete a bar earlier than with the ranges; of a period of 1 the
 * movement itself. */
struct movement_state {
    double period;
    double high, low; /* the last bar's */
    double sum;
    alignas(8) uint32_t seen; /* bars, up to the period, and 2 at least */
};

STEP void movement_start(struct movement_state *s, double period)
{
    s->period = period;
    s->high = s->low = s->sum = 0.0;
    s->seen = 0;
}

STEP uint32_t movement_bars(const struct movement_state *s)
{
    return s->period > 2.0 ? (uint32_t)s->period : 2;
}

STEP bool movement_step(struct movement_state *s, const struct indicator_bar *bar, bool plus, double *ret)
{
    double up = bar->high - s->high, down = s->low - bar->low, bars = movement_bars(s);
    double movement = plus ? directional_movement(up, down) : directional_movement(down, up);
    s->high = bar->high;
    s->low = bar->low;
    if (s->seen == 0) {
        s->seen = 1;
        return false;
    }
    if (s->seen < (uint32_t)bars) {
        s->sum += movement;
        s->seen++;
    } else {
        s->sum = directional_next(s->sum, movement, s->period);
    }
    if (s->seen < (uint32_t)bars)
        return false;
    *ret = s->period > 1.0 ? s->sum : movement;
    return true;
}

struct step_plus_dm {
    struct movement_state movement;
};

STEP size_t step_plus_dm_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_plus_dm_start(struct step_plus_dm *s, const double options[])
{
    movement_start(&s->movement, options[0]);
}

STEP bool step_plus_dm_next(struct step_plus_dm *s, const struct indicator_bar *bar, double out[])
{
    return movement_step(&s->movement, bar, true, &out[0]);
}

struct step_minus_dm {
    struct movement_state movement;
};

STEP size_t step_minus_dm_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_minus_dm_start(struct step_minus_dm *s, const double options[])
{
    movement_start(&s->movement, options[0]);
}

STEP bool step_minus_dm_next(struct step_minus_dm *s, const struct indicator_bar *bar, double out[])
{
    return movement_step(&s->movement, bar, false, &out[0]);
}

#endif
