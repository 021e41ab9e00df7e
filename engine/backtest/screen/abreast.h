/* The kernel abreast: a stretch's signs first, in bits of lanes, then its bars, sixteen sets side by side.
 * One source for every instruction set. */
#ifndef ENGINE_BACKTEST_SCREEN_ABREAST_H
#define ENGINE_BACKTEST_SCREEN_ABREAST_H

#include <string.h>

#include "engine/backtest/screen/kernel.h"

SCREEN_RULE lanes_vector screen_value(const float *values, bool all, size_t i, int lane)
{
    return all ? lanes_all(values[i]) : lanes_load(values + i * SCREEN_LANES + lane);
}

SCREEN_RULE lanes_vector screen_view_at(const struct screen_view *view, size_t i, int lane)
{
    return screen_value(view->values, view->all, i, lane);
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
    const lanes_vector least = lanes_load(g->rsi_low + lane), most = lanes_load(g->rsi_high + lane);
    unsigned mask = (1u << LANES_WIDE) - 1;
    for (size_t i = 0; i < n; i++) {
        lanes_vector rsi = screen_view_at(&of_rsi, i, lane), hist = screen_view_at(&of_hist, i, lane);
        struct screen_sides sides = {signs->up[i], signs->down[i]};
        unsigned known = settled ? mask : screen_known(g, first + i, lane);
        struct screen_conditions sign = screen_agree(sides, least, most, rsi, hist, known);
        signs->up[i] = (uint16_t)sign.up;
        signs->down[i] = (uint16_t)sign.down;
        signs->out[i] = (uint16_t)sign.out;
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

SCREEN_RULE struct screen_conditions screen_sign_at(const struct screen_signs *signs, size_t i,
                                                    const enum screen_rule rule)
{
    struct screen_conditions sign = {signs->up[i], signs->down[i], 0};
    if (rule == SCREEN_TRIPLE)
        sign.out = signs->out[i];
    return sign;
}

/* ---- the bars ---- */

/* The stretch, for LANES_WIDE lanes of the group from `lane` on. Between two changes of the signs nothing is
 * decided: bars are only valued, or left out where nothing is held. */
SCREEN_RULE void screen_walk(const struct screen_stretch *stretch, struct screen_group *g, int lane,
                             const enum screen_rule rule, const bool brackets, const bool all)
{
    const unsigned mask = (1u << LANES_WIDE) - 1, active = g->active >> lane & mask;
    const float *lows = stretch->bars->lows + stretch->from, *highs = stretch->bars->highs + stretch->from;
    const float *closes = stretch->closes;
    const size_t n = stretch->to - stretch->from;
    struct screen_signal signal = {g->enter >> lane & mask, g->leave >> lane & mask, g->below >> lane & mask};
    struct screen_position position = screen_position(g, lane);
    struct screen_sums sums = screen_begin(g, lane);
    struct screen_signs signs;
    screen_sign(stretch, g, lane, rule, &signs);
    for (size_t i = 0; i < n;) {
        unsigned trades = signal.enter | signal.leave;
        if (brackets)
            trades |= screen_hits(&position, lows[i], highs[i]);
        if (trades) {
            g->entering = signal.enter << lane;
            g->leaving = signal.leave << lane;
            screen_trades(stretch, i, g, lane, trades, brackets);
            screen_took(g, lane, trades, brackets, &position);
        }
        if (position.held | trades)
            screen_close(&sums, &position, closes[i], all);
        screen_signal(screen_sign_at(&signs, i, rule), position.held, rule, &signal);
        signal.enter &= active;
        if (rule != SCREEN_CROSS && signal.enter)
            signal.enter = screen_decide(stretch, stretch->from + i, g, lane, signal.enter, rule);
        i++;
        if (signal.enter | signal.leave)
            continue;
        size_t change = screen_change(&signs, i);
        if (!position.held)
            i = change;
        for (; i < change && !(brackets && screen_hits(&position, lows[i], highs[i])); i++)
            screen_close(&sums, &position, closes[i], all);
    }
    screen_end(g, lane, stretch->block, &sums, all);
    g->below = (g->below & ~(mask << lane)) | signal.below << lane;
    g->enter = (g->enter & ~(mask << lane)) | signal.enter << lane;
    g->leave = (g->leave & ~(mask << lane)) | signal.leave << lane;
}

/* The same before the first traded bar: what the rule remembers, and nothing else. */
SCREEN_RULE void screen_warm(const struct screen_stretch *stretch, struct screen_group *g, int lane,
                             const enum screen_rule rule)
{
    const unsigned mask = (1u << LANES_WIDE) - 1;
    struct screen_signal signal = {0, 0, g->below >> lane & mask};
    struct screen_signs signs;
    screen_sign(stretch, g, lane, rule, &signs);
    for (size_t i = 0; i < stretch->to - stretch->from; i++)
        screen_signal(screen_sign_at(&signs, i, rule), 0, rule, &signal);
    g->below = (g->below & ~(mask << lane)) | signal.below << lane;
}

/* All lanes of the group. */
SCREEN_RULE void screen_group_walk(const struct screen_stretch *stretch, struct screen_group *g, bool traded,
                                   const enum screen_rule rule, const bool brackets, const bool all)
{
    screen_refer(stretch, g);
    for (int lane = 0; lane < SCREEN_LANES; lane += LANES_WIDE)
        if (traded)
            screen_walk(stretch, g, lane, rule, brackets, all);
        else
            screen_warm(stretch, g, lane, rule);
}

#endif
