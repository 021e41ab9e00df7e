/* Momentum, one bar at a time. See step/dispatch.h for a row's functions. */
#ifndef INDICATORS_GPU_STEP_MOMENTUM_H
#define INDICATORS_GPU_STEP_MOMENTUM_H

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/stochastic.h"

struct step_rsi {
    struct rsi_state rsi;
};

STEP size_t step_rsi_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_rsi_start(struct step_rsi *s, const double options[])
{
    rsi_start(&s->rsi, options[0]);
}

STEP bool step_rsi_next(struct step_rsi *s, const struct indicator_bar *bar, double out[])
{
    return rsi_step(&s->rsi, bar->close, &out[0]);
}

struct step_macd {
    struct macd_state macd;
};

STEP size_t step_macd_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_macd_start(struct step_macd *s, const double options[])
{
    macd_start(&s->macd, options[0], options[1], options[2]);
}

STEP bool step_macd_next(struct step_macd *s, const struct indicator_bar *bar, double out[])
{
    struct macd_values values;
    if (!macd_step(&s->macd, bar->close, &values))
        return false;
    out[0] = values.macd;
    out[1] = values.signal;
    out[2] = values.hist;
    return true;
}

/* A slow average below this counts as 0 (TA-Lib's zero). */
#define PPO_ZERO 1e-14

STEP double ppo_value(double fast, double slow)
{
    return fabs(slow) < PPO_ZERO ? 0.0 : 100.0 * ((fast - slow) / slow);
}

/* Change since a price, in per cent of it. */
STEP double roc_value(double x, double before)
{
    return before != 0.0 ? 100.0 * (x / before - 1.0) : 0.0;
}

/* Of the window's last typical price. Prices that differ only by rounding are a flat window. */
STEP double cci_value(double price, double mean, double deviation)
{
    double distance = price - mean, of = fabs(mean);
    return within_rounding(distance, of) || within_rounding(deviation, of) ? 0.0
                                                                           : distance / (0.015 * deviation);
}

STEP double typical_price(double high, double low, double close)
{
    return (high + low + close) / 3.0;
}

/* The three windows, the shortest first. */
STEP double ultosc_value(const double pressure[3], const double range[3])
{
    double sum = 0.0;
    if (range[0] > 0.0)
        sum += 4.0 * (pressure[0] / range[0]);
    if (range[1] > 0.0)
        sum += 2.0 * (pressure[1] / range[1]);
    if (range[2] > 0.0)
        sum += pressure[2] / range[2];
    return 100.0 * (sum / 7.0);
}

/* How far the close is above the true low. */
STEP double buying_pressure(double low, double close, double close_before)
{
    return close - (low < close_before ? low : close_before);
}

/* Simple averages in cells of the slow one's length; or exponential ones, without. */
struct step_ppo {
    struct ema_state fast, slow;
    struct ring window;
    uint32_t fast_length;
    uint32_t exponential;
};

STEP size_t step_ppo_cells(const double options[])
{
    return options[2] != 0.0 ? 0 : (size_t)(options[0] > options[1] ? options[0] : options[1]);
}

STEP void step_ppo_start(struct step_ppo *s, const double options[])
{
    bool reversed = options[0] > options[1];
    double fast = reversed ? options[1] : options[0], slow = reversed ? options[0] : options[1];
    ema_start(&s->fast, fast);
    ema_start(&s->slow, slow);
    ring_start(&s->window, slow);
    s->fast_length = (uint32_t)fast;
    s->exponential = options[2] != 0.0;
}

/* Takes a close; true, and both averages, once the slow one exists. */
STEP bool ppo_averages(struct step_ppo *s, double close, double *ret_fast, double *ret_slow)
{
    double *cells = (double *)(s + 1);
    if (s->exponential) {
        ema_step(&s->fast, close);
        if (!ema_step(&s->slow, close))
            return false;
        *ret_fast = s->fast.value;
        *ret_slow = s->slow.value;
    } else {
        if (!ring_mean(&s->window, cells, close, ret_slow))
            return false;
        *ret_fast = ring_sum_newest(&s->window, cells, s->fast_length) / (double)s->fast_length;
    }
    return true;
}

STEP bool step_ppo_next(struct step_ppo *s, const struct indicator_bar *bar, double out[])
{
    double fast, slow;
    if (!ppo_averages(s, bar->close, &fast, &slow))
        return false;
    out[0] = ppo_value(fast, slow);
    return true;
}

/* The last period closes and the one before them. */
struct step_mom {
    double period;
    struct ring window;
};

STEP size_t step_mom_cells(const double options[])
{
    return (size_t)options[0] + 1;
}

STEP void step_mom_start(struct step_mom *s, const double options[])
{
    s->period = options[0];
    ring_start(&s->window, options[0] + 1.0);
}

STEP bool step_mom_next(struct step_mom *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1);
    if (!ring_push(&s->window, cells, bar->close))
        return false;
    out[0] = bar->close - ring_at(&s->window, cells, (uint32_t)s->period);
    return true;
}

struct step_roc {
    double period;
    struct ring window;
};

STEP size_t step_roc_cells(const double options[])
{
    return (size_t)options[0] + 1;
}

STEP void step_roc_start(struct step_roc *s, const double options[])
{
    s->period = options[0];
    ring_start(&s->window, options[0] + 1.0);
}

STEP bool step_roc_next(struct step_roc *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1);
    if (!ring_push(&s->window, cells, bar->close))
        return false;
    out[0] = roc_value(bar->close, ring_at(&s->window, cells, (uint32_t)s->period));
    return true;
}

struct step_trix {
    struct ema_state ema[3];
    double before; /* the third average's last value */
    uint64_t any;  /* whether there is one */
};

STEP size_t step_trix_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_trix_start(struct step_trix *s, const double options[])
{
    for (int i = 0; i < 3; i++)
        ema_start(&s->ema[i], options[0]);
    s->before = 0.0;
    s->any = 0;
}

STEP bool step_trix_next(struct step_trix *s, const struct indicator_bar *bar, double out[])
{
    if (!ema_step(&s->ema[0], bar->close) || !ema_step(&s->ema[1], s->ema[0].value) ||
        !ema_step(&s->ema[2], s->ema[1].value))
        return false;
    double before = s->before;
    bool any = s->any != 0;
    s->before = s->ema[2].value;
    s->any = 1;
    if (any)
        out[0] = roc_value(s->before, before);
    return any;
}

/* Typical prices. */
struct step_cci {
    double period;
    struct ring window;
};

STEP size_t step_cci_cells(const double options[])
{
    return (size_t)options[0];
}

STEP void step_cci_start(struct step_cci *s, const double options[])
{
    s->period = options[0];
    ring_start(&s->window, options[0]);
}

STEP bool step_cci_next(struct step_cci *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1), mean, price = typical_price(bar->high, bar->low, bar->close);
    if (!ring_mean(&s->window, cells, price, &mean))
        return false;
    double deviation = 0.0;
    for (uint32_t age = s->window.length; age-- > 0;)
        deviation += fabs(ring_at(&s->window, cells, age) - mean);
    out[0] = cci_value(price, mean, deviation / s->period);
    return true;
}

/* Buying pressures and true ranges of the longest window, in this order. */
struct step_ultosc {
    struct ring pressure, range;
    uint32_t periods[3]; /* the shortest first */
    uint32_t any;        /* whether there was a bar */
    double before;       /* the last close */
};

STEP size_t step_ultosc_cells(const double options[])
{
    double longest = options[0] > options[1] ? options[0] : options[1];
    return 2 * (size_t)(options[2] > longest ? options[2] : longest);
}

STEP void step_ultosc_start(struct step_ultosc *s, const double options[])
{
    double longest = (double)(step_ultosc_cells(options) / 2);
    ring_start(&s->pressure, longest);
    ring_start(&s->range, longest);
    for (int i = 0; i < 3; i++) {
        uint32_t period = (uint32_t)options[i];
        int at = i;
        for (; at > 0 && s->periods[at - 1] > period; at--)
            s->periods[at] = s->periods[at - 1];
        s->periods[at] = period;
    }
    s->any = 0;
    s->before = 0.0;
}

STEP bool step_ultosc_next(struct step_ultosc *s, const struct indicator_bar *bar, double out[])
{
    double *pressures = (double *)(s + 1), *ranges = pressures + s->pressure.length, before = s->before;
    bool any = s->any != 0;
    s->before = bar->close;
    s->any = 1;
    if (!any)
        return false;
    ring_push(&s->pressure, pressures, buying_pressure(bar->low, bar->close, before));
    if (!ring_push(&s->range, ranges, true_range(bar->high, bar->low, before)))
        return false;
    double pressure[3], range[3];
    for (int i = 0; i < 3; i++) {
        pressure[i] = ring_sum_newest(&s->pressure, pressures, s->periods[i]);
        range[i] = ring_sum_newest(&s->range, ranges, s->periods[i]);
    }
    out[0] = ultosc_value(pressure, range);
    return true;
}

#endif
