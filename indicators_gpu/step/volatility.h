/* Volatility and channels, one bar at a time. See step/dispatch.h for a row's functions. */
#ifndef INDICATORS_GPU_STEP_VOLATILITY_H
#define INDICATORS_GPU_STEP_VOLATILITY_H

#include <stdalign.h>

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/exact_math.h"
#include "indicators_gpu/step/extremes.h"
#include "indicators_gpu/step/momentum.h"

struct step_atr {
    struct atr_state atr;
};

STEP size_t step_atr_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_atr_start(struct step_atr *s, const double options[])
{
    atr_start(&s->atr, options[0]);
}

STEP bool step_atr_next(struct step_atr *s, const struct indicator_bar *bar, double out[])
{
    return atr_step(&s->atr, bar->high, bar->low, bar->close, &out[0]);
}

/* In percent; 0 where the close is, as in TA-Lib. */
STEP double natr_value(double atr, double close)
{
    return close == 0.0 ? 0.0 : 100.0 * (atr / close);
}

struct step_natr {
    struct atr_state atr;
};

STEP size_t step_natr_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_natr_start(struct step_natr *s, const double options[])
{
    atr_start(&s->atr, options[0]);
}

STEP bool step_natr_next(struct step_natr *s, const struct indicator_bar *bar, double out[])
{
    double atr;
    if (!atr_step(&s->atr, bar->high, bar->low, bar->close, &atr))
        return false;
    out[0] = natr_value(atr, bar->close);
    return true;
}

struct step_trange {
    double before; /* the last close */
    uint32_t started;
};

STEP size_t step_trange_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_trange_start(struct step_trange *s, const double options[])
{
    (void)options;
    s->before = 0.0;
    s->started = 0;
}

STEP bool step_trange_next(struct step_trange *s, const struct indicator_bar *bar, double out[])
{
    double range = true_range(bar->high, bar->low, s->before);
    bool ready = s->started != 0;
    s->before = bar->close;
    s->started = 1;
    if (ready)
        out[0] = range;
    return ready;
}

/* The squares of a full window's distances from `mean`, summed from the oldest to the newest. */
STEP double spread_sum(const struct ring *r, const double cells[], double mean)
{
    double sum = 0.0;
    for (uint32_t age = r->length; age-- > 0;) {
        double away = ring_at(r, cells, age) - mean;
        sum += away * away;
    }
    return sum;
}

struct step_bbands {
    double deviations;
    struct ring ring;
};

STEP size_t step_bbands_cells(const double options[])
{
    return (size_t)options[0];
}

STEP void step_bbands_start(struct step_bbands *s, const double options[])
{
    s->deviations = options[1];
    ring_start(&s->ring, options[0]);
}

STEP bool step_bbands_next(struct step_bbands *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1), mean;
    if (!ring_mean(&s->ring, cells, bar->close, &mean))
        return false;
    double width = s->deviations * sqrt(spread_sum(&s->ring, cells, mean) / (double)s->ring.length);
    out[0] = mean + width;
    out[1] = mean;
    out[2] = mean - width;
    return true;
}

struct step_keltner {
    double multiplier;
    struct ema_state ema;
    struct atr_state atr;
    uint32_t ema_wait, atr_wait; /* bars until its seed begins: both end together */
};

STEP size_t step_keltner_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_keltner_start(struct step_keltner *s, const double options[])
{
    uint32_t ema = (uint32_t)options[0], atr = (uint32_t)options[1], first = ema > atr ? ema - 1 : atr;
    ema_start(&s->ema, options[0]);
    atr_start(&s->atr, options[1]);
    s->multiplier = options[2];
    s->ema_wait = first + 1 - ema;
    s->atr_wait = first - atr;
}

STEP bool step_keltner_next(struct step_keltner *s, const struct indicator_bar *bar, double out[])
{
    double atr = 0.0;
    bool has_ema = false, has_atr = false;
    if (s->ema_wait > 0)
        s->ema_wait--;
    else
        has_ema = ema_step(&s->ema, typical_price(bar->high, bar->low, bar->close));
    if (s->atr_wait > 0)
        s->atr_wait--;
    else
        has_atr = atr_step(&s->atr, bar->high, bar->low, bar->close, &atr);
    if (!has_ema || !has_atr)
        return false;
    out[0] = s->ema.value + s->multiplier * atr;
    out[1] = s->ema.value;
    out[2] = s->ema.value - s->multiplier * atr;
    return true;
}

struct step_donchian {
    alignas(double) struct ring ring;
};

STEP size_t step_donchian_cells(const double options[])
{
    return range_cells((size_t)options[0]);
}

STEP void step_donchian_start(struct step_donchian *s, const double options[])
{
    ring_start(&s->ring, options[0]);
}

STEP bool step_donchian_next(struct step_donchian *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1);
    if (!range_push(&s->ring, cells, bar))
        return false;
    out[0] = ring_highest(&s->ring, cells);
    out[2] = ring_lowest(&s->ring, range_lows(&s->ring, cells));
    out[1] = (out[0] + out[2]) / 2.0;
    return true;
}

struct step_realvol {
    double before; /* the last close */
    uint32_t started;
    struct ring ring; /* of log returns */
};

STEP size_t step_realvol_cells(const double options[])
{
    return (size_t)options[0];
}

STEP void step_realvol_start(struct step_realvol *s, const double options[])
{
    s->before = 0.0;
    s->started = 0;
    ring_start(&s->ring, options[0]);
}

STEP bool step_realvol_next(struct step_realvol *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1), before = s->before, mean;
    s->before = bar->close;
    if (!s->started) {
        s->started = 1;
        return false;
    }
    if (!ring_mean(&s->ring, cells, exact_log_quotient(before, bar->close), &mean))
        return false;
    out[0] = sqrt(spread_sum(&s->ring, cells, mean) / ((double)s->ring.length - 1.0));
    return true;
}

/* One bar's term of Parkinson's variance before the mean is taken, times 4 log 2. */
STEP double parkinson_term(double high, double low)
{
    double range = exact_log_quotient(low, high);
    return range * range;
}

STEP double parkinson_value(double mean)
{
    return sqrt(mean / (4.0 * M_LN2));
}

struct step_parkinson {
    alignas(double) struct ring ring; /* of terms */
};

STEP size_t step_parkinson_cells(const double options[])
{
    return (size_t)options[0];
}

STEP void step_parkinson_start(struct step_parkinson *s, const double options[])
{
    ring_start(&s->ring, options[0]);
}

STEP bool step_parkinson_next(struct step_parkinson *s, const struct indicator_bar *bar, double out[])
{
    double mean;
    if (!ring_mean(&s->ring, (double *)(s + 1), parkinson_term(bar->high, bar->low), &mean))
        return false;
    out[0] = parkinson_value(mean);
    return true;
}

/* One bar's term of the variance of Garman and Klass before the mean is taken. */
STEP double garman_klass_term(double open, double high, double low, double close)
{
    double range = exact_log_quotient(low, high), body = exact_log_quotient(open, close);
    return 0.5 * (range * range) - (2.0 * M_LN2 - 1.0) * (body * body);
}

/* A mean below 0, which needs bars whose open or close lies outside of low to high, counts as 0. */
STEP double garman_klass_value(double mean)
{
    return mean < 0.0 ? 0.0 : sqrt(mean);
}

struct step_garman_klass {
    alignas(double) struct ring ring; /* of terms */
};

STEP size_t step_garman_klass_cells(const double options[])
{
    return (size_t)options[0];
}

STEP void step_garman_klass_start(struct step_garman_klass *s, const double options[])
{
    ring_start(&s->ring, options[0]);
}

STEP bool step_garman_klass_next(struct step_garman_klass *s, const struct indicator_bar *bar, double out[])
{
    double mean, term = garman_klass_term(bar->open, bar->high, bar->low, bar->close);
    if (!ring_mean(&s->ring, (double *)(s + 1), term, &mean))
        return false;
    out[0] = garman_klass_value(mean);
    return true;
}

#endif
