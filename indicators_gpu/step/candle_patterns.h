/* The candlestick patterns of candle_list.h: candle_NAME() gives 100 (bullish), -100 (bearish), 80 or -80
 * where TA-Lib does so for bodies that share an end, 200 or -200 for a confirmed hikkake, 0 for none. `pen`
 * is the penetration.
 *
 * Source: what TA-Lib's ta_CDL*.c recognise, stated again over bars seen from the newest: O[0] is its open,
 * O[-1] that of the bar before. */
#ifndef INDICATORS_GPU_STEP_CANDLE_PATTERNS_H
#define INDICATORS_GPU_STEP_CANDLE_PATTERNS_H

#include "indicators_gpu/step/candle.h"
#include "indicators_gpu/step/candle_list.h"

/* clang-format off */
#define PATTERN(name) STEP double candle_##name(const struct window_bars *b, double pen)
#define COLUMNS \
    const double *const O = b->open, *const H = b->high, *const L = b->low, *const C = b->close; \
    (void)O, (void)H, (void)L, (void)C, (void)pen
#define BULLISH_IF(...) return (__VA_ARGS__) ? 100.0 : 0.0
#define BEARISH_IF(...) return (__VA_ARGS__) ? -100.0 : 0.0
/* clang-format on */

PATTERN(2crows)
{
    COLUMNS;
    BEARISH_IF(candle_white(b, 2) && candle_is_long(b, 2) && candle_black(b, 1) && candle_gap_up(b, 1, 2) &&
               candle_black(b, 0) && O[0] < O[-1] && O[0] > C[-1] && C[0] > O[-2] && C[0] < C[-2]);
}

PATTERN(3blackcrows)
{
    COLUMNS;
    BEARISH_IF(candle_white(b, 3) && candle_all_black(b, 2, 0) && O[-1] < O[-2] && O[-1] > C[-2] &&
               O[0] < O[-1] && O[0] > C[-1] && H[-3] > C[-2] && C[-2] > C[-1] && C[-1] > C[0] &&
               candle_no_lower(b, 2) && candle_no_lower(b, 1) && candle_no_lower(b, 0));
}

/* A long body, and one within it that is not longer than the mean. */
STEP bool candle_inside(const struct window_bars *b, int outer, int inner)
{
    return candle_top(b, inner) < candle_top(b, outer) && candle_bottom(b, inner) > candle_bottom(b, outer);
}

PATTERN(3inside)
{
    COLUMNS;
    bool falls = candle_white(b, 2) && candle_black(b, 0) && C[0] < O[-2];
    bool rises = candle_black(b, 2) && candle_white(b, 0) && C[0] > O[-2];
    if (!(falls || rises) || !candle_inside(b, 2, 1) || !candle_is_long(b, 2) || candle_is_long(b, 1))
        return 0.0;
    return falls ? -100.0 : 100.0;
}

PATTERN(3linestrike)
{
    COLUMNS;
    double color = candle_color(b, 1);
    if (candle_color(b, 3) != color || candle_color(b, 2) != color || candle_color(b, 0) == color)
        return 0.0;
    bool strikes = color > 0.0 ? C[-1] > C[-2] && C[-2] > C[-3] && O[0] > C[-1] && C[0] < O[-3]
                               : C[-1] < C[-2] && C[-2] < C[-3] && O[0] < C[-1] && C[0] > O[-3];
    strikes = strikes && candle_nears(b, O[-2], candle_bottom(b, 3), candle_top(b, 3), 3) &&
              candle_nears(b, O[-1], candle_bottom(b, 2), candle_top(b, 2), 2);
    return strikes ? 100.0 * color : 0.0;
}

PATTERN(3outside)
{
    COLUMNS;
    if (candle_white(b, 1) && candle_black(b, 2) && C[-1] > O[-2] && O[-1] < C[-2] && C[0] > C[-1])
        return 100.0;
    BEARISH_IF(candle_black(b, 1) && candle_white(b, 2) && O[-1] > C[-2] && C[-1] < O[-2] && C[0] < C[-1]);
}

PATTERN(3starsinsouth)
{
    COLUMNS;
    BULLISH_IF(candle_all_black(b, 2, 0) && candle_is_long(b, 2) &&
               candle_lower(b, 2) > candle_long_shadow(b, 2) && candle_body(b, 1) < candle_body(b, 2) &&
               O[-1] > C[-2] && O[-1] <= H[-2] && L[-1] < C[-2] && L[-1] >= L[-2] &&
               candle_lower(b, 1) > candle_no_shadow(b, 1) && candle_is_short(b, 0) &&
               candle_no_lower(b, 0) && candle_no_upper(b, 0) && L[0] > L[-1] && H[0] < H[-1]);
}

/* Three white bars, each of which opens within the body before or near it, and closes higher. */
STEP bool candle_advance(const struct window_bars *b)
{
    const double *O = b->open, *C = b->close;
    return candle_all_white(b, 2, 0) && C[0] > C[-1] && C[-1] > C[-2] && O[-1] > O[-2] && O[0] > O[-1] &&
           O[-1] <= C[-2] + candle_near(b, 2) && O[0] <= C[-1] + candle_near(b, 1);
}

PATTERN(3whitesoldiers)
{
    COLUMNS;
    BULLISH_IF(candle_advance(b) && candle_no_upper(b, 2) && candle_no_upper(b, 1) && candle_no_upper(b, 0) &&
               candle_body(b, 1) > candle_body(b, 2) - candle_far(b, 2) &&
               candle_body(b, 0) > candle_body(b, 1) - candle_far(b, 1) &&
               candle_body(b, 0) > candle_long_body(b, 0));
}

PATTERN(abandonedbaby)
{
    COLUMNS;
    double into = candle_body(b, 2) * pen;
    bool falls = candle_white(b, 2) && candle_black(b, 0) && C[0] < C[-2] - into &&
                 candle_bar_gap_up(b, 1, 2) && candle_bar_gap_down(b, 0, 1);
    bool rises = candle_black(b, 2) && candle_white(b, 0) && C[0] > C[-2] + into &&
                 candle_bar_gap_down(b, 1, 2) && candle_bar_gap_up(b, 0, 1);
    if (!(falls || rises) || !candle_is_long(b, 2) || !candle_is_doji(b, 1) ||
        !(candle_body(b, 0) > candle_long_body(b, 0)))
        return 0.0;
    return falls ? -100.0 : 100.0;
}

/* The bodies shrink, or the last two have long upper shadows. */
STEP bool candle_weakens(const struct window_bars *b)
{
    double first = candle_body(b, 2), second = candle_body(b, 1), third = candle_body(b, 0);
    return (second < first - candle_far(b, 2) && third < second + candle_near(b, 1)) ||
           third < second - candle_far(b, 1) ||
           (third < second && second < first &&
            (candle_upper(b, 0) > candle_short_shadow(b, 0) ||
             candle_upper(b, 1) > candle_short_shadow(b, 1))) ||
           (third < second && candle_upper(b, 0) > candle_long_shadow(b, 0));
}

PATTERN(advanceblock)
{
    COLUMNS;
    BEARISH_IF(candle_advance(b) && candle_is_long(b, 2) && candle_upper(b, 2) < candle_short_shadow(b, 2) &&
               candle_weakens(b));
}

PATTERN(belthold)
{
    COLUMNS;
    bool white = candle_white(b, 0), open_end = white ? candle_no_lower(b, 0) : candle_no_upper(b, 0);
    return open_end && candle_is_long(b, 0) ? 100.0 * candle_color(b, 0) : 0.0;
}

PATTERN(breakaway)
{
    COLUMNS;
    double color = candle_color(b, 4);
    if (candle_color(b, 3) != color || candle_color(b, 1) != color || candle_color(b, 0) == color)
        return 0.0;
    bool breaks = color < 0.0 ? candle_gap_down(b, 3, 4) && H[-2] < H[-3] && L[-2] < L[-3] && H[-1] < H[-2] &&
                                    L[-1] < L[-2] && C[0] > O[-3] && C[0] < C[-4]
                              : candle_gap_up(b, 3, 4) && H[-2] > H[-3] && L[-2] > L[-3] && H[-1] > H[-2] &&
                                    L[-1] > L[-2] && C[0] < O[-3] && C[0] > C[-4];
    return breaks && candle_is_long(b, 4) ? -100.0 * color : 0.0;
}

PATTERN(closingmarubozu)
{
    COLUMNS;
    bool white = candle_white(b, 0), close_end = white ? candle_no_upper(b, 0) : candle_no_lower(b, 0);
    return close_end && candle_is_long(b, 0) ? 100.0 * candle_color(b, 0) : 0.0;
}

PATTERN(concealbabyswall)
{
    COLUMNS;
    BULLISH_IF(candle_all_black(b, 3, 0) && candle_gap_down(b, 1, 2) && H[-1] > C[-2] && H[0] > H[-1] &&
               L[0] < L[-1] && candle_no_lower(b, 3) && candle_no_upper(b, 3) && candle_no_lower(b, 2) &&
               candle_no_upper(b, 2) && candle_upper(b, 1) > candle_no_shadow(b, 1));
}

PATTERN(counterattack)
{
    COLUMNS;
    bool turns = candle_color(b, 1) != candle_color(b, 0) && candle_equals(b, C[0], C[-1], 1) &&
                 candle_is_long(b, 1) && candle_is_long(b, 0);
    return turns ? 100.0 * candle_color(b, 0) : 0.0;
}

PATTERN(darkcloudcover)
{
    COLUMNS;
    BEARISH_IF(candle_white(b, 1) && candle_black(b, 0) && O[0] > H[-1] && C[0] > O[-1] &&
               C[0] < C[-1] - candle_body(b, 1) * pen && candle_is_long(b, 1));
}

PATTERN(doji)
{
    COLUMNS;
    BULLISH_IF(candle_is_doji(b, 0));
}

PATTERN(dojistar)
{
    COLUMNS;
    bool gap = candle_white(b, 1) ? candle_gap_up(b, 0, 1) : candle_gap_down(b, 0, 1);
    return gap && candle_is_long(b, 1) && candle_is_doji(b, 0) ? -100.0 * candle_color(b, 1) : 0.0;
}

PATTERN(dragonflydoji)
{
    COLUMNS;
    BULLISH_IF(candle_is_doji(b, 0) && candle_no_upper(b, 0) && candle_lower(b, 0) > candle_no_shadow(b, 0));
}

PATTERN(engulfing)
{
    COLUMNS;
    double color = candle_color(b, 0), low = candle_bottom(b, 0), high = candle_top(b, 0);
    double inner_low = candle_bottom(b, 1), inner_high = candle_top(b, 1);
    if (candle_color(b, 1) == color || low > inner_low || high < inner_high ||
        (low == inner_low && high == inner_high))
        return 0.0;
    return color * (low != inner_low && high != inner_high ? 100.0 : 80.0);
}

/* A long white body, a star above it, and a black body into the first. */
STEP bool candle_evening(const struct window_bars *b, double pen)
{
    return candle_white(b, 2) && candle_gap_up(b, 1, 2) && candle_black(b, 0) &&
           b->close[0] < b->close[-2] - candle_body(b, 2) * pen && candle_is_long(b, 2) &&
           candle_body(b, 0) > candle_long_body(b, 0);
}

STEP bool candle_morning(const struct window_bars *b, double pen)
{
    return candle_black(b, 2) && candle_gap_down(b, 1, 2) && candle_white(b, 0) &&
           b->close[0] > b->close[-2] + candle_body(b, 2) * pen && candle_is_long(b, 2) &&
           candle_body(b, 0) > candle_long_body(b, 0);
}

PATTERN(eveningdojistar)
{
    COLUMNS;
    BEARISH_IF(candle_evening(b, pen) && candle_is_doji(b, 1));
}

PATTERN(eveningstar)
{
    COLUMNS;
    BEARISH_IF(candle_evening(b, pen) && !candle_is_long(b, 1));
}

PATTERN(gapsidesidewhite)
{
    COLUMNS;
    bool up = candle_gap_up(b, 1, 2) && candle_gap_up(b, 0, 2);
    bool down = candle_gap_down(b, 1, 2) && candle_gap_down(b, 0, 2);
    double size = candle_body(b, 1);
    if (!(up || down) || !candle_all_white(b, 1, 0) || !candle_nears(b, candle_body(b, 0), size, size, 1) ||
        !candle_equals(b, O[0], O[-1], 1))
        return 0.0;
    return up ? 100.0 : -100.0;
}

PATTERN(gravestonedoji)
{
    COLUMNS;
    BULLISH_IF(candle_is_doji(b, 0) && candle_no_lower(b, 0) && candle_upper(b, 0) > candle_no_shadow(b, 0));
}

STEP bool candle_hammer_shape(const struct window_bars *b)
{
    return candle_lower(b, 0) > candle_long_shadow(b, 0) && candle_is_short(b, 0) && candle_no_upper(b, 0);
}

PATTERN(hammer)
{
    COLUMNS;
    BULLISH_IF(candle_hammer_shape(b) && candle_bottom(b, 0) <= L[-1] + candle_near(b, 1));
}

PATTERN(hangingman)
{
    COLUMNS;
    BEARISH_IF(candle_hammer_shape(b) && candle_bottom(b, 0) >= H[-1] - candle_near(b, 1));
}

/* The first body holds the second one: 100, 80 where they share an end, against the first one's color. */
STEP double candle_holds(const struct window_bars *b)
{
    double against = -candle_color(b, 1);
    if (candle_inside(b, 1, 0))
        return 100.0 * against;
    bool holds = candle_top(b, 0) <= candle_top(b, 1) && candle_bottom(b, 0) >= candle_bottom(b, 1);
    return holds ? 80.0 * against : 0.0;
}

PATTERN(harami)
{
    COLUMNS;
    return candle_is_long(b, 1) && !candle_is_long(b, 0) ? candle_holds(b) : 0.0;
}

PATTERN(haramicross)
{
    COLUMNS;
    return candle_is_long(b, 1) && candle_is_doji(b, 0) ? candle_holds(b) : 0.0;
}

PATTERN(highwave)
{
    COLUMNS;
    double shadow = candle_very_long_shadow(b, 0);
    bool waves = candle_upper(b, 0) > shadow && candle_lower(b, 0) > shadow && candle_is_short(b, 0);
    return waves ? 100.0 * candle_color(b, 0) : 0.0;
}

/* An inside bar and a bar that leaves it: 1 where that one falls, -1 where it rises, 0 for none. `modified`:
 * another inside bar before, in which it closed near the end that is left. */
STEP double candle_trap(const struct window_bars *b, int at, bool modified)
{
    const double *H = b->high - at, *L = b->low - at, *C = b->close - at;
    if (!(H[-1] < H[-2] && L[-1] > L[-2]))
        return 0.0;
    bool falls = H[0] < H[-1] && L[0] < L[-1];
    bool rises = H[0] > H[-1] && L[0] > L[-1];
    if (modified) {
        if (!(falls || rises) || !(H[-2] < H[-3] && L[-2] > L[-3]))
            return 0.0;
        falls = falls && C[-2] <= L[-2] + candle_near(b, at + 2);
        rises = rises && C[-2] >= H[-2] - candle_near(b, at + 2);
    }
    return falls ? 1.0 : rises ? -1.0 : 0.0;
}

/* A trap, or its confirmation: the first close beyond the inside bar within three bars. */
STEP double candle_trap_or_close(const struct window_bars *b, bool modified)
{
    double now = candle_trap(b, 0, modified);
    if (now != 0.0)
        return 100.0 * now;
    for (int age = 1; age <= 3; age++) {
        double trap = candle_trap(b, age, modified);
        if (trap == 0.0)
            continue;
        for (int at = age - 1; at >= 0; at--) {
            double close = b->close[-at];
            if (trap > 0.0 ? close > b->high[-(age + 1)] : close < b->low[-(age + 1)])
                return at == 0 ? 200.0 * trap : 0.0;
        }
        return 0.0;
    }
    return 0.0;
}

PATTERN(hikkake)
{
    COLUMNS;
    return candle_trap_or_close(b, false);
}

PATTERN(hikkakemod)
{
    COLUMNS;
    return candle_trap_or_close(b, true);
}

PATTERN(homingpigeon)
{
    COLUMNS;
    BULLISH_IF(candle_all_black(b, 1, 0) && O[0] < O[-1] && C[0] > C[-1] && candle_is_long(b, 1) &&
               !candle_is_long(b, 0));
}

PATTERN(identical3crows)
{
    COLUMNS;
    BEARISH_IF(candle_all_black(b, 2, 0) && C[-2] > C[-1] && C[-1] > C[0] &&
               candle_equals(b, O[-1], C[-2], 2) && candle_equals(b, O[0], C[-1], 1) &&
               candle_no_lower(b, 2) && candle_no_lower(b, 1) && candle_no_lower(b, 0));
}

/* A white bar that opens below the long black one before. */
STEP bool candle_rebound(const struct window_bars *b)
{
    return candle_black(b, 1) && candle_white(b, 0) && b->open[0] < b->low[-1] && candle_is_long(b, 1);
}

PATTERN(inneck)
{
    COLUMNS;
    BEARISH_IF(candle_rebound(b) && C[0] >= C[-1] && C[0] <= C[-1] + candle_equal(b, 1));
}

PATTERN(invertedhammer)
{
    COLUMNS;
    BULLISH_IF(candle_upper(b, 0) > candle_long_shadow(b, 0) && candle_gap_down(b, 0, 1) &&
               candle_is_short(b, 0) && candle_no_lower(b, 0));
}

STEP bool candle_kicks(const struct window_bars *b)
{
    return candle_color(b, 1) != candle_color(b, 0) &&
           (candle_black(b, 1) ? candle_bar_gap_up(b, 0, 1) : candle_bar_gap_down(b, 0, 1)) &&
           candle_is_marubozu(b, 1) && candle_is_marubozu(b, 0);
}

PATTERN(kicking)
{
    COLUMNS;
    return candle_kicks(b) ? 100.0 * candle_color(b, 0) : 0.0;
}

PATTERN(kickingbylength)
{
    COLUMNS;
    int longer = candle_body(b, 0) > candle_body(b, 1) ? 0 : 1;
    return candle_kicks(b) ? 100.0 * candle_color(b, longer) : 0.0;
}

PATTERN(ladderbottom)
{
    COLUMNS;
    BULLISH_IF(candle_all_black(b, 4, 1) && O[-4] > O[-3] && O[-3] > O[-2] && C[-4] > C[-3] &&
               C[-3] > C[-2] && candle_white(b, 0) && O[0] > O[-1] && C[0] > H[-1] &&
               candle_upper(b, 1) > candle_no_shadow(b, 1));
}

PATTERN(longleggeddoji)
{
    COLUMNS;
    double shadow = candle_long_shadow(b, 0);
    BULLISH_IF((candle_lower(b, 0) > shadow || candle_upper(b, 0) > shadow) && candle_is_doji(b, 0));
}

STEP bool candle_short_shadows(const struct window_bars *b)
{
    double shadow = candle_short_shadow(b, 0);
    return candle_upper(b, 0) < shadow && candle_lower(b, 0) < shadow;
}

PATTERN(longline)
{
    COLUMNS;
    return candle_is_long(b, 0) && candle_short_shadows(b) ? 100.0 * candle_color(b, 0) : 0.0;
}

PATTERN(marubozu)
{
    COLUMNS;
    return candle_is_marubozu(b, 0) ? 100.0 * candle_color(b, 0) : 0.0;
}

PATTERN(matchinglow)
{
    COLUMNS;
    BULLISH_IF(candle_all_black(b, 1, 0) && candle_equals(b, C[0], C[-1], 1));
}

PATTERN(mathold)
{
    COLUMNS;
    double depth = C[-4] - candle_body(b, 4) * pen;
    BULLISH_IF(candle_white(b, 4) && candle_black(b, 3) && candle_white(b, 0) && candle_gap_up(b, 3, 4) &&
               candle_bottom(b, 2) < C[-4] && candle_bottom(b, 1) < C[-4] && candle_bottom(b, 2) > depth &&
               candle_bottom(b, 1) > depth && candle_top(b, 2) < O[-3] &&
               candle_top(b, 1) < candle_top(b, 2) && O[0] > C[-1] && C[0] > H[-3] && C[0] > H[-2] &&
               C[0] > H[-1] && candle_is_long(b, 4) && candle_is_short(b, 3) && candle_is_short(b, 2) &&
               candle_is_short(b, 1));
}

PATTERN(morningdojistar)
{
    COLUMNS;
    BULLISH_IF(candle_morning(b, pen) && candle_is_doji(b, 1));
}

PATTERN(morningstar)
{
    COLUMNS;
    BULLISH_IF(candle_morning(b, pen) && !candle_is_long(b, 1));
}

PATTERN(onneck)
{
    COLUMNS;
    BEARISH_IF(candle_rebound(b) && candle_equals(b, C[0], L[-1], 1));
}

PATTERN(piercing)
{
    COLUMNS;
    BULLISH_IF(candle_rebound(b) && C[0] < O[-1] && C[0] > C[-1] + candle_body(b, 1) * 0.5 &&
               candle_is_long(b, 0));
}

PATTERN(rickshawman)
{
    COLUMNS;
    double shadow = candle_long_shadow(b, 0), middle = L[0] + (H[0] - L[0]) / 2.0, near = candle_near(b, 0);
    BULLISH_IF(candle_lower(b, 0) > shadow && candle_upper(b, 0) > shadow && candle_is_doji(b, 0) &&
               candle_bottom(b, 0) <= middle + near && candle_top(b, 0) >= middle - near);
}

PATTERN(risefall3methods)
{
    COLUMNS;
    double color = candle_color(b, 4);
    bool rests = candle_color(b, 0) == color;
    for (int at = 1; at <= 3 && rests; at++)
        rests = candle_color(b, at) != color && candle_bottom(b, at) < H[-4] && candle_top(b, at) > L[-4] &&
                candle_is_short(b, at);
    bool resumes = rests && C[-2] * color < C[-3] * color && C[-1] * color < C[-2] * color &&
                   O[0] * color > C[-1] * color && C[0] * color > C[-4] * color && candle_is_long(b, 4) &&
                   candle_is_long(b, 0);
    return resumes ? 100.0 * color : 0.0;
}

PATTERN(separatinglines)
{
    COLUMNS;
    bool separates = candle_color(b, 1) != candle_color(b, 0) && candle_equals(b, O[0], O[-1], 1);
    return separates ? candle_belthold(b, pen) : 0.0;
}

PATTERN(shootingstar)
{
    COLUMNS;
    BEARISH_IF(candle_upper(b, 0) > candle_long_shadow(b, 0) && candle_gap_up(b, 0, 1) &&
               candle_is_short(b, 0) && candle_no_lower(b, 0));
}

PATTERN(shortline)
{
    COLUMNS;
    return candle_is_short(b, 0) && candle_short_shadows(b) ? 100.0 * candle_color(b, 0) : 0.0;
}

PATTERN(spinningtop)
{
    COLUMNS;
    double body = candle_body(b, 0);
    bool spins = candle_upper(b, 0) > body && candle_lower(b, 0) > body && candle_is_short(b, 0);
    return spins ? 100.0 * candle_color(b, 0) : 0.0;
}

PATTERN(stalledpattern)
{
    COLUMNS;
    BEARISH_IF(candle_all_white(b, 2, 0) && C[0] > C[-1] && C[-1] > C[-2] && O[-1] > O[-2] &&
               O[-1] <= C[-2] + candle_near(b, 2) && candle_is_short(b, 0) &&
               O[0] >= C[-1] - candle_body(b, 0) - candle_near(b, 1) && candle_is_long(b, 2) &&
               candle_is_long(b, 1) && candle_no_upper(b, 1));
}

PATTERN(sticksandwich)
{
    COLUMNS;
    BULLISH_IF(candle_black(b, 2) && candle_white(b, 1) && candle_black(b, 0) && L[-1] > C[-2] &&
               candle_equals(b, C[0], C[-2], 2));
}

PATTERN(takuri)
{
    COLUMNS;
    BULLISH_IF(candle_lower(b, 0) > candle_very_long_shadow(b, 0) && candle_is_doji(b, 0) &&
               candle_no_upper(b, 0));
}

PATTERN(tasukigap)
{
    COLUMNS;
    double color = candle_color(b, 1), other = fabs(candle_body(b, 1) - candle_body(b, 0));
    if (candle_color(b, 0) == color)
        return 0.0;
    bool fills = color > 0.0 ? candle_gap_up(b, 1, 2) && O[0] < C[-1] && O[0] > O[-1] && C[0] < O[-1] &&
                                   C[0] > candle_top(b, 2)
                             : candle_gap_down(b, 1, 2) && O[0] < O[-1] && O[0] > C[-1] && C[0] > O[-1] &&
                                   C[0] < candle_bottom(b, 2);
    return fills && other < candle_near(b, 1) ? 100.0 * color : 0.0;
}

PATTERN(thrusting)
{
    COLUMNS;
    BEARISH_IF(candle_rebound(b) && C[0] > C[-1] + candle_equal(b, 1) &&
               C[0] <= C[-1] + candle_body(b, 1) * 0.5);
}

PATTERN(tristar)
{
    COLUMNS;
    double doji = candle_doji_body(b, 2); /* the first bar's, for all three */
    if (candle_body(b, 2) > doji || candle_body(b, 1) > doji || candle_body(b, 0) > doji)
        return 0.0;
    if (candle_gap_up(b, 1, 2) && candle_top(b, 0) < candle_top(b, 1))
        return -100.0;
    BULLISH_IF(candle_gap_down(b, 1, 2) && candle_bottom(b, 0) > candle_bottom(b, 1));
}

PATTERN(unique3river)
{
    COLUMNS;
    BULLISH_IF(candle_all_black(b, 2, 1) && C[-1] > C[-2] && O[-1] <= O[-2] && L[-1] < L[-2] &&
               candle_white(b, 0) && O[0] > L[-1] && candle_is_long(b, 2) && candle_is_short(b, 0));
}

PATTERN(upsidegap2crows)
{
    COLUMNS;
    BEARISH_IF(candle_white(b, 2) && candle_all_black(b, 1, 0) && candle_gap_up(b, 1, 2) && O[0] > O[-1] &&
               C[0] < C[-1] && C[0] > C[-2] && candle_is_long(b, 2) && !candle_is_long(b, 1));
}

PATTERN(xsidegap3methods)
{
    COLUMNS;
    double color = candle_color(b, 2);
    bool fills = candle_color(b, 1) == color && candle_color(b, 0) != color && O[0] < candle_top(b, 1) &&
                 O[0] > candle_bottom(b, 1) && C[0] < candle_top(b, 2) && C[0] > candle_bottom(b, 2) &&
                 (color > 0.0 ? candle_gap_up(b, 1, 2) : candle_gap_down(b, 1, 2));
    return fills ? 100.0 * color : 0.0;
}

#undef PATTERN
#undef COLUMNS
#undef BULLISH_IF
#undef BEARISH_IF

/* As step/window.h wants them. */
#define CANDLE_WINDOW(name, bars, penetration, summary) \
    enum { \
        cdl##name##_inputs = INDICATOR_OPEN | INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE, \
        cdl##name##_outputs = 1 \
    }; \
    STEP size_t cdl##name##_back(const double options[]) \
    { \
        (void)options; \
        return bars; \
    } \
    STEP void cdl##name##_of(const struct window_bars *b, const double options[], double out[]) \
    { \
        out[0] = candle_##name(b, options[0]); \
    }
CANDLES(CANDLE_WINDOW)
#undef CANDLE_WINDOW

#endif
