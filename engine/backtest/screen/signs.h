/* What a rule's indicators say of a stretch of bars, in bits of lanes, sixteen sets abreast: the same
 * whatever the accounts hold. */
#ifndef ENGINE_BACKTEST_SCREEN_SIGNS_H
#define ENGINE_BACKTEST_SCREEN_SIGNS_H

#include <string.h>

#include "engine/backtest/screen/account.h"

enum screen_rule {
    SCREEN_CROSS,      /* in on the cross upward, out below it */
    SCREEN_CROSS_RSI,  /* the same with a level of the RSI and a stop */
    SCREEN_CROSS_RISK, /* the same, sized by the stop, with a profit */
    SCREEN_TRIPLE,     /* averages, RSI and MACD agree */
    SCREEN_RULES,
};

/* Columns that a rule reads at each bar. The crosses read the RSI at entries only. */
enum screen_role { ROLE_FAST, ROLE_SLOW, ROLE_RSI, ROLE_HIST, SCREEN_ROLES };

/* A role's values in a stretch of bars: one for all lanes, or one each. */
struct screen_view {
    const float *values; /* [bar] or [bar][SCREEN_LANES], from the stretch's first bar on */
    bool all;
};

enum { SCREEN_STRETCH = 256 }; /* bars that one group walks before the next does: a tile of 16 KiB */

/* Bars [from, to) of `bars`, at most SCREEN_STRETCH, which the views begin at. */
struct screen_stretch {
    const struct screen_terms *terms;
    const struct screen_bars *bars;
    size_t from, to;
    int block;           /* of block_sum; -1: of none */
    double reference;    /* a close of these bars, in units */
    const float *closes; /* [to - from] less the reference */
    struct screen_view views[SCREEN_ROLES];
};

SCREEN_RULE lanes_vector screen_value(const float *values, bool all, size_t i, int lane)
{
    return all ? lanes_all(values[i]) : lanes_load(values + i * SCREEN_LANES + lane);
}

SCREEN_RULE lanes_vector screen_view_at(const struct screen_view *view, size_t i, int lane)
{
    return screen_value(view->values, view->all, i, lane);
}

/* Which of the lanes have all their indicators at a bar. */
SCREEN_RULE unsigned screen_known(const struct screen_group *g, size_t bar, int lane)
{
    unsigned bits = 0;
    if (bar >= g->warm)
        return (1u << LANES_WIDE) - 1;
    for (int k = 0; k < LANES_WIDE; k++)
        bits |= (unsigned)(bar >= g->first[lane + k]) << k;
    return bits;
}

/* Which average is the higher one, in bits. */
struct screen_sides {
    unsigned up, down;
};

/* The reference's mean at a bar, to the bit. */
SCREEN_RULE double screen_mean(const struct screen_bars *bars, size_t i, uint32_t period)
{
    const double *close = bars->real + i + 1 - period;
    double sum = 0;
    for (uint32_t k = 0; k < period; k++)
        sum += close[k];
    return sum / period;
}

/* Simple averages that are equal as floats: the last bit of the doubles decides, as it does exactly. */
SCREEN_APART struct screen_sides screen_ties(const struct screen_bars *bars, size_t i,
                                             const struct screen_group *g, int lane, unsigned bits)
{
    struct screen_sides sides = {0, 0};
    for (; bits != 0; bits &= bits - 1) {
        int k = __builtin_ctz(bits);
        uint32_t fast = bars->periods[g->column[ROLE_FAST][lane + k]];
        uint32_t slow = bars->periods[g->column[ROLE_SLOW][lane + k]];
        if (fast == 0 || slow == 0)
            continue;
        double a = screen_mean(bars, i, fast), b = screen_mean(bars, i, slow);
        sides.up |= (unsigned)(a > b) << k;
        sides.down |= (unsigned)(b > a) << k;
    }
    return sides;
}

/* What the indicators say of a stretch's bars, in bits of lanes: whatever the account holds. */
struct screen_signs {
    uint16_t up[SCREEN_STRETCH];   /* the condition to enter is met */
    uint16_t down[SCREEN_STRETCH]; /* it certainly is not */
    uint16_t out[SCREEN_STRETCH];  /* the condition to leave is; the crosses leave while they are below */
    uint8_t changes[SCREEN_STRETCH + 8]; /* not 0: the bar's signs are not the last bar's; and at the end */
};

/* The averages' sides. Returns whether any are equal. */
SCREEN_RULE bool screen_compare(const struct screen_view *views, size_t n, int lane, bool fast_all,
                                bool slow_all, struct screen_signs *signs)
{
    const float *fast = views[ROLE_FAST].values, *slow = views[ROLE_SLOW].values;
    unsigned mask = (1u << LANES_WIDE) - 1, both = mask;
    for (size_t i = 0; i < n; i++) {
        lanes_vector a = screen_value(fast, fast_all, i, lane), b = screen_value(slow, slow_all, i, lane);
        unsigned up = lanes_above(a, b), down = lanes_above(b, a);
        signs->up[i] = (uint16_t)up;
        signs->down[i] = (uint16_t)down;
        both &= up | down;
    }
    return both != mask;
}

SCREEN_RULE bool screen_compare_views(const struct screen_view *views, size_t n, int lane,
                                      struct screen_signs *signs)
{
    if (views[ROLE_FAST].all)
        return views[ROLE_SLOW].all ? screen_compare(views, n, lane, true, true, signs)
                                    : screen_compare(views, n, lane, true, false, signs);
    return views[ROLE_SLOW].all ? screen_compare(views, n, lane, false, true, signs)
                                : screen_compare(views, n, lane, false, false, signs);
}

/* Seldom: bars before all indicators have a value, and averages that are equal as floats. */
SCREEN_APART void screen_resolve(const struct screen_stretch *stretch, const struct screen_group *g, int lane,
                                 struct screen_signs *signs)
{
    size_t first = stretch->bars->first + stretch->from;
    for (size_t i = 0; i < stretch->to - stretch->from; i++) {
        unsigned known = screen_known(g, first + i, lane), sides = signs->up[i] | signs->down[i];
        struct screen_sides exact = {0, 0};
        if (known & ~sides)
            exact = screen_ties(stretch->bars, stretch->from + i, g, lane, known & ~sides);
        signs->up[i] = (uint16_t)((signs->up[i] & known) | exact.up);
        signs->down[i] = (uint16_t)((signs->down[i] & known) | exact.down);
    }
}

SCREEN_RULE void screen_triple(const struct screen_stretch *stretch, const struct screen_group *g, int lane,
                               bool settled, struct screen_signs *signs)
{
    const size_t n = stretch->to - stretch->from, first = stretch->bars->first + stretch->from;
    const struct screen_view of_rsi = stretch->views[ROLE_RSI], of_hist = stretch->views[ROLE_HIST];
    lanes_vector least = lanes_load(g->rsi_low + lane), most = lanes_load(g->rsi_high + lane),
                 zero = lanes_all(0);
    unsigned mask = (1u << LANES_WIDE) - 1;
    for (size_t i = 0; i < n; i++) {
        lanes_vector rsi = screen_view_at(&of_rsi, i, lane), hist = screen_view_at(&of_hist, i, lane);
        unsigned low = lanes_above(least, rsi), high = lanes_above(rsi, most), down = signs->down[i];
        unsigned falling = lanes_above(zero, hist), rising = lanes_above(hist, zero);
        unsigned known = settled ? mask : screen_known(g, first + i, lane);
        unsigned agree = signs->up[i] & ~low & ~high & rising & known;
        signs->up[i] = (uint16_t)agree;
        signs->down[i] = (uint16_t)(known & ~agree);
        signs->out[i] = (uint16_t)(((down & low) | (down & falling) | (low & falling)) & known);
    }
}

SCREEN_RULE void screen_sign(const struct screen_stretch *stretch, const struct screen_group *g, int lane,
                             const enum screen_rule rule, struct screen_signs *signs)
{
    const size_t n = stretch->to - stretch->from;
    const bool settled = stretch->bars->first + stretch->from >= g->warm;
    if (screen_compare_views(stretch->views, n, lane, signs) || !settled)
        screen_resolve(stretch, g, lane, signs);
    if (rule == SCREEN_TRIPLE)
        screen_triple(stretch, g, lane, settled, signs);
    for (size_t i = 1; i < n; i++)
        signs->changes[i] =
            (uint8_t)((signs->up[i] != signs->up[i - 1]) | (signs->down[i] != signs->down[i - 1]));
    for (size_t i = 1; rule == SCREEN_TRIPLE && i < n; i++)
        signs->changes[i] |= (uint8_t)(signs->out[i] != signs->out[i - 1]);
    for (size_t i = n; i < n + 8; i++)
        signs->changes[i] = 1;
}

/* The first bar from i on whose signs are others than the bar's before; the stretch's end. */
SCREEN_RULE size_t screen_change(const struct screen_signs *signs, size_t i)
{
    for (;; i += 8) {
        uint64_t eight;
        memcpy(&eight, signs->changes + i, sizeof eight);
        if (eight != 0)
            return i + (size_t)__builtin_ctzll(eight) / 8;
    }
}

#endif
