/* The engine of the candlestick patterns: a bar's body and shadows, and what counts as long, short, near or
 * equal: a share of the mean of a range over the bars before.
 *
 * Sources: the settings are TA-Lib's defaults (TA_CandleDefaultSettings); the names S. Nison's and G. L.
 * Morris's. An average is summed again for each bar, where TA-Lib keeps a running sum: on prices that are
 * whole numbers of a unit both are the same. */
#ifndef INDICATORS_GPU_STEP_CANDLE_H
#define INDICATORS_GPU_STEP_CANDLE_H

#include "indicators_gpu/step/window.h"

/* `at` says how many bars before the newest. */
STEP bool candle_white(const struct window_bars *b, int at)
{
    return b->close[-at] >= b->open[-at];
}

STEP bool candle_black(const struct window_bars *b, int at)
{
    return !candle_white(b, at);
}

/* 1 or -1. */
STEP double candle_color(const struct window_bars *b, int at)
{
    return candle_white(b, at) ? 1.0 : -1.0;
}

/* The body's upper and lower end. */
STEP double candle_top(const struct window_bars *b, int at)
{
    return candle_white(b, at) ? b->close[-at] : b->open[-at];
}

STEP double candle_bottom(const struct window_bars *b, int at)
{
    return candle_white(b, at) ? b->open[-at] : b->close[-at];
}

STEP double candle_body(const struct window_bars *b, int at)
{
    return fabs(b->close[-at] - b->open[-at]);
}

STEP double candle_upper(const struct window_bars *b, int at)
{
    return b->high[-at] - candle_top(b, at);
}

STEP double candle_lower(const struct window_bars *b, int at)
{
    return candle_bottom(b, at) - b->low[-at];
}

enum candle_range { CANDLE_BODY, CANDLE_HIGH_LOW, CANDLE_SHADOWS };

/* A share `factor` of the mean range over the `period` bars before; of the bar's own where period is 0. */
struct candle_setting {
    enum candle_range range;
    int period;
    double factor;
};

STEP double candle_range_at(const struct window_bars *b, enum candle_range range, int at)
{
    if (range == CANDLE_BODY)
        return candle_body(b, at);
    if (range == CANDLE_HIGH_LOW)
        return b->high[-at] - b->low[-at];
    return candle_upper(b, at) + candle_lower(b, at);
}

STEP double candle_limit(const struct window_bars *b, struct candle_setting setting, int at)
{
    double mean = 0.0;
    for (int back = setting.period; back > 0; back--)
        mean += candle_range_at(b, setting.range, at + back);
    mean = setting.period > 0 ? mean / setting.period : candle_range_at(b, setting.range, at);
    mean = setting.factor * mean;
    return setting.range == CANDLE_SHADOWS ? mean / 2.0 : mean; /* of one shadow */
}

/* What the bar `at` compares with. */
#define CANDLE_SETTING(name, range, period, factor) \
    STEP double candle_##name(const struct window_bars *b, int at) \
    { \
        const struct candle_setting setting = {range, period, factor}; \
        return candle_limit(b, setting, at); \
    }
CANDLE_SETTING(long_body, CANDLE_BODY, 10, 1.0)
CANDLE_SETTING(doji_body, CANDLE_HIGH_LOW, 10, 0.1)
CANDLE_SETTING(long_shadow, CANDLE_BODY, 0, 1.0)
CANDLE_SETTING(very_long_shadow, CANDLE_BODY, 0, 2.0)
CANDLE_SETTING(short_shadow, CANDLE_SHADOWS, 10, 1.0)
CANDLE_SETTING(no_shadow, CANDLE_HIGH_LOW, 10, 0.1) /* very short */
CANDLE_SETTING(near, CANDLE_HIGH_LOW, 5, 0.2)
CANDLE_SETTING(far, CANDLE_HIGH_LOW, 5, 0.6)
CANDLE_SETTING(equal, CANDLE_HIGH_LOW, 5, 0.05)
#undef CANDLE_SETTING

STEP bool candle_is_long(const struct window_bars *b, int at)
{
    return candle_body(b, at) > candle_long_body(b, at);
}

/* TA-Lib's BodyShort is its BodyLong: shorter than the mean. */
STEP bool candle_is_short(const struct window_bars *b, int at)
{
    return candle_body(b, at) < candle_long_body(b, at);
}

STEP bool candle_is_doji(const struct window_bars *b, int at)
{
    return candle_body(b, at) <= candle_doji_body(b, at);
}

STEP bool candle_no_upper(const struct window_bars *b, int at)
{
    return candle_upper(b, at) < candle_no_shadow(b, at);
}

STEP bool candle_no_lower(const struct window_bars *b, int at)
{
    return candle_lower(b, at) < candle_no_shadow(b, at);
}

STEP bool candle_is_marubozu(const struct window_bars *b, int at)
{
    return candle_is_long(b, at) && candle_no_upper(b, at) && candle_no_lower(b, at);
}

/* Gaps between the bodies of a bar and the one `than`, and between whole bars. */
STEP bool candle_gap_up(const struct window_bars *b, int at, int than)
{
    return candle_bottom(b, at) > candle_top(b, than);
}

STEP bool candle_gap_down(const struct window_bars *b, int at, int than)
{
    return candle_top(b, at) < candle_bottom(b, than);
}

STEP bool candle_bar_gap_up(const struct window_bars *b, int at, int than)
{
    return b->low[-at] > b->high[-than];
}

STEP bool candle_bar_gap_down(const struct window_bars *b, int at, int than)
{
    return b->high[-at] < b->low[-than];
}

/* Whether x is within what is equal, or near, at that bar of a price. */
STEP bool candle_equals(const struct window_bars *b, double x, double price, int at)
{
    double within = candle_equal(b, at);
    return x <= price + within && x >= price - within;
}

STEP bool candle_nears(const struct window_bars *b, double x, double low, double high, int at)
{
    double within = candle_near(b, at);
    return x >= low - within && x <= high + within;
}

/* Whether the bars from `first` back to `last` all have the color. */
STEP bool candle_all_white(const struct window_bars *b, int first, int last)
{
    bool all = true;
    for (int at = first; at >= last && all; at--)
        all = candle_white(b, at);
    return all;
}

STEP bool candle_all_black(const struct window_bars *b, int first, int last)
{
    bool all = true;
    for (int at = first; at >= last && all; at--)
        all = candle_black(b, at);
    return all;
}

#endif
