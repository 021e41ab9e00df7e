/* ENV_DAY_TRADE, ENV_REFERENCE: one step of one copy, for host and device; docs/environment.md, "Day-trade",
 * has the rules and the reward's formulas. One asset; a short is a negative quantity.
 *
 * Prices, quantities, bars held and peaks are float32, everything else is computed in double, each operation
 * as written here; with params.float32 money is rounded to float32 where it is stored. Where rounding makes a
 * purchase dearer than all the cash, 0 is left. */
#ifndef TRAINER_ENV_SCALAR_DAY_TRADE_H
#define TRAINER_ENV_SCALAR_DAY_TRADE_H

#include "trainer/env/finish.h"
#include "trainer/env/session.h"

#define ENV_DAY_YEAR_NS 31536000e9 /* 8760 hours, as for the accounts' interest */

/* An action's two numbers: -1..1 and 0..1. Levels go evenly from -action_span to it, and from 0 to 1. */
ENV_RULE float env_day_direction(const struct env_view *view, const struct env_step_io *io, size_t e)
{
    float direction = env_action(view, io, e, 0);
    return direction < -1 ? -1.0f : direction > 1 ? 1.0f : direction;
}

ENV_RULE float env_day_size(const struct env_view *view, const struct env_step_io *io, size_t e)
{
    float given = io->actions[e * io->copy_step + io->action_step];
    float size = view->params.actions == ENV_DISCRETE ? given / (float)(view->params.levels - 1) : given;
    return size < 0 ? 0.0f : size > 1 ? 1.0f : size;
}

/* A copy's account while it is stepped, and what its trades cost. */
struct env_day {
    size_t copy;
    double cash, fees, entry; /* entry: average price of the position, long or short, fees included */
    double realised;          /* by this step's closing trades, after fees */
    float qty, held, best, cool;
    int32_t buys, sells;
    double fee_buy, fee_sell;
    float dear, cheap; /* prices paid and received at this close, slippage included */
};

ENV_RULE float env_day_min(float a, float b)
{
    return a < b ? a : b;
}

ENV_RULE void env_day_report(const struct env_view *view, const struct env_day *day, float qty, float price,
                             double fee)
{
#ifndef __CUDA_ARCH__
    if (!view->traded)
        return;
    struct env_trade trade = {view->state.row[day->copy], 0, (double)qty, (double)price, fee, false};
    view->traded(view->traded_ctx, day->copy, &trade);
#else
    (void)view, (void)day, (void)qty, (void)price, (void)fee;
#endif
}

/* The position has ended. */
ENV_RULE void env_day_flat(const struct env_view *view, struct env_day *day)
{
    day->qty = 0;
    day->held = 0;
    day->best = 0;
    day->entry = 0;
    day->cool = (float)view->params.cooldown_bars;
}

/* Closes `q` of a long, or of a short as far as the cash pays for it. */
ENV_RULE void env_day_close(const struct env_view *view, struct env_day *day, float q)
{
    if (day->qty > 0) {
        double notional = (double)q * (double)day->cheap, got = notional * (1 - day->fee_sell);
        day->cash = day->cash + got;
        day->fees = day->fees + notional * day->fee_sell;
        day->realised = day->realised + (got - (double)q * day->entry);
        day->sells = day->sells + 1;
        day->qty = day->qty - q;
        env_day_report(view, day, -q, day->cheap, notional * day->fee_sell);
    } else {
        double each = (double)day->dear * (1 + day->fee_buy);
        if ((double)q * each > day->cash)
            q = env_day_min(q, (float)(day->cash / each * POLICY_MARGIN));
        if (!(q > 0))
            return;
        double notional = (double)q * (double)day->dear, paid = notional * (1 + day->fee_buy);
        day->cash = day->cash > paid ? day->cash - paid : 0;
        day->fees = day->fees + notional * day->fee_buy;
        day->realised = day->realised + ((double)q * day->entry - paid);
        day->buys = day->buys + 1;
        day->qty = day->qty + q;
        env_day_report(view, day, q, day->dear, notional * day->fee_buy);
    }
    day->held = 0;
    if (day->qty == 0)
        env_day_flat(view, day);
}

/* Increases a long by `q`, or a short by `q`. */
ENV_RULE void env_day_open(const struct env_view *view, struct env_day *day, float q, float close, bool buy)
{
    double size = (double)(buy ? day->qty : -day->qty), notional, worth;
    if (size == 0)
        day->best = close;
    if (buy) {
        notional = (double)q * (double)day->dear;
        worth = notional * (1 + day->fee_buy);
        day->cash = day->cash > worth ? day->cash - worth : 0;
        day->fees = day->fees + notional * day->fee_buy;
        day->buys = day->buys + 1;
        day->qty = day->qty + q;
        env_day_report(view, day, q, day->dear, notional * day->fee_buy);
    } else {
        notional = (double)q * (double)day->cheap;
        worth = notional * (1 - day->fee_sell);
        day->cash = day->cash + worth;
        day->fees = day->fees + notional * day->fee_sell;
        day->sells = day->sells + 1;
        day->qty = day->qty - q;
        env_day_report(view, day, -q, day->cheap, notional * day->fee_sell);
    }
    day->entry = (day->entry * size + worth) / (size + (double)q);
}

/* The most that a purchase may buy, or a short sale sell, at this close. */
ENV_RULE float env_day_room(const struct env_view *view, const struct env_day *day, double capital,
                            double equity, float close, bool buy)
{
    const struct env_params *p = &view->params;
    double price = (double)close, size = (double)(buy ? day->qty : -day->qty), most;
    if (buy) {
        double spare = day->cash - capital * p->min_cash_reserve;
        most = spare / ((double)day->dear * (1 + day->fee_buy)) * POLICY_MARGIN;
    } else {
        double spare = day->cash - p->collateral * size * price;
        double each = p->collateral * price - (double)day->cheap * (1 - day->fee_sell);
        most = each > 0 ? spare / each * POLICY_MARGIN : spare > 0 ? equity / price : 0;
    }
    if (p->max_position_pct > 0) {
        double room = (p->max_position_pct * equity - size * price) / price;
        most = room < most ? room : most;
    }
    return most > 0 ? (float)most : 0.0f;
}

/* Interest on a short, the trailing stop and the margin call. */
ENV_RULE void env_day_hold(const struct env_view *view, struct env_day *day, float close)
{
    const struct env_params *p = &view->params;
    const float stop = (float)p->trailing_stop_pct;
    if (day->qty < 0) {
        double borrowed = -(double)day->qty * (double)close;
        double interest = borrowed * (p->borrow_rate * ((double)view->interval_ns / ENV_DAY_YEAR_NS));
        interest = interest < day->cash ? interest : day->cash;
        day->cash = day->cash - interest;
        day->fees = day->fees + interest;
    }
    if (stop > 0 && day->qty != 0) {
        bool held = day->qty > 0;
        if (held ? close > day->best : close < day->best)
            day->best = close;
        if (held ? close < day->best * (1 - stop) : close > day->best * (1 + stop))
            env_day_close(view, day, held ? day->qty : -day->qty);
    }
    if (day->qty < 0) {
        double least = (1 + p->collateral) / 2 * -(double)day->qty * (double)close;
        if (day->cash < least)
            env_day_close(view, day, -day->qty);
    }
}

/* What the action trades: `direction` and `size` as given. */
ENV_RULE void env_day_order(const struct env_view *view, struct env_day *day, double capital, float close,
                            float direction, float size)
{
    const struct env_params *p = &view->params;
    const float least = (float)view->market.least[0], threshold = (float)p->threshold;
    double equity = day->cash + (double)day->qty * (double)close;
    float q = equity > 0 ? (float)((double)size * equity / (double)close) : 0.0f;
    bool buy = direction > threshold, sell = direction < -threshold, acts = (buy || sell) && q > least;
    if (acts && (buy ? day->qty < 0 : day->qty > 0)) {
        float part = env_day_min(q, buy ? -day->qty : day->qty);
        env_day_close(view, day, part);
        q = q - part;
    } else if (p->forced_exit_bars > 0 && day->held >= (float)p->forced_exit_bars) {
        env_day_close(view, day, (day->qty > 0 ? day->qty : -day->qty) * (float)p->forced_exit_pct);
    }
    bool against = buy ? day->qty < 0 : day->qty > 0;
    if (!acts || against || day->cool > 0 || !(q > least) || (sell && !p->shorts))
        return;
    q = env_day_min(q, env_day_room(view, day, capital, equity, close, buy));
    if (q >= least && q > 0)
        env_day_open(view, day, q, close, buy);
}

/* The terms of the reward, all in one money: see docs/environment.md. */
struct env_day_terms {
    double equity_before, equity, realised, capital;
    double carried; /* value at this close of the position held since the close before; negative: short */
};

ENV_RULE double env_day_reward(const struct env_view *view, size_t e, const struct env_day_terms *terms,
                               bool ends)
{
    const struct env_state *s = &view->state;
    const struct env_params *p = &view->params;
    const size_t step = (size_t)view->market.row_stride;
    int32_t row = s->row[e], back = row - s->first[e] < p->trend_bars ? row - s->first[e] : p->trend_bars;
    double before = terms->equity_before, equity = terms->equity;
    double close = (double)view->market.close[(size_t)row * step];
    double trend = close / (double)view->market.close[(size_t)(row - back) * step] - 1;
    double with = equity > 0 ? terms->carried / equity * trend : 0;
    double reward = p->weight_return * (before > 0 ? equity / before - 1 : 0);
    reward = reward + p->weight_step * (terms->realised / terms->capital);
    reward = reward + p->weight_trend * (with > 0 ? with : 0);
    if (ends && s->day_equity[e] > 0)
        reward = reward + p->weight_day * (equity / s->day_equity[e] - 1);
    return reward * p->norm_reward;
}

ENV_RULE struct env_day env_day_load(const struct env_view *view, size_t e, float close)
{
    const struct env_state *s = &view->state;
    struct env_day day;
    day.copy = e;
    day.cash = env_money_get(view, s->cash, e);
    day.fees = env_money_get(view, s->fees, e);
    day.entry = s->entry[e];
    day.realised = 0;
    day.qty = s->qty[e];
    day.held = day.qty != 0 ? s->held[e] + 1 : 0;
    day.best = s->best[e];
    day.cool = s->cool[e] > 0 ? s->cool[e] - 1 : 0;
    day.buys = s->buys[e];
    day.sells = s->sells[e];
    day.fee_buy = (double)s->fee_buy[e];
    day.fee_sell = (double)s->fee_sell[e];
    day.dear = close * (1 + s->slippage[e]);
    day.cheap = close * (1 - s->slippage[e]);
    return day;
}

ENV_RULE void env_day_store(const struct env_view *view, size_t e, const struct env_day *day)
{
    const struct env_state *s = &view->state;
    env_money_set(view, s->cash, e, day->cash);
    env_money_set(view, s->fees, e, day->fees);
    s->entry[e] = day->entry;
    s->qty[e] = day->qty;
    s->held[e] = day->held;
    s->best[e] = day->best;
    s->cool[e] = day->cool;
    s->buys[e] = day->buys;
    s->sells[e] = day->sells;
}

/* The step, of a copy that env_steps(). */
ENV_RULE void env_day_step(const struct env_view *view, const struct env_step_io *io, size_t e)
{
    const struct env_state *s = &view->state;
    int32_t row = s->row[e] + 1;
    s->row[e] = row;
    float close = view->market.close[(size_t)row * (size_t)view->market.row_stride];
    bool ends = (view->market.session[row] & ENV_ROW_ENDS) != 0;
    struct env_day day = env_day_load(view, e, close);
    float held = day.qty;
    double capital = env_money_get(view, s->capital, e);

    env_day_hold(view, &day, close);
    if (ends && day.qty != 0)
        env_day_close(view, &day, day.qty > 0 ? day.qty : -day.qty);
    if (!ends)
        env_day_order(view, &day, capital, close, env_day_direction(view, io, e), env_day_size(view, io, e));
    env_day_store(view, e, &day);

    double equity = env_money_get(view, s->cash, e) + (double)day.qty * (double)close;
    struct env_day_terms terms = {env_money_get(view, s->equity, e), equity, day.realised, capital,
                                  (double)held * (double)close};
    float reward = (float)env_day_reward(view, e, &terms, ends);
    env_money_set(view, s->equity, e, equity);
    env_money_set(view, s->benchmark, e, (double)s->bench[e] * (double)close);
    equity = env_money_get(view, s->equity, e);
    if (env_has_risk(&view->params))
        reward = env_risk(view, e, reward, 1.0f, terms.equity_before, equity);
    if (ends)
        s->day_equity[e] = equity;
    env_finish(view, io, e, ENV_REFERENCE, reward, equity, equity <= view->params.ruin * capital);
}

/* What the direction may do in the next step, assuming that its close equals the current one: bit 0: buy, bit
 * 1: sell; nothing where the session ends. */
ENV_RULE uint8_t env_day_mask(const struct env_view *view, size_t e)
{
    const struct env_state *s = &view->state;
    int32_t row = s->row[e];
    if (view->market.session[row + 1] & ENV_ROW_ENDS)
        return 0;
    float close = view->market.close[(size_t)row * (size_t)view->market.row_stride];
    struct env_day day = env_day_load(view, e, close);
    double equity = day.cash + (double)day.qty * (double)close, capital = env_money_get(view, s->capital, e);
    float least = (float)view->market.least[0], to_buy = 0, to_sell = 0;
    if (day.qty >= 0 && !(day.cool > 0))
        to_buy = env_day_room(view, &day, capital, equity, close, true);
    if (day.qty <= 0 && !(day.cool > 0) && view->params.shorts)
        to_sell = env_day_room(view, &day, capital, equity, close, false);
    bool buys = day.qty < 0 || (to_buy > 0 && to_buy >= least);
    bool sells = day.qty > 0 || (to_sell > 0 && to_sell >= least);
    return (uint8_t)((buys ? 1 : 0) | (sells ? 2 : 0));
}

#endif
