/* A step of one copy on the paper exchange, ENV_PORTFOLIO:
 *
 * 1. At the close of row t: equity, and what is free of reserves. With limits, where any asset's bar is
 *    there: policy_watch_all(). For each asset in order whose bar is there: policy_watch(), policy_decide(),
 *    with limits policy_decide_within(); its order waits for the asset's next bar.
 *    Where row t ends a session of a calendar: env_market_over().
 * 2. t += 1. For each asset in order whose bar is there: env_market_bar().
 * 3. Equity and benchmark at the last closes, then what all episodes have: finish.h.
 *
 * An asset's order never waits where its bar is there: the bar before which it was given has filled it. */
#ifndef TRAINER_ENV_SCALAR_MARKET_H
#define TRAINER_ENV_SCALAR_MARKET_H

#include "strategy/policy/limit_rules.h"
#include "trainer/env/finish.h"
#include "trainer/env/market_rules.h"

ENV_RULE struct policy_rules env_market_policy(const struct env_view *view, size_t copy,
                                               const struct env_costs *costs)
{
    const struct env_params *params = &view->params;
    struct policy_rules rules;
    rules.norm_action = params->norm_action;
    rules.trailing_stop = params->trailing_stop_pct;
    rules.max_position = params->max_position_pct;
    rules.min_cash = params->min_cash_reserve;
    rules.exit_bars = params->forced_exit_bars;
    rules.exit_share = params->forced_exit_pct;
    rules.cooldown_bars = params->cooldown_bars;
    rules.capital = env_money(view->state.capital)[copy];
    rules.fee_e6 = costs->buy_e6;
    rules.spend = policy_spend(costs->buy_e6);
    rules.limits = params->limits;
    return rules;
}

ENV_RULE struct policy_memory env_market_memory(const struct env_view *view, size_t copy, int32_t asset,
                                                const struct policy_rules *rules, double close)
{
    const struct env_state *state = &view->state;
    size_t at = (size_t)asset * state->stride + copy;
    struct policy_memory memory = {state->m_scale[at],
                                   view->market.least[asset],
                                   state->m_qty[at],
                                   state->m_held[at],
                                   state->m_cool[at],
                                   state->m_peak[at],
                                   state->m_taken ? state->m_taken[at] : 0};
    policy_watch(rules, &memory, state->lots[at], close);
    return memory;
}

/* Stores a decision of one copy and asset. */
ENV_RULE void env_market_keep(const struct env_state *state, size_t at, const struct policy_memory *memory,
                              const struct policy_order *order)
{
    state->m_qty[at] = memory->qty;
    state->m_held[at] = memory->held;
    state->m_cool[at] = memory->cool;
    state->m_peak[at] = memory->peak;
    if (state->m_taken)
        state->m_taken[at] = memory->taken;
    if (order->stop > 0) {
        state->stop[at] = order->stop;
        state->stop_qty[at] = order->stop_qty;
    }
    state->waiting[at] = order->qty;
    state->reserved[at] = order->reserve;
}

/* What holds for all assets of a copy: in which round of its limits it is. */
struct env_round {
    struct policy_rules rules;
    struct policy_round round;
    double equity; /* of the last closes */
    bool limited;
};

ENV_RULE bool env_market_any_there(const struct env_view *view, size_t copy)
{
    bool there = false;
    for (int32_t i = 0; i < view->state.n && !there; i++)
        there = env_market_prices(view, view->state.row[copy], i)[3] > 0;
    return there;
}

/* The memory of all assets after the close of the copy's row; *ret is what holds there. */
ENV_RULE struct policy_portfolio env_market_watch_all(const struct env_view *view, size_t copy,
                                                      double available, struct env_round *ret)
{
    const struct env_state *state = &view->state;
    const struct env_market_view *market = &view->market;
    struct policy_portfolio all = {state->all_peak[copy], state->all_until[copy], state->all_day[copy],
                                   state->all_opening[copy], state->all_lost[copy]};
    int32_t row = state->row[copy];
    int64_t open_ns = market->open_ns ? market->open_ns[row] : market->start_ns + row * market->interval_ns;
    if (env_market_any_there(view, copy))
        ret->round = policy_watch_all(&ret->rules.limits, &all, open_ns, market->interval_ns, ret->equity,
                                      ret->equity - available);
    return all;
}

/* Has the policy limits? A step is given it, since its kernel may know. */
ENV_RULE bool env_market_limited(const struct env_view *view)
{
    return view->state.m_cost != NULL;
}

ENV_RULE struct env_round env_market_round(const struct env_view *view, size_t copy,
                                           const struct env_costs *costs, double equity, bool limited)
{
    struct env_round round = {env_market_policy(view, copy, costs), {true, false, 1}, equity, limited};
    return round;
}

/* The order of an asset, whose memory has seen the close. */
ENV_RULE struct policy_order env_market_decided(const struct env_view *view, size_t copy, int32_t asset,
                                                const struct env_round *round, struct policy_memory *memory,
                                                float action, double close, double available)
{
    const struct policy_symbol *symbol = &view->market.symbols[asset];
    size_t at = (size_t)asset * view->state.stride + copy;
    if (!round->limited)
        return policy_decide(&round->rules, symbol, memory, action, close, round->equity, available);
    return policy_decide_within(&round->rules, &round->round, symbol, memory, view->state.m_cost[at], action,
                                close, round->equity, round->equity - available, available);
}

/* One asset decides. Returns what its purchase reserves. */
ENV_RULE double env_market_order(const struct env_view *view, size_t copy, int32_t asset,
                                 const struct env_round *round, float action, double close, double available)
{
    const struct env_state *state = &view->state;
    size_t at = (size_t)asset * state->stride + copy;
    struct policy_memory memory = env_market_memory(view, copy, asset, &round->rules, close);
    struct policy_order order =
        env_market_decided(view, copy, asset, round, &memory, action, close, available);
    env_market_keep(state, at, &memory, &order);
    return order.reserve;
}

/* `equity` is that of the last closes. */
ENV_RULE void env_market_decide(const struct env_view *view, const struct env_step_io *io, size_t copy,
                                const struct env_costs *costs, double equity, bool limited)
{
    const struct env_state *state = &view->state;
    struct env_round round = env_market_round(view, copy, costs, equity, limited);
    double available = env_money(state->cash)[copy] - env_market_reserved(view, copy);
    if (round.limited) {
        struct policy_portfolio all = env_market_watch_all(view, copy, available, &round);
        state->all_peak[copy] = all.peak;
        state->all_until[copy] = all.until;
        state->all_day[copy] = all.day;
        state->all_opening[copy] = all.opening;
        state->all_lost[copy] = all.lost;
    }
    ENV_ROLLED
    for (int32_t i = 0; i < state->n; i++) {
        double close = env_market_prices(view, state->row[copy], i)[3];
        if (close > 0)
            available -=
                env_market_order(view, copy, i, &round, env_action(view, io, copy, i), close, available);
    }
}

/* What the largest actions would do of an asset now, were it the first: bit 0: buy, bit 1: sell. */
ENV_RULE uint8_t env_market_mask(const struct env_view *view, size_t copy, int32_t asset)
{
    const struct env_state *state = &view->state;
    double close = env_market_prices(view, state->row[copy], asset)[3];
    if (!(close > 0))
        return 0;
    struct env_costs costs = env_market_costs(view, copy);
    struct env_round round =
        env_market_round(view, copy, &costs, env_money(state->equity)[copy], env_market_limited(view));
    double available = env_money(state->cash)[copy] - env_market_reserved(view, copy);
    if (round.limited)
        env_market_watch_all(view, copy, available, &round);
    uint8_t mask = 0;
    for (int sell = 0; sell < 2; sell++) {
        struct policy_memory memory = env_market_memory(view, copy, asset, &round.rules, close);
        float action = sell ? (float)-POLICY_ACTION_MAX : (float)POLICY_ACTION_MAX;
        struct policy_order order =
            env_market_decided(view, copy, asset, &round, &memory, action, close, available);
        if (sell ? order.qty < 0 : order.qty > 0)
            mask |= (uint8_t)(1 << sell);
    }
    return mask;
}

/* An asset's share of equity; for the reward alone, so the worth is not rounded to units. `inverse` is
 * 1 / equity in the currency. */
ENV_RULE float env_market_share(const struct env_view *view, size_t copy, int32_t asset, double per_unit,
                                float inverse)
{
    const struct env_state *state = &view->state;
    size_t at = (size_t)asset * state->stride + copy;
    double price = state->closed[at] * view->market.symbols[asset].per_divisor;
    return (float)(price * state->lots[at] * per_unit) * inverse;
}

ENV_RULE float env_market_concentration(const struct env_view *view, size_t copy, double per_unit,
                                        float inverse)
{
    struct env_shares shares = {0, 0, 0, 0};
    ENV_ROLLED
    for (int32_t i = 0; i < view->state.n; i++) {
        float share = env_market_share(view, copy, i, per_unit, inverse), counted = env_counted(share);
        shares.most = share > shares.most ? share : shares.most;
        shares.count = shares.count + (share > 0.01f ? 1.0f : 0.0f);
        shares.sum = shares.sum + counted;
        ENV_ROLLED
        for (int32_t k = 0; k < i; k++) {
            float other = env_counted(env_market_share(view, copy, k, per_unit, inverse));
            shares.pairs = shares.pairs + (other < counted ? other : counted);
        }
    }
    return env_concentration(view, &shares);
}

/* `equity` and `benchmark` are after the step, the columns' still before it; money units. */
ENV_RULE float env_market_reward(const struct env_view *view, size_t copy, double equity, double benchmark)
{
    const struct env_state *state = &view->state;
    double per_unit = 1 / env_money_units(view);
    double equity_before = env_money(state->equity)[copy];
    double benchmark_before = env_money(state->benchmark)[copy];
    struct env_change change;
    change.equity = (float)(equity * per_unit);
    change.cash = (float)(env_money(state->cash)[copy] * per_unit);
    change.capital = (float)(env_money(state->capital)[copy] * per_unit);
    change.benchmark_before = (float)(benchmark_before * per_unit);
    change.equity_change = (float)((equity - equity_before) * per_unit);
    change.benchmark_change = (float)((benchmark - benchmark_before) * per_unit);
    float reward = env_reward(view, &change, env_decay(view, copy));
    if (view->params.concentration_penalty > 0 && equity > 0)
        reward = reward + env_market_concentration(view, copy, per_unit, 1.0f / change.equity);
    if (env_has_risk(&view->params))
        reward = env_risk(view, copy, reward, change.capital, equity_before, equity);
    return reward;
}

/* Ends a step whose bars are done. An episode also ends where its numbers are no longer exact. */
ENV_RULE void env_market_finish(const struct env_view *view, const struct env_step_io *io, size_t copy,
                                bool exact)
{
    const struct env_state *state = &view->state;
    struct env_worths worths = env_market_worths(view, copy);
    float reward = env_market_reward(view, copy, worths.equity, worths.benchmark);
    bool ruined = worths.equity <= view->params.ruin * env_money(state->capital)[copy];
    env_money(state->equity)[copy] = worths.equity;
    env_money(state->benchmark)[copy] = worths.benchmark;
    env_finish(view, io, copy, ENV_MARKET, reward, worths.equity, ruined || !exact || !worths.exact);
}

ENV_RULE void env_market_step(const struct env_view *view, const struct env_step_io *io, size_t copy,
                              bool limited)
{
    const struct env_state *state = &view->state;
    struct env_costs costs = env_market_costs(view, copy);
    env_market_decide(view, io, copy, &costs, env_money(state->equity)[copy], limited);
    env_market_over(view, copy);
    state->row[copy]++;
    bool exact = env_market_bars(view, copy, &costs);
    env_market_finish(view, io, copy, exact);
}

#endif
