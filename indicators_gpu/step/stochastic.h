/* The close's position between the extremes of a window, one bar at a time: the part of momentum that uses
 * highs and lows. Included by step/momentum.h; see step/dispatch.h for a row's functions.
 *
 * Sources: TA-Lib's definitions (STOCH, STOCHF, STOCHRSI, WILLR); George Lane's stochastic, Larry Williams's
 * %R, and Chande and Kroll, The New Technical Trader, 1994, for the stochastic of RSI. */
#ifndef INDICATORS_GPU_STEP_STOCHASTIC_H
#define INDICATORS_GPU_STEP_STOCHASTIC_H

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/ring.h"

/* A difference of prices that is at most this share of them counts as 0: it is rounding of equal ones
 * (TA-Lib's). */
#define MOMENTUM_ROUNDING 1e-14

STEP bool within_rounding(double difference, double of)
{
    return fabs(difference) <= MOMENTUM_ROUNDING * of;
}

/* 0 at the lowest, 100 at the highest, 0 in a flat window. */
STEP double stochastic_value(double close, double lowest, double highest)
{
    double range = highest - lowest;
    return within_rounding(range, fabs(highest) + fabs(lowest)) ? 0.0 : 100.0 * ((close - lowest) / range);
}

/* 0 at the highest, -100 at the lowest, 0 in a flat window. */
STEP double willr_value(double close, double lowest, double highest)
{
    double range = highest - lowest;
    return within_rounding(range, fabs(highest) + fabs(lowest)) ? 0.0 : 100.0 * ((close - highest) / range);
}

/* The highs and lows of a window. Its cells: the highs, then the lows. */
struct range_window {
    double length;
    struct ring high, low;
};

STEP size_t range_window_cells(double length)
{
    return 2 * (size_t)length;
}

STEP void range_window_start(struct range_window *s, double length)
{
    s->length = length;
    ring_start(&s->high, length);
    ring_start(&s->low, length);
}

STEP bool range_window_push(struct range_window *s, double cells[], double high, double low,
                            double *ret_lowest, double *ret_highest)
{
    double *lows = cells + s->high.length;
    ring_push(&s->high, cells, high);
    if (!ring_push(&s->low, lows, low))
        return false;
    *ret_lowest = ring_lowest(&s->low, lows);
    *ret_highest = ring_highest(&s->high, cells);
    return true;
}

struct step_willr {
    struct range_window window;
};

STEP size_t step_willr_cells(const double options[])
{
    return range_window_cells(options[0]);
}

STEP void step_willr_start(struct step_willr *s, const double options[])
{
    range_window_start(&s->window, options[0]);
}

STEP bool step_willr_next(struct step_willr *s, const struct indicator_bar *bar, double out[])
{
    double lowest, highest;
    if (!range_window_push(&s->window, (double *)(s + 1), bar->high, bar->low, &lowest, &highest))
        return false;
    out[0] = willr_value(bar->close, lowest, highest);
    return true;
}

/* K and its mean, D. Its cells: the window's, then D's. */
struct step_stochf {
    struct range_window window;
    struct ring d;
};

STEP size_t step_stochf_cells(const double options[])
{
    return range_window_cells(options[0]) + (size_t)options[1];
}

STEP void step_stochf_start(struct step_stochf *s, const double options[])
{
    range_window_start(&s->window, options[0]);
    ring_start(&s->d, options[1]);
}

STEP bool step_stochf_next(struct step_stochf *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1), lowest, highest, d;
    double *d_cells = cells + range_window_cells(s->window.length);
    if (!range_window_push(&s->window, cells, bar->high, bar->low, &lowest, &highest))
        return false;
    double k = stochastic_value(bar->close, lowest, highest);
    if (!ring_mean(&s->d, d_cells, k, &d))
        return false;
    out[0] = k;
    out[1] = d;
    return true;
}

/* The mean of K, and the mean of that. Its cells: the window's, slow K's, slow D's. */
struct step_stoch {
    struct range_window window;
    struct ring k, d;
};

STEP size_t step_stoch_cells(const double options[])
{
    return range_window_cells(options[0]) + (size_t)options[1] + (size_t)options[2];
}

STEP void step_stoch_start(struct step_stoch *s, const double options[])
{
    range_window_start(&s->window, options[0]);
    ring_start(&s->k, options[1]);
    ring_start(&s->d, options[2]);
}

STEP bool step_stoch_next(struct step_stoch *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1), lowest, highest, slow_k, slow_d;
    double *k_cells = cells + range_window_cells(s->window.length), *d_cells = k_cells + s->k.length;
    if (!range_window_push(&s->window, cells, bar->high, bar->low, &lowest, &highest) ||
        !ring_mean(&s->k, k_cells, stochastic_value(bar->close, lowest, highest), &slow_k) ||
        !ring_mean(&s->d, d_cells, slow_k, &slow_d))
        return false;
    out[0] = slow_k;
    out[1] = slow_d;
    return true;
}

/* K and D of RSI in a window of its own values. Its cells: the window's, then D's. */
struct step_stochrsi {
    struct rsi_state rsi;
    struct ring window, d;
};

STEP size_t step_stochrsi_cells(const double options[])
{
    return (size_t)options[1] + (size_t)options[2];
}

STEP void step_stochrsi_start(struct step_stochrsi *s, const double options[])
{
    rsi_start(&s->rsi, options[0]);
    ring_start(&s->window, options[1]);
    ring_start(&s->d, options[2]);
}

STEP bool step_stochrsi_next(struct step_stochrsi *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1), rsi, d;
    if (!rsi_step(&s->rsi, bar->close, &rsi) || !ring_push(&s->window, cells, rsi))
        return false;
    double k = stochastic_value(rsi, ring_lowest(&s->window, cells), ring_highest(&s->window, cells));
    if (!ring_mean(&s->d, cells + s->window.length, k, &d))
        return false;
    out[0] = k;
    out[1] = d;
    return true;
}

#endif
