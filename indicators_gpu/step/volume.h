/* Volume, one bar at a time. See step/dispatch.h for a row's functions.
 *
 * Sources: TA-Lib's definitions (MFI, OBV, AD, ADOSC); Quong and Soudack for MFI, Granville for OBV, Chaikin
 * for AD and its oscillator. VWAP is our own: see docs/indicators/volume.md. */
#ifndef INDICATORS_GPU_STEP_VOLUME_H
#define INDICATORS_GPU_STEP_VOLUME_H

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/momentum.h"

enum { SESSION_S = 86400 };

/* Typical price times volume, with the sign of the price's change; 0 when only rounding changed it. */
STEP double money_flow(double price, double before, double volume)
{
    double change = price - before;
    if (within_rounding(change, fabs(price) + fabs(before)))
        return 0.0;
    return change < 0.0 ? -(price * volume) : price * volume;
}

STEP double mfi_value(double inflow, double outflow)
{
    double sum = inflow + outflow;
    return sum > 0.0 ? 100.0 * (inflow / sum) : 0.0;
}

/* One bar's term of the accumulation line: its volume, times -1 for a close at the low to 1 at the high. */
STEP double accumulation(double high, double low, double close, double volume)
{
    double range = high - low;
    return range > 0.0 ? ((close - low) - (high - close)) / range * volume : 0.0;
}

/* Of the session that began `start_s` after some midnight UTC. */
STEP double session_of(double time, double start_s)
{
    return floor((time - start_s) / SESSION_S);
}

/* A session begins on a whole second. */
STEP double session_start_s(double hours)
{
    return floor(hours * 3600.0 + 0.5);
}

/* Money flows with their signs. */
struct step_mfi {
    double before; /* the last typical price */
    struct ring window;
    uint32_t any; /* whether there was a bar */
};

STEP size_t step_mfi_cells(const double options[])
{
    return (size_t)options[0];
}

STEP void step_mfi_start(struct step_mfi *s, const double options[])
{
    ring_start(&s->window, options[0]);
    s->before = 0.0;
    s->any = 0;
}

STEP bool step_mfi_next(struct step_mfi *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1), before = s->before;
    bool any = s->any != 0;
    s->before = typical_price(bar->high, bar->low, bar->close);
    s->any = 1;
    if (!any || !ring_push(&s->window, cells, money_flow(s->before, before, bar->volume)))
        return false;
    double inflow = 0.0, outflow = 0.0;
    for (uint32_t age = s->window.length; age-- > 0;) {
        double flow = ring_at(&s->window, cells, age);
        if (flow > 0.0)
            inflow += flow;
        else
            outflow -= flow;
    }
    out[0] = mfi_value(inflow, outflow);
    return true;
}

struct step_obv {
    struct line_state line;
};

STEP size_t step_obv_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_obv_start(struct step_obv *s, const double options[])
{
    (void)options;
    line_start(&s->line);
}

STEP bool step_obv_next(struct step_obv *s, const struct indicator_bar *bar, double out[])
{
    if (!s->line.any || bar->close > s->line.before)
        s->line.value += bar->volume;
    else if (bar->close < s->line.before)
        s->line.value -= bar->volume;
    s->line.before = bar->close;
    s->line.any = 1;
    out[0] = s->line.value;
    return true;
}

struct step_ad {
    double value;
};

STEP size_t step_ad_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_ad_start(struct step_ad *s, const double options[])
{
    (void)options;
    s->value = 0.0;
}

STEP bool step_ad_next(struct step_ad *s, const struct indicator_bar *bar, double out[])
{
    s->value += accumulation(bar->high, bar->low, bar->close, bar->volume);
    out[0] = s->value;
    return true;
}

struct step_adosc {
    double line, fast, slow; /* accumulation and its two averages */
    double fast_k, slow_k;
    uint32_t length; /* the longer period */
    uint32_t seen;   /* bars, up to length */
};

STEP size_t step_adosc_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_adosc_start(struct step_adosc *s, const double options[])
{
    s->line = s->fast = s->slow = 0.0;
    s->fast_k = ema_factor(options[0]);
    s->slow_k = ema_factor(options[1]);
    s->length = (uint32_t)(options[0] > options[1] ? options[0] : options[1]);
    s->seen = 0;
}

STEP bool step_adosc_next(struct step_adosc *s, const struct indicator_bar *bar, double out[])
{
    s->line += accumulation(bar->high, bar->low, bar->close, bar->volume);
    if (s->seen == 0) {
        s->fast = s->slow = s->line;
    } else {
        s->fast = ema_next(s->fast, s->line, s->fast_k);
        s->slow = ema_next(s->slow, s->line, s->slow_k);
    }
    if (s->seen < s->length && ++s->seen < s->length)
        return false;
    out[0] = s->fast - s->slow;
    return true;
}

struct step_vwap {
    double start_s;
    double session, flow, volume; /* the session's number, its typical prices times volumes, its volume */
    uint64_t any;                 /* whether there was a bar */
};

STEP size_t step_vwap_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_vwap_start(struct step_vwap *s, const double options[])
{
    s->start_s = session_start_s(options[0]);
    s->session = s->flow = s->volume = 0.0;
    s->any = 0;
}

STEP bool step_vwap_next(struct step_vwap *s, const struct indicator_bar *bar, double out[])
{
    double price = typical_price(bar->high, bar->low, bar->close);
    double session = session_of(bar->time, s->start_s);
    if (!s->any || session != s->session)
        s->flow = s->volume = 0.0;
    s->session = session;
    s->any = 1;
    s->flow += price * bar->volume;
    s->volume += bar->volume;
    out[0] = s->volume > 0.0 ? s->flow / s->volume : price;
    return true;
}

#endif
