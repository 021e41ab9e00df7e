/* Trend, one bar at a time. See step/dispatch.h for a row's functions. */
#ifndef INDICATORS_GPU_STEP_TREND_H
#define INDICATORS_GPU_STEP_TREND_H

#include <stdalign.h>

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/directional.h"
#include "indicators_gpu/step/extremes.h"

struct step_aroon {
    double factor; /* of a bar */
    struct ring ring;
};

STEP size_t step_aroon_cells(const double options[])
{
    return range_cells((size_t)options[0] + 1);
}

STEP void step_aroon_start(struct step_aroon *s, const double options[])
{
    s->factor = 100.0 / options[0];
    ring_start(&s->ring, options[0] + 1.0);
}

STEP bool step_aroon_next(struct step_aroon *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1);
    if (!range_push(&s->ring, cells, bar))
        return false;
    const double *lows = range_lows(&s->ring, cells);
    double high = bar->high, low = bar->low;
    uint32_t since_high = 0, since_low = 0, period = s->ring.length - 1;
    for (uint32_t age = 1; age <= period; age++) {
        double h = ring_at(&s->ring, cells, age), l = ring_at(&s->ring, lows, age);
        if (h > high) {
            high = h;
            since_high = age;
        }
        if (l < low) {
            low = l;
            since_low = age;
        }
    }
    out[0] = s->factor * (double)(period - since_low);
    out[1] = s->factor * (double)(period - since_high);
    return true;
}

struct step_sar {
    double step, maximum;
    double value; /* the next bar's, unless that turns it */
    double extreme, factor;
    double high, low; /* the last bar's */
    uint32_t rising;
    uint32_t seen; /* bars, up to 2 */
};

STEP size_t step_sar_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_sar_start(struct step_sar *s, const double options[])
{
    s->maximum = options[1];
    s->step = options[0] > options[1] ? options[1] : options[0];
    s->value = s->extreme = s->factor = s->high = s->low = 0.0;
    s->rising = s->seen = 0;
}

/* Not below, or not above, either of two bars' prices. */
STEP double sar_not_below(double value, double a, double b)
{
    double top = value < a ? a : value;
    return top < b ? b : top;
}

STEP double sar_not_above(double value, double a, double b)
{
    double bottom = value > a ? a : value;
    return bottom > b ? b : bottom;
}

STEP void sar_begin(struct step_sar *s, double high, double low)
{
    double up = high - s->high, down = s->low - low;
    s->rising = !(down > 0.0 && down > up);
    s->value = s->rising ? s->low : s->high;
    s->extreme = s->rising ? high : low;
    s->factor = s->step;
    s->high = high;
    s->low = low;
}

STEP bool step_sar_next(struct step_sar *s, const struct indicator_bar *bar, double out[])
{
    double high = bar->high, low = bar->low;
    if (s->seen < 2) {
        if (s->seen++ == 0) {
            s->high = high;
            s->low = low;
            return false;
        }
        sar_begin(s, high, low);
    }

    bool was_rising = s->rising != 0;
    bool turns = was_rising ? low <= s->value : high >= s->value;
    if (turns) {
        s->rising = !was_rising;
        s->value =
            was_rising ? sar_not_below(s->extreme, s->high, high) : sar_not_above(s->extreme, s->low, low);
        s->extreme = was_rising ? low : high;
        s->factor = s->step;
    } else if (was_rising ? high > s->extreme : low < s->extreme) {
        s->extreme = was_rising ? high : low;
        s->factor += s->step;
        if (s->factor > s->maximum)
            s->factor = s->maximum;
    }
    out[0] = s->value;
    s->value = s->value + s->factor * (s->extreme - s->value);
    s->value = s->rising ? sar_not_above(s->value, s->low, low) : sar_not_below(s->value, s->high, high);
    s->high = high;
    s->low = low;
    return true;
}

struct step_supertrend {
    double multiplier;
    struct atr_state atr;
    double upper, lower; /* the bands after the last bar */
    uint32_t rising;
    uint32_t started;
};

STEP size_t step_supertrend_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_supertrend_start(struct step_supertrend *s, const double options[])
{
    s->multiplier = options[1];
    atr_start(&s->atr, options[0]);
    s->upper = s->lower = 0.0;
    s->rising = 1;
    s->started = 0;
}

STEP bool step_supertrend_next(struct step_supertrend *s, const struct indicator_bar *bar, double out[])
{
    double before = s->atr.before, atr;
    if (!atr_step(&s->atr, bar->high, bar->low, bar->close, &atr))
        return false;
    double middle = (bar->high + bar->low) / 2.0, width = s->multiplier * atr;
    double upper = middle + width, lower = middle - width;
    if (s->started) {
        if (!(upper < s->upper || before > s->upper))
            upper = s->upper;
        if (!(lower > s->lower || before < s->lower))
            lower = s->lower;
        s->rising = s->rising ? !(bar->close < lower) : bar->close > upper;
    }
    s->started = 1;
    s->upper = upper;
    s->lower = lower;
    out[0] = s->rising ? lower : upper;
    out[1] = s->rising ? 1.0 : -1.0;
    return true;
}

struct step_ichimoku {
    uint32_t tenkan, kijun, senkou, displacement;
    alignas(double) struct ring ring; /* the longest period and the displacement */
};

/* Bars that the first output needs. */
STEP double ichimoku_bars(const double options[])
{
    double longest = options[0] > options[1] ? options[0] : options[1];
    return (options[2] > longest ? options[2] : longest) + options[3];
}

STEP size_t step_ichimoku_cells(const double options[])
{
    return range_cells((size_t)ichimoku_bars(options));
}

STEP void step_ichimoku_start(struct step_ichimoku *s, const double options[])
{
    s->tenkan = (uint32_t)options[0];
    s->kijun = (uint32_t)options[1];
    s->senkou = (uint32_t)options[2];
    s->displacement = (uint32_t)options[3];
    ring_start(&s->ring, ichimoku_bars(options));
}

STEP bool step_ichimoku_next(struct step_ichimoku *s, const struct indicator_bar *bar, double out[])
{
    const struct ring *r = &s->ring;
    double *cells = (double *)(s + 1);
    if (!range_push(&s->ring, cells, bar))
        return false;
    out[0] = range_middle(r, cells, 0, s->tenkan);
    out[1] = range_middle(r, cells, 0, s->kijun);
    out[2] = (range_middle(r, cells, s->displacement, s->tenkan) +
              range_middle(r, cells, s->displacement, s->kijun)) /
             2.0;
    out[3] = range_middle(r, cells, s->displacement, s->senkou);
    return true;
}

struct step_heikin_ashi {
    double open, close; /* the last candle's */
    uint32_t started;
};

STEP size_t step_heikin_ashi_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_heikin_ashi_start(struct step_heikin_ashi *s, const double options[])
{
    (void)options;
    s->open = s->close = 0.0;
    s->started = 0;
}

STEP bool step_heikin_ashi_next(struct step_heikin_ashi *s, const struct indicator_bar *bar, double out[])
{
    double open = s->started ? (s->open + s->close) / 2.0 : (bar->open + bar->close) / 2.0;
    double close = (bar->open + bar->high + bar->low + bar->close) / 4.0;
    double body_top = open > close ? open : close, body_bottom = open < close ? open : close;
    s->started = 1;
    s->open = out[0] = open;
    out[1] = bar->high > body_top ? bar->high : body_top;
    out[2] = bar->low < body_bottom ? bar->low : body_bottom;
    s->close = out[3] = close;
    return true;
}

#endif
