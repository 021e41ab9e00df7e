/* Limits on top of a policy's rules: the same decisions as strategy/policy/rules.h, within what its limits
 * leave. One definition for the engine and the training environment, for host and device.
 *
 * At the close of each bar, first for the whole portfolio (policy_watch_all()), then for each asset in order
 * (policy_decide_within()). `exposed` is what positions are worth at the last closes, and what purchases
 * under way have in reserve: equity less free cash.
 *
 * exposure, exposure_symbol: purchases bring all assets together, or one, to at most POLICY_MARGIN * limit *
 *   equity. What a close finds above limit * equity is sold down to POLICY_MARGIN * limit * equity, of all
 *   assets in equal shares, in whole lots and for what the venue takes at least.
 *
 * daily_loss: from a close with equity <= (1 - limit) * equity at the UTC day's first close on, nothing is
 *   bought until the next day. A close belongs to the day that it is at: that of midnight to the day that
 *   begins.
 *
 * stop_loss, trailing_stop: one protective stop at the higher of (1 - stop_loss) * average cost and
 *   (1 - trailing_stop) * peak, with the tighter one of the policy's own trailing stop and the limit; and all
 *   that rules.h says of its stop.
 *
 * portfolio_trailing_stop: at a close with equity <= (1 - limit) * the peak of equity at closes all is sold
 *   at market, and nothing is bought until so many bars have passed as cooldown_s has, at least one. Then the
 *   peak begins again with the equity at that close.
 *
 * take_profit: at a close >= (1 + above) * average cost that part of the position is sold, once until it was
 *   flat, or dust, again.
 *
 * What a sale by a limit and the action both sell is not added: the larger one counts. A limit never buys. */
#ifndef STRATEGY_POLICY_LIMIT_RULES_H
#define STRATEGY_POLICY_LIMIT_RULES_H

#include "strategy/policy/rules.h"

#define POLICY_DAY_NS    (INT64_C(86400) * 1000000000)
#define POLICY_SECOND_NS INT64_C(1000000000)

/* The memory of all assets together between decisions; zeroed at the start. */
struct policy_portfolio {
    double peak;    /* of equity; 0: none yet */
    double until;   /* the number of the bar at which purchases are allowed again; 0: they are */
    double day;     /* UTC day of the last close, since 1970 */
    double opening; /* equity at its first close; 0: none yet */
    double lost;    /* 1: it has lost as much as it may */
};

/* What holds for all assets at one close. */
struct policy_round {
    bool buys, leaves; /* may anything be bought; is all sold */
    double keeps;      /* the share of each position that the exposure of all leaves; 1: all of it */
};

FILL_RULE bool policy_has_limits(const struct policy_limits *limits)
{
    return limits->exposure > 0 || limits->exposure_symbol > 0 || limits->daily_loss > 0 ||
           limits->stop_loss > 0 || limits->trailing_stop > 0 || limits->portfolio_trailing_stop > 0 ||
           limits->take_profit.above > 0;
}

FILL_RULE int64_t policy_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0 ? 1 : 0);
}

/* Bars that a cooldown lasts. */
FILL_RULE double policy_cooldown(const struct policy_limits *limits, int64_t interval_ns)
{
    int64_t ns = (int64_t)limits->cooldown_s * POLICY_SECOND_NS;
    int64_t bars = ns / interval_ns + (ns % interval_ns > 0 ? 1 : 0);
    return bars > 1 ? (double)bars : 1;
}

/* Is purchasing over for this day? */
FILL_RULE bool policy_day_lost(const struct policy_limits *limits, struct policy_portfolio *portfolio,
                               double day, double equity)
{
    if (portfolio->opening == 0 || day != portfolio->day) {
        portfolio->day = day;
        portfolio->opening = equity;
        portfolio->lost = 0;
    }
    if (equity <= (1 - limits->daily_loss) * portfolio->opening)
        portfolio->lost = 1;
    return portfolio->lost > 0;
}

/* Is it in cash, or does it go there? */
FILL_RULE bool policy_in_cash(const struct policy_limits *limits, struct policy_portfolio *portfolio,
                              double bar, double cooldown, double equity)
{
    if (portfolio->until > bar)
        return true;
    if (portfolio->until > 0) {
        portfolio->until = 0;
        portfolio->peak = equity;
    }
    portfolio->peak = policy_max(portfolio->peak, equity);
    if (equity > (1 - limits->portfolio_trailing_stop) * portfolio->peak)
        return false;
    portfolio->until = bar + cooldown;
    return true;
}

/* What holds at the close of the bars that open at open_ns, of which at least one is there. Money units. */
FILL_RULE struct policy_round policy_watch_all(const struct policy_limits *limits,
                                               struct policy_portfolio *portfolio, int64_t open_ns,
                                               int64_t interval_ns, double equity, double exposed)
{
    struct policy_round round = {true, false, 1};
    double most = limits->exposure * equity;
    if (limits->daily_loss > 0)
        round.buys = !policy_day_lost(limits, portfolio,
                                      (double)policy_floor_div(open_ns + interval_ns, POLICY_DAY_NS), equity);
    if (limits->portfolio_trailing_stop > 0)
        round.leaves = policy_in_cash(limits, portfolio, (double)policy_floor_div(open_ns, interval_ns),
                                      policy_cooldown(limits, interval_ns), equity);
    if (limits->exposure > 0 && exposed > most)
        round.keeps = policy_max(policy_divided(POLICY_MARGIN * most, exposed), 0);
    if (round.leaves)
        round.buys = false;
    return round;
}

/* A position's average price, price units. `cost` is what its quanta cost, without fees, money units. */
FILL_RULE double policy_entry(const struct policy_symbol *symbol, const struct policy_memory *memory,
                              double cost)
{
    return memory->qty > 0 ? policy_divided(cost, memory->qty) * (double)symbol->divisor : 0;
}

/* Where the one stop must be; 0: nowhere. */
FILL_RULE double policy_level(const struct policy_rules *rules, double peak, double entry)
{
    double trail = rules->trailing_stop, tight = rules->limits.trailing_stop, level = 0;
    if (tight > 0 && (trail <= 0 || tight < trail))
        trail = tight;
    if (trail > 0)
        level = peak * (1 - trail);
    if (rules->limits.stop_loss > 0)
        level = policy_max(level, entry * (1 - rules->limits.stop_loss));
    return level;
}

/* The wanted quantity, within what may be bought. */
FILL_RULE double policy_room(const struct policy_limits *limits, const struct policy_round *round,
                             const struct policy_memory *memory, const struct policy_place *at, double a,
                             double equity, double exposed)
{
    if (!round->buys)
        a = policy_min(a, 0);
    if (limits->exposure_symbol > 0) {
        double most = POLICY_MARGIN * (limits->exposure_symbol * equity);
        a = policy_min(a, policy_max(most - memory->qty * at->price, 0) * at->per);
    }
    if (limits->exposure > 0) {
        double most = POLICY_MARGIN * (limits->exposure * equity);
        a = policy_min(a, policy_max(most - exposed, 0) * at->per);
    }
    return a;
}

/* What must be sold of a position that is too large; 0: nothing. */
FILL_RULE double policy_excess(const struct policy_limits *limits, const struct policy_round *round,
                               const struct policy_symbol *symbol, const struct policy_memory *memory,
                               const struct policy_place *at, double equity)
{
    double qty = memory->qty, keeps = qty, most = limits->exposure_symbol * equity;
    if (limits->exposure_symbol > 0 && qty * at->price > most)
        keeps = POLICY_MARGIN * most * at->per;
    if (round->keeps < 1)
        keeps = policy_min(keeps, round->keeps * qty);
    if (!(keeps < qty))
        return 0;
    keeps = policy_max(policy_min(keeps, qty - symbol->notional_min * at->per), 0);
    return qty - policy_lots(symbol, keeps);
}

/* policy_decide() of rules with limits. `exposed`: now, with the reserves of the assets before. */
FILL_RULE struct policy_order
policy_decide_within(const struct policy_rules *rules, const struct policy_round *round,
                     const struct policy_symbol *symbol, struct policy_memory *memory, double cost,
                     float action, double close, double equity, double exposed, double available)
{
    const struct policy_limits *limits = &rules->limits;
    struct policy_order order = {0, 0, 0, 0, POLICY_ACTED};
    struct policy_place at = policy_placed(symbol, memory, close);
    double entry = policy_entry(symbol, memory, cost), level = policy_level(rules, memory->peak, entry);
    double a = policy_wanted(rules, memory, action, at.price, at.per, equity);
    double delta = policy_change(rules, memory, policy_room(limits, round, memory, &at, a, equity, exposed),
                                 at.per, available);
    double excess = policy_excess(limits, round, symbol, memory, &at, equity), part = 0;
    if (limits->take_profit.above > 0 && !(memory->taken > 0) && !at.dust &&
        close >= entry * (1 + limits->take_profit.above))
        part = limits->take_profit.part * memory->qty;
    if (part > 0 && part > -delta) {
        delta = -part;
        order.cause = POLICY_PROFITED;
    }
    if (excess > 0 && excess > -delta) {
        delta = -excess;
        order.cause = POLICY_EXPOSED;
    }
    if (level > 0 && !at.dust && policy_protect(symbol, &at, policy_stop_at(symbol, level), &order)) {
        delta = -at.lots;
        order.cause = POLICY_STOPPED;
    }
    if (round->leaves && memory->qty > 0) {
        delta = -at.lots;
        order.cause = POLICY_TO_CASH;
    }
    policy_trade(rules, symbol, memory, &at, delta, available, &order);
    if (part > 0 && order.qty < 0)
        memory->taken = 1;
    return order;
}

#endif
