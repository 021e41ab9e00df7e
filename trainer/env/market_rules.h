/* One copy of the environment on the paper exchange's bar model: what a closed bar and its orders do to cash
 * and lots. Orders come from strategy/policy/rules.h, fills from exchange/bar_rules.h and fill_rules.h; here
 * they meet the columns of struct env_state. All numbers are whole: prices in the symbol's units, quanta,
 * money units.
 *
 * A copy has one reserve a waiting purchase and one protective stop an asset. A bar of an asset is missing
 * where its prices are 0: then its order keeps waiting with its reserve, its stop stays, and nothing is
 * decided for it. Money or lots at POLICY_EXACT_MAX or above are not exact any more: the episode ends, and no
 * worth is above ENV_WORTH_MAX, which leaves a seller that much after the highest fee.
 *
 * Known limitation: a position that a stop ends at the open, and that a waiting purchase opens again in the
 * same bar, counts as one that was sold in part. */
#ifndef TRAINER_ENV_MARKET_RULES_H
#define TRAINER_ENV_MARKET_RULES_H

#include "exchange/bar_rules.h"
#include "trainer/env/view.h"

#define ENV_WORTH_MAX (2 * POLICY_EXACT_MAX)

/* What a copy pays: whole millionths. */
struct env_costs {
    int32_t buy_e6, sell_e6, slippage_e6;
};

/* What the bars of one row move. */
struct env_account {
    double cash, reserved; /* reserved: of all waiting purchases */
    double fees;
    int32_t buys, sells;
    bool exact; /* cash has been below POLICY_EXACT_MAX all the time */
};

ENV_RULE double *env_money(void *column)
{
    return (double *)column; /* ENV_MARKET's money is double */
}

ENV_RULE int32_t env_share_e6(double share)
{
    return (int32_t)(share * 1e6 + 0.5);
}

ENV_RULE struct env_costs env_market_costs(const struct env_view *view, size_t copy)
{
    const struct env_state *state = &view->state;
    struct env_costs costs = {env_share_e6(state->fee_buy[copy]), env_share_e6(state->fee_sell[copy]),
                              env_share_e6(state->slippage[copy])};
    return costs;
}

/* Open, high, low, close; the close is 0 where the bar is missing. */
ENV_RULE const double *env_market_prices(const struct env_view *view, int32_t row, int32_t asset)
{
    return view->market.bars + ((size_t)row * (size_t)view->market.n + (size_t)asset) * 4;
}

/* floor(price * lots / divisor), but ENV_WORTH_MAX where that is POLICY_EXACT_MAX or more. */
ENV_RULE double env_market_worth(const struct policy_symbol *symbol, double price, double lots)
{
    if (price * symbol->per_divisor * lots >= POLICY_EXACT_MAX)
        return ENV_WORTH_MAX;
    return (double)fill_notional(ORDER_SELL, (int64_t)price, (int64_t)lots, symbol->divisor);
}

/* What a copy has at the last closes: cash and all that is held; the benchmark; is all of it exact? Cash and
 * worths are not above the equity. */
struct env_worths {
    double equity, benchmark;
    bool exact;
};

ENV_RULE struct env_worths env_market_worths(const struct env_view *view, size_t copy)
{
    const struct env_state *state = &view->state;
    struct env_worths worths = {env_money(state->cash)[copy], 0, true};
    ENV_ROLLED
    for (int32_t i = 0; i < state->n; i++) {
        size_t at = (size_t)i * state->stride + copy;
        double closed = state->closed[at], lots = state->lots[at];
        worths.equity += env_market_worth(&view->market.symbols[i], closed, lots);
        worths.benchmark += state->m_bench[at] * closed;
        worths.exact = worths.exact && lots < POLICY_EXACT_MAX;
    }
    worths.exact = worths.exact && worths.equity < POLICY_EXACT_MAX;
    return worths;
}

ENV_RULE double env_market_benchmark(const struct env_view *view, size_t copy)
{
    const struct env_state *state = &view->state;
    double benchmark = 0;
    ENV_ROLLED
    for (int32_t i = 0; i < state->n; i++) {
        size_t at = (size_t)i * state->stride + copy;
        benchmark += state->m_bench[at] * state->closed[at];
    }
    return benchmark;
}

ENV_APART double env_market_reserved(const struct env_view *view, size_t copy)
{
    const struct env_state *state = &view->state;
    double reserved = 0;
    ENV_FOUR
    for (int32_t i = 0; i < state->n; i++)
        reserved += state->reserved[(size_t)i * state->stride + copy];
    return reserved;
}

/* The asset's close in price units in the first row with a bar of it, from `row` on in steps of `step`; 0
 * where there is none. */
ENV_RULE double env_market_close(const struct env_view *view, int32_t row, int32_t asset, int32_t step)
{
    double close = 0;
    ENV_ROLLED
    for (int64_t r = row; r >= 0 && r < (int64_t)view->market.rows && !(close > 0); r += step)
        close = env_market_prices(view, (int32_t)r, asset)[3];
    return close;
}

/* Its close at `row`: the last one up to there, else the first after. */
ENV_RULE double env_market_last_close(const struct env_view *view, int32_t row, int32_t asset)
{
    double close = env_market_close(view, row, asset, -1);
    return close > 0 ? close : env_market_close(view, row, asset, 1);
}

/* Its first close of an episode that begins in `row`; of an asset that has none from there on, the last. */
ENV_RULE double env_market_first_close(const struct env_view *view, int32_t row, int32_t asset)
{
    double close = env_market_close(view, row, asset, 1);
    return close > 0 ? close : env_market_close(view, row, asset, -1);
}

/* The currency in money units, whole. */
ENV_RULE double env_market_money(const struct env_view *view, double currency)
{
    return (double)(int64_t)(currency * view->market.symbols[0].money_units + 0.5);
}

/* Begins an episode: capital (money units), costs, row and first are set; the rest is set here. Where an
 * asset's first bar is yet to come, the action and the benchmark are computed with that bar's close. */
ENV_RULE void env_market_begin(const struct env_view *view, size_t copy)
{
    const struct env_state *state = &view->state;
    struct env_costs costs = env_market_costs(view, copy);
    struct policy_rules rules = {};
    rules.norm_action = view->params.norm_action;
    rules.capital = env_money(state->capital)[copy];
    ENV_ROLLED
    for (int32_t i = 0; i < state->n; i++) {
        size_t at = (size_t)i * state->stride + copy;
        double close = env_market_first_close(view, state->first[copy], i);
        state->m_scale[at] = policy_scale(&rules, &view->market.symbols[i], close);
        state->m_bench[at] = policy_divided(policy_divided(rules.capital, state->n),
                                            close * (1 + policy_divided(costs.buy_e6, 1e6)));
        state->closed[at] = env_market_last_close(view, state->row[copy], i);
        state->lots[at] = state->m_qty[at] = state->m_held[at] = state->m_cool[at] = 0;
        state->m_peak[at] = state->stop[at] = state->stop_qty[at] = 0;
        state->waiting[at] = state->reserved[at] = 0;
        if (state->m_cost)
            state->m_cost[at] = state->m_taken[at] = 0;
    }
    if (state->all_peak) {
        state->all_peak[copy] = state->all_until[copy] = state->all_day[copy] = 0;
        state->all_opening[copy] = state->all_lost[copy] = 0;
    }
    env_money(state->cash)[copy] = rules.capital;
    env_money(state->equity)[copy] = rules.capital;
    env_money(state->benchmark)[copy] = env_market_benchmark(view, copy);
    env_money(state->fees)[copy] = 0;
}

/* ---- Fills ---- */

ENV_RULE void env_market_report(const struct env_view *view, size_t copy, int32_t asset, double qty,
                                double price, double fee, bool at_open)
{
#ifndef __CUDA_ARCH__
    const struct policy_symbol *symbol = &view->market.symbols[asset];
    if (!view->traded)
        return;
    struct env_trade trade = {view->state.row[copy],     asset,
                              qty / symbol->qty_units,   price / symbol->price_units,
                              fee / symbol->money_units, at_open};
    view->traded(view->traded_ctx, copy, &trade);
#else
    (void)view, (void)copy, (void)asset, (void)qty, (void)price, (void)fee, (void)at_open;
#endif
}

/* What a part of a position has cost, as engine/position.c takes it off. */
ENV_RULE double env_market_cost_of(double cost, double part, double of)
{
    return part < of ? (double)(int64_t)fill_quotient((__int128)(int64_t)cost * (int64_t)part, (int64_t)of)
                     : cost;
}

/* Sells `qty`, at most the position, where the market is at `price`; a flat position has no stop. */
ENV_RULE void env_market_sell(const struct env_view *view, size_t copy, int32_t asset,
                              const struct env_costs *costs, struct env_account *account, double qty,
                              int64_t shown, bool at_open)
{
    const struct env_state *state = &view->state;
    const struct policy_symbol *symbol = &view->market.symbols[asset];
    size_t at = (size_t)asset * state->stride + copy;
    qty = policy_min(qty, state->lots[at]);
    if (!(qty > 0))
        return;
    int64_t price = fill_slipped(ORDER_SELL, shown, costs->slippage_e6, symbol->price_min, symbol->tick, 0);
    double notional = env_market_worth(symbol, (double)price, qty);
    double fee = (double)fill_fee((int64_t)notional, costs->sell_e6);
    account->cash += notional - fee;
    account->exact = account->exact && account->cash < POLICY_EXACT_MAX;
    account->fees += fee;
    account->sells++;
    if (state->m_cost)
        state->m_cost[at] -= env_market_cost_of(state->m_cost[at], qty, state->lots[at]);
    state->lots[at] -= qty;
    if (!(state->lots[at] > 0))
        state->stop[at] = state->stop_qty[at] = 0;
    env_market_report(view, copy, asset, -qty, (double)price, fee, at_open);
}

/* Buys as much of `qty` as cash outside other purchases' reserves pays for; nothing where cash is not
 * exact. */
ENV_RULE void env_market_buy(const struct env_view *view, size_t copy, int32_t asset,
                             const struct env_costs *costs, struct env_account *account, double qty,
                             int64_t shown)
{
    const struct env_state *state = &view->state;
    const struct policy_symbol *symbol = &view->market.symbols[asset];
    size_t at = (size_t)asset * state->stride + copy;
    int64_t price = fill_slipped(ORDER_BUY, shown, costs->slippage_e6, symbol->price_min, symbol->tick, 0);
    int64_t bought = fill_affordable((int64_t)(account->cash - account->reserved), price, (int64_t)qty,
                                     symbol->divisor, costs->buy_e6, &symbol->lot);
    if (bought <= 0 || !account->exact)
        return;
    int64_t notional = fill_notional(ORDER_BUY, price, bought, symbol->divisor);
    double fee = (double)fill_fee(notional, costs->buy_e6);
    account->cash -= (double)notional + fee;
    account->fees += fee;
    account->buys++;
    if (state->m_cost)
        state->m_cost[at] += (double)notional;
    state->lots[at] += (double)bought;
    env_market_report(view, copy, asset, (double)bought, (double)price, fee, true);
}

/* What an asset's bar does, in this order: the stop, being older, then the market order at the open; then the
 * stop inside. */
enum env_moment { ENV_STOP_AT_OPEN, ENV_ORDER, ENV_STOP_INSIDE, ENV_MOMENTS };

struct env_sale {
    double qty; /* 0: none */
    int64_t price;
};

/* The stop's sale, if the bar reaches it in this step of the bar. */
ENV_RULE struct env_sale env_market_stop(const struct env_state *state, size_t at,
                                         const struct bar_prices *bar, enum bar_step step)
{
    struct bar_order order = {ORDER_SELL, ORDER_STOP, 0, (int64_t)state->stop[at], false, false};
    struct bar_effect effect = bar_rule(&order, bar, step);
    struct env_sale sale = {0, effect.price};
    if (effect.act != BAR_TAKES)
        return sale;
    sale.qty = state->stop_qty[at];
    state->stop[at] = state->stop_qty[at] = 0;
    return sale;
}

/* The order that waits: a purchase is made here. */
ENV_RULE struct env_sale env_market_waited(const struct env_view *view, size_t copy, int32_t asset,
                                           const struct env_costs *costs, struct env_account *account,
                                           int64_t open)
{
    const struct env_state *state = &view->state;
    size_t at = (size_t)asset * state->stride + copy;
    double waiting = state->waiting[at];
    struct env_sale sale = {waiting < 0 ? -waiting : 0, open};
    account->reserved -= state->reserved[at];
    state->waiting[at] = state->reserved[at] = 0;
    if (waiting > 0)
        env_market_buy(view, copy, asset, costs, account, waiting, open);
    return sale;
}

/* One moment of an asset's bar. All sales are made in one place. */
ENV_RULE void env_market_moment(const struct env_view *view, size_t copy, int32_t asset,
                                const struct env_costs *costs, struct env_account *account,
                                const struct bar_prices *bar, enum env_moment moment)
{
    size_t at = (size_t)asset * view->state.stride + copy;
    enum bar_step step = moment == ENV_STOP_AT_OPEN ? BAR_AT_OPEN : BAR_STOPS;
    struct env_sale sale = moment == ENV_ORDER
                               ? env_market_waited(view, copy, asset, costs, account, bar->open)
                               : env_market_stop(&view->state, at, bar, step);
    if (sale.qty > 0)
        env_market_sell(view, copy, asset, costs, account, sale.qty, sale.price, moment != ENV_STOP_INSIDE);
}

ENV_RULE struct bar_prices env_market_whole(const double *prices)
{
    struct bar_prices bar = {(int64_t)prices[0], (int64_t)prices[1], (int64_t)prices[2], (int64_t)prices[3]};
    return bar;
}

ENV_RULE void env_market_bar(const struct env_view *view, size_t copy, int32_t asset,
                             const struct env_costs *costs, struct env_account *account, const double *prices)
{
    const struct env_state *state = &view->state;
    struct bar_prices bar = env_market_whole(prices);
    ENV_ROLLED
    for (int moment = 0; moment < ENV_MOMENTS; moment++)
        env_market_moment(view, copy, asset, costs, account, &bar, (enum env_moment)moment);
    state->closed[(size_t)asset * state->stride + copy] = prices[3];
}

/* At the close of a row that ends a session of a market with a calendar: a purchase that no bar of it has
 * filled ends with it, as an account's entries do. */
ENV_RULE void env_market_over(const struct env_view *view, size_t copy)
{
    const struct env_state *state = &view->state;
    int32_t row = state->row[copy];
    if (!view->market.open_ns || !(view->market.session[row] & ENV_ROW_ENDS))
        return;
    ENV_ROLLED
    for (int32_t i = 0; i < state->n; i++) {
        size_t at = (size_t)i * state->stride + copy;
        if (!(env_market_prices(view, row, i)[3] > 0) && state->waiting[at] > 0)
            state->waiting[at] = state->reserved[at] = 0;
    }
}

/* Applies the row that the copy has come to: each asset's bar, where there is one. Was all exact? */
ENV_RULE bool env_market_bars(const struct env_view *view, size_t copy, const struct env_costs *costs)
{
    const struct env_state *state = &view->state;
    struct env_account account = {env_money(state->cash)[copy], env_market_reserved(view, copy),
                                  env_money(state->fees)[copy], state->buys[copy],
                                  state->sells[copy],           true};
    ENV_ROLLED
    for (int32_t i = 0; i < state->n; i++) {
        const double *prices = env_market_prices(view, state->row[copy], i);
        if (prices[3] > 0)
            env_market_bar(view, copy, i, costs, &account, prices);
    }
    env_money(state->cash)[copy] = account.cash;
    env_money(state->fees)[copy] = account.fees;
    state->buys[copy] = account.buys;
    state->sells[copy] = account.sells;
    return account.exact;
}

#endif
