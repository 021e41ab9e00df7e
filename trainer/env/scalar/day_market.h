/* ENV_DAY_TRADE on the paper exchange, ENV_MARKET: one step of one copy, for host and device. Long only.
 * Orders come from strategy/policy/rules.h, fills from trainer/env/market_rules.h, as in scalar/market.h;
 * here are the action, the session's end, and the average price of what is held:
 *
 * 1. At the close of row t, where the asset's bar is there: in the last row whose orders fill before the
 *    session ends, all that is held is ordered sold, whatever the action. Else an action of +-1, by the
 *    direction, of size * equity / close.
 * 2. t += 1: the bar, and what was traded in it.
 * 3. Equity, the reward's terms, and what all episodes have. */
#ifndef TRAINER_ENV_SCALAR_DAY_MARKET_H
#define TRAINER_ENV_SCALAR_DAY_MARKET_H

#include "trainer/env/scalar/day_trade.h"
#include "trainer/env/scalar/market.h"

ENV_RULE void env_day_market_decide(const struct env_view *view, const struct env_step_io *io, size_t e,
                                    const struct env_costs *costs)
{
    const struct env_state *s = &view->state;
    const struct policy_symbol *symbol = &view->market.symbols[0];
    int32_t row = s->row[e];
    double close = env_market_prices(view, row, 0)[3], equity = env_money(s->equity)[e];
    if (!(close > 0))
        return;
    struct policy_rules rules = env_market_policy(view, e, costs);
    struct policy_memory memory = env_market_memory(view, e, 0, &rules, close);
    struct policy_day_action day = {env_day_direction(view, io, e), env_day_size(view, io, e),
                                    (view->market.session[row] & ENV_ROW_LEAVES) != 0};
    double available = env_money(s->cash)[e] - env_market_reserved(view, e);
    struct policy_order order = policy_decide_day(&rules, symbol, &memory, &day,
                                                  (float)view->params.threshold, close, equity, available);
    env_market_keep(s, e, &memory, &order);
}

/* What a fill changed: `lots` and the cash were before it. */
ENV_RULE void env_day_market_book(const struct env_view *view, size_t e, const struct env_account *account,
                                  double *lots, double *cash, double *realised)
{
    const struct env_state *s = &view->state;
    double now = s->lots[e], money = account->cash - *cash;
    if (now > *lots)
        s->entry[e] = (s->entry[e] * *lots - money) / now;
    else if (now < *lots)
        *realised = *realised + (money - (*lots - now) * s->entry[e]);
    if (!(now > 0))
        s->entry[e] = 0;
    *lots = now;
    *cash = account->cash;
}

/* As env_market_bar(), with the effect of each fill. Returns what closing trades realised. */
ENV_RULE double env_day_market_bar(const struct env_view *view, size_t e, const struct env_costs *costs,
                                   struct env_account *account, const double *prices)
{
    const struct env_state *s = &view->state;
    struct bar_prices bar = env_market_whole(prices);
    double lots = s->lots[e], cash = account->cash, realised = 0;
    ENV_ROLLED
    for (int moment = 0; moment < ENV_MOMENTS; moment++) {
        env_market_moment(view, e, 0, costs, account, &bar, (enum env_moment)moment);
        env_day_market_book(view, e, account, &lots, &cash, &realised);
    }
    s->closed[e] = prices[3];
    return realised;
}

/* The step, of a copy that env_steps(). */
ENV_RULE void env_day_market_step(const struct env_view *view, const struct env_step_io *io, size_t e)
{
    const struct env_state *s = &view->state;
    struct env_costs costs = env_market_costs(view, e);
    double held = s->lots[e], realised = 0, capital = env_money(s->capital)[e];
    env_day_market_decide(view, io, e, &costs);
    env_market_over(view, e);
    int32_t row = ++s->row[e];
    struct env_account account = {env_money(s->cash)[e], env_market_reserved(view, e),
                                  env_money(s->fees)[e], s->buys[e],
                                  s->sells[e],           true};
    const double *prices = env_market_prices(view, row, 0);
    if (prices[3] > 0)
        realised = env_day_market_bar(view, e, &costs, &account, prices);
    env_money(s->cash)[e] = account.cash;
    env_money(s->fees)[e] = account.fees;
    s->buys[e] = account.buys;
    s->sells[e] = account.sells;

    bool ends = (view->market.session[row] & ENV_ROW_ENDS) != 0;
    struct env_worths worths = env_market_worths(view, e);
    double equity = worths.equity;
    struct env_day_terms terms = {env_money(s->equity)[e], equity, realised, capital,
                                  held * (s->closed[e] * view->market.symbols[0].per_divisor)};
    float reward = (float)env_day_reward(view, e, &terms, ends);
    if (env_has_risk(&view->params))
        reward = env_risk(view, e, reward, 1.0f, terms.equity_before, equity);
    env_money(s->equity)[e] = equity;
    env_money(s->benchmark)[e] = worths.benchmark;
    if (ends)
        s->day_equity[e] = equity;
    bool over = equity <= view->params.ruin * capital || !account.exact || !worths.exact;
    env_finish(view, io, e, ENV_MARKET, reward, equity, over);
}

/* As env_market_mask(); nothing where all is sold anyway. */
ENV_RULE uint8_t env_day_market_mask(const struct env_view *view, size_t e)
{
    bool leaves = (view->market.session[view->state.row[e]] & ENV_ROW_LEAVES) != 0;
    return leaves ? 0 : env_market_mask(view, e, 0);
}

#endif
