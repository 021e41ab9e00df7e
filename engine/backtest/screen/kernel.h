/* What the screen's kernels do at a bar: value the accounts and add their returns to the sums; let the rule
 * decide; hand a set that trades to account.h. The loop over the bars is abreast.h's for sixteen sets side by
 * side, and cuda/blocks.h's for a device's thread. */
#ifndef ENGINE_BACKTEST_SCREEN_KERNEL_H
#define ENGINE_BACKTEST_SCREEN_KERNEL_H

#include "engine/backtest/screen/signs.h"

/* ---- what an entry is: seldom, one set at a time ---- */

/* A stop or a profit as the order's price; false: it is none. */
SCREEN_RULE bool screen_price(const struct screen_terms *terms, double number, bool up, double *ret)
{
    double units = nearbyint(number * terms->price_units);
    if (!(units > 0))
        return false;
    units = up ? screen_ceil(terms, units) : screen_floor(terms, units);
    *ret = units;
    return units > 0 && units >= terms->price_min;
}

SCREEN_RULE bool screen_brackets(const struct screen_terms *terms, struct screen_group *g, int lane,
                                 double stop, double target)
{
    g->accounts[lane].want_stop = 0;
    g->accounts[lane].want_target = INFINITY;
    if (stop > 0 && !screen_price(terms, stop, false, &g->accounts[lane].want_stop))
        return false;
    return !(target > 0) || screen_price(terms, target, true, &g->accounts[lane].want_target);
}

/* sizing_enter() */
SCREEN_RULE bool screen_risked(const struct screen_terms *terms, struct screen_group *g, int lane,
                               double close, double atr)
{
    double stop = close - g->accounts[lane].stop_atr * atr, distance = close - stop;
    double target = g->accounts[lane].profit_atr > 0 ? close + g->accounts[lane].profit_atr * atr : 0;
    if (!(stop > 0) || !(distance > 0) || (target != 0 && !(target > close)))
        return false;
    double fraction = g->accounts[lane].risk * close / distance;
    g->accounts[lane].want =
        fraction < g->accounts[lane].fraction_max ? fraction : g->accounts[lane].fraction_max;
    return screen_brackets(terms, g, lane, stop, target);
}

SCREEN_RULE bool screen_enters(const struct screen_stretch *stretch, size_t i, struct screen_group *g,
                               int lane, const enum screen_rule rule)
{
    const struct screen_bars *bars = stretch->bars;
    double close = bars->close[i] / stretch->terms->price_units;
    double atr = bars->wide[g->accounts[lane].atr * bars->wide_step + i];
    if (rule != SCREEN_TRIPLE) {
        double rsi =
            (double)bars->columns[g->column[ROLE_RSI][lane] * bars->column_step + i * bars->bar_step];
        if (!(rsi <= g->accounts[lane].rsi_max))
            return false;
    }
    if (rule != SCREEN_CROSS_RSI)
        return screen_risked(stretch->terms, g, lane, close, atr);
    double stop = g->accounts[lane].stop_atr > 0 ? close - g->accounts[lane].stop_atr * atr : 0;
    g->accounts[lane].want = g->accounts[lane].fraction;
    return screen_brackets(stretch->terms, g, lane, stop, 0);
}

/* Bits of those that do enter. */
SCREEN_APART unsigned screen_decide(const struct screen_stretch *stretch, size_t i, struct screen_group *g,
                                    int lane, unsigned bits, const enum screen_rule rule)
{
    unsigned enters = 0;
    for (; bits != 0; bits &= bits - 1) {
        int k = lanes_first(bits);
        enters |= (unsigned)screen_enters(stretch, i, g, lane + k, rule) << k;
    }
    return enters;
}

/* ---- what is decided ---- */

/* Pending orders, and what is remembered: it was below, or did not agree. */
struct screen_signal {
    unsigned enter, leave, below;
};

SCREEN_RULE void screen_signal(struct screen_conditions sign, unsigned held, const enum screen_rule rule,
                               struct screen_signal *signal)
{
    signal->enter = sign.up & signal->below & ~held;
    signal->below = (signal->below & ~sign.up) | sign.down;
    signal->leave = (rule == SCREEN_TRIPLE ? sign.out : signal->below) & held;
}

/* ---- the bars ---- */

/* Trades of the lanes whose bits are set. Apart: the registers of the loop are not its. */
SCREEN_APART void screen_trades(const struct screen_stretch *stretch, size_t i, struct screen_group *g,
                                int lane, unsigned bits, const bool brackets)
{
    for (; bits != 0; bits &= bits - 1)
        screen_trade(stretch->terms, stretch->bars, stretch->from + i, g, lane + lanes_first(bits), brackets);
}

/* What a stretch, which is short, changes: floats, added to the doubles at its end. */
struct screen_sums {
    lanes_vector r, r2, r3, r4, down2, loss;
    lanes_vector profit, inverse, top, top_inverse, trough;
};

SCREEN_RULE void screen_fold(double *to, lanes_vector x)
{
    float values[LANES_WIDE];
    lanes_store(values, x);
    for (int k = 0; k < LANES_WIDE; k++)
        to[k] += (double)values[k];
}

SCREEN_RULE struct screen_sums screen_begin(const struct screen_group *g, int lane)
{
    lanes_vector zero = lanes_all(0);
    struct screen_sums sums = {zero,
                               zero,
                               zero,
                               zero,
                               zero,
                               zero,
                               zero,
                               lanes_all(1),
                               lanes_load(g->top + lane),
                               lanes_inverse(lanes_load(g->top + lane) + lanes_all(1)),
                               lanes_load(g->trough + lane)};
    return sums;
}

SCREEN_RULE void screen_end(struct screen_group *g, int lane, int block, const struct screen_sums *sums,
                            const bool all)
{
    float top[LANES_WIDE];
    lanes_store(top, sums->top);
    for (int k = lane; k < lane + LANES_WIDE; k++)
        if (top[k - lane] > g->top[k])
            g->peak[k] = g->equity[k] + g->equity[k] * (double)top[k - lane];
    lanes_store(g->trough + lane, sums->trough);
    screen_fold(&g->sums[SUM_R][lane], sums->r);
    screen_fold(&g->sums[SUM_R2][lane], sums->r2);
    if (!all)
        return;
    screen_fold(&g->sums[SUM_R3][lane], sums->r3);
    screen_fold(&g->sums[SUM_R4][lane], sums->r4);
    screen_fold(&g->sums[SUM_DOWN2][lane], sums->down2);
    screen_fold(&g->sums[SUM_LOSS][lane], sums->loss);
    if (block < 0)
        return;
    screen_fold(&g->block_sum[block][lane], sums->r);
    screen_fold(&g->block_square[block][lane], sums->r2);
}

/* The account at a close. `all`: every sum; else those of mean and variance, and the drawdown. */
SCREEN_RULE void screen_add(struct screen_sums *sums, lanes_vector profit, const bool all)
{
    lanes_vector zero = lanes_all(0), r = (profit - sums->profit) * sums->inverse, r2 = r * r;
    sums->profit = profit;
    sums->inverse = lanes_inverse(profit + lanes_all(1));
    sums->r = sums->r + r;
    sums->r2 = sums->r2 + r2;
    if (all) {
        lanes_vector down = lanes_min(r, zero);
        sums->r3 = lanes_fma(r2, r, sums->r3);
        sums->r4 = lanes_fma(r2, r2, sums->r4);
        sums->down2 = lanes_fma(down, down, sums->down2);
        sums->loss = sums->loss + down;
    }
    sums->top = lanes_max(sums->top, profit);
    sums->top_inverse = lanes_min(sums->top_inverse, sums->inverse);
    sums->trough = lanes_min(sums->trough, (profit - sums->top) * sums->top_inverse);
}

/* What trades change of the loop's registers. */
struct screen_position {
    lanes_vector qty, base, stop, target;
    unsigned held;
};

SCREEN_RULE struct screen_position screen_position(const struct screen_group *g, int lane)
{
    struct screen_position position = {lanes_load(g->qty + lane), lanes_load(g->base + lane),
                                       lanes_load(g->stop + lane), lanes_load(g->target + lane), 0};
    position.held = g->held >> lane & ((1u << LANES_WIDE) - 1);
    return position;
}

/* Lane by lane: what was stored as floats cannot be loaded as a vector at once. */
SCREEN_RULE void screen_took(const struct screen_group *g, int lane, unsigned trades, const bool brackets,
                             struct screen_position *position)
{
    for (; trades != 0; trades &= trades - 1) {
        int k = lanes_first(trades);
        position->qty = lanes_put(position->qty, k, g->qty[lane + k]);
        position->base = lanes_put(position->base, k, g->base[lane + k]);
        if (!brackets)
            continue;
        position->stop = lanes_put(position->stop, k, g->stop[lane + k]);
        position->target = lanes_put(position->target, k, g->target[lane + k]);
    }
    position->held = g->held >> lane & ((1u << LANES_WIDE) - 1);
}

SCREEN_RULE unsigned screen_hits(const struct screen_position *position, float low, float high)
{
    return lanes_reach(position->stop, lanes_all(low)) | lanes_reach(lanes_all(high), position->target);
}

SCREEN_RULE void screen_close(struct screen_sums *sums, const struct screen_position *position, float close,
                              const bool all)
{
    screen_add(sums, lanes_fma(position->qty, lanes_all(close), position->base), all);
}

/* Profits are counted from the equity before the stretch and from its price, so that floats keep the digits
 * of small ones. */
SCREEN_RULE void screen_refer(const struct screen_stretch *stretch, struct screen_group *g)
{
    g->reference = stretch->reference;
    for (int lane = 0; lane < SCREEN_LANES; lane++) {
        double held = g->units[lane] * stretch->terms->per_unit;
        double equity = g->money[lane] + held * stretch->reference, share = 1 / equity;
        g->equity[lane] = equity;
        g->share[lane] = share;
        g->qty[lane] = (float)(held * share);
        g->base[lane] = 0;
        g->top[lane] = (float)((g->peak[lane] - equity) * share);
    }
}

#endif
