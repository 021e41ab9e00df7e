/* How a policy's action becomes orders on the paper exchange: one definition for the engine (live, replay and
 * backtest) and for the training environment with `execution = market`, compiled for host and device.
 *
 * A policy decides when a bar has closed for all its symbols, symbols in their order. An action of 1 is worth
 * capital / norm_action of each asset at the close of the run's first bar, positive to buy, negative to sell.
 * For each asset, in this order (policy_watch(), then policy_decide()):
 *
 * 1. Counters. While there is a position, bars since the last purchase from flat or the last sale are
 *    counted, including the bar just closed, and the peak of closes is kept, from the close before the
 *    purchase on. Once a position has ended, for any reason, purchases of it wait for cooldown_bars.
 * 2. Stop. A position is dust where it cannot be sold: fewer than the least lots, or worth less than the
 *    venue takes. With a trailing stop of share s, one protective STOP, reduce-only, waits at
 *    floor_tick(peak * (1 - s)) for what can be sold, unless that is dust; where the close is at or below it
 *    already, all that can be is sold at market instead, whatever the action. If the venue would refuse the
 *    stop (below its least price or above its largest, or worth too little there), the existing one stays.
 * 3. The action, clipped to +-POLICY_ACTION_MAX and scaled, is a quantity a. Where purchases have a cap:
 *    a = min(a, max(0, max_position * equity - position's value) / price).
 * 4. Sale: a < -least and a position: min(position, -a). Else, held for exit_bars: exit_share of the
 *    position.
 * 5. Purchase: a > least: of free = max(0, available - min_cash * capital) at most
 *    free / (1 + fee) * POLICY_MARGIN / price; the margin is for the gap to the next open.
 * 6. Purchase less sale, at most what the venue lets a market order be worth at the close, floored to lots,
 *    is one market order, a sale reduce-only, unless it is worth too little. `available` is what no order has
 *    in reserve; a purchase whose own reserve, fill_purchase() at the close, is more than that is not made.
 *
 * Orders act from the next bar on: exchange/bar_rules.h. The stop has the older id of the two.
 *
 * Numbers are doubles that hold integers exactly (below POLICY_EXACT_MAX): prices in the symbol's price
 * units, quantities in quanta, money in the quote asset's units. Every operation is an IEEE one, rounded once
 * (no contraction), so that host and device compute the same bits. strategy/policy/symbol.h derives a
 * symbol's numbers from its filters. */
#ifndef STRATEGY_POLICY_RULES_H
#define STRATEGY_POLICY_RULES_H

#include "exchange/fill_rules.h"
#include "strategy/policy/limits.h"

#define POLICY_EXACT_MAX  0x1p52 /* integers below are exact, and so are their halves */
#define POLICY_ACTION_MAX 1000.0
#define POLICY_MARGIN     0.99

/* One asset as policies trade it. A quantum is the largest quantity that all its lots are multiples of and
 * that divides 10^(price_scale + qty_scale - quote_scale). */
struct policy_symbol {
    int64_t quantum;     /* in the symbol's quantity units */
    int64_t divisor;     /* price * quanta / divisor = money */
    double per_divisor;  /* 1.0 / divisor */
    struct fill_lot lot; /* in quanta */
    /* Bounds of a market order's value at the last price, money, both included: a unit within the venue's
     * bounds, because doubles round. */
    double notional_min, notional_max;
    int64_t price_min, price_max, tick; /* of stops; market orders have no price. price_max 0: no bound */
    double price_units, qty_units, money_units; /* price units, quanta and money units in 1.0 */
};

/* The policy's own parameters. Shares are of 1; counts of bars are whole. */
struct policy_rules {
    double norm_action;           /* > 0 */
    double trailing_stop;         /* share of the peak, < 1; 0: none */
    double max_position;          /* share of equity in one asset; 0: no cap */
    double min_cash;              /* share of the capital that is never spent */
    double exit_bars, exit_share; /* forced partial exits; 0 bars: none */
    double cooldown_bars;
    double capital; /* money units */
    int32_t fee_e6; /* the account's highest fee, which purchases must have in reserve */
    double spend;   /* of free cash: policy_spend(fee_e6) */
    struct policy_limits limits;
};

/* The memory of an asset between decisions; zeroed at the start, then `scale` and `least` are set. */
struct policy_memory {
    double scale;      /* quanta in an action of 1: policy_scale() */
    double least;      /* smallest quantity, quanta; need not be whole */
    double qty;        /* held at the last decision */
    double held, cool; /* bars */
    double peak;       /* of closes, price units; 0: flat */
    double taken;      /* 1: a part of its profit was taken; limits alone use it */
};

/* What an order at market follows from. */
enum policy_cause {
    POLICY_ACTED,    /* the action, or a forced exit */
    POLICY_STOPPED,  /* the close had reached its stop */
    POLICY_TO_CASH,  /* the portfolio's trailing stop */
    POLICY_EXPOSED,  /* a limit on exposure */
    POLICY_PROFITED, /* a part of its profit is taken */
};

struct policy_order {
    double qty;            /* quanta, at market: to buy, negative to sell; 0: none */
    double reserve;        /* what a purchase takes from `available`, money units */
    double stop, stop_qty; /* where the protective stop must be, and for how much; 0: unchanged */
    enum policy_cause cause;
};

FILL_RULE double policy_min(double a, double b)
{
    return a < b ? a : b;
}

FILL_RULE double policy_max(double a, double b)
{
    return a > b ? a : b;
}

/* a / b, which a device needs two dozen instructions for wherever it stands. */
FILL_APART double policy_divided(double a, double b)
{
    return a / b;
}

FILL_RULE double policy_spend(int32_t fee_e6)
{
    return policy_divided(POLICY_MARGIN, 1 + policy_divided(fee_e6, 1e6));
}

/* Quanta in an action of 1, of an asset whose first bar closed at `close`. */
FILL_RULE double policy_scale(const struct policy_rules *rules, const struct policy_symbol *symbol,
                              double close)
{
    return policy_divided(rules->capital * (double)symbol->divisor, close * rules->norm_action);
}

/* Whole lots of a market order, not more than qty (>= 0). */
FILL_RULE double policy_lots(const struct policy_symbol *symbol, double qty)
{
    double whole = policy_min(qty, POLICY_EXACT_MAX);
    return (double)fill_floor_qty(&symbol->lot, true, (int64_t)whole);
}

/* Updates the memory when a bar of the asset has closed; `qty` is the position. */
FILL_RULE void policy_watch(const struct policy_rules *rules, struct policy_memory *memory, double qty,
                            double close)
{
    memory->cool = policy_max(memory->cool - 1, 0);
    if (qty > 0) {
        memory->held = memory->qty <= 0 || qty < memory->qty ? 1 : memory->held + 1;
        memory->peak = policy_max(memory->peak, close);
    } else {
        if (memory->qty > 0)
            memory->cool = rules->cooldown_bars;
        memory->held = 0;
        memory->peak = 0;
        memory->taken = 0;
    }
    memory->qty = qty;
}

/* The price of a stop at `level`, price units; 0 where the venue takes no such price. */
FILL_RULE double policy_stop_at(const struct policy_symbol *symbol, double level)
{
    int64_t stop = fill_floor_price((int64_t)level, symbol->price_min, symbol->tick);
    bool taken = stop >= symbol->price_min && (symbol->price_max <= 0 || stop <= symbol->price_max);
    return taken ? (double)stop : 0;
}

/* The trailing stop's price; 0 where the venue takes no such price. */
FILL_RULE double policy_stop(const struct policy_rules *rules, const struct policy_symbol *symbol,
                             double peak)
{
    return policy_stop_at(symbol, peak * (1 - rules->trailing_stop));
}

/* The quantity that an action asks for: quanta, to sell where negative. `price` is the money of a quantum,
 * `per` the quanta for a unit of it. */
FILL_RULE double policy_wanted(const struct policy_rules *rules, const struct policy_memory *memory,
                               float action, double price, double per, double equity)
{
    double a = policy_max(policy_min(action, POLICY_ACTION_MAX), -POLICY_ACTION_MAX) * memory->scale;
    if (rules->max_position > 0)
        a = policy_min(a, policy_max(rules->max_position * equity - memory->qty * price, 0) * per);
    return a;
}

/* Purchase less sale of a wanted quantity, before lots. */
FILL_RULE double policy_change(const struct policy_rules *rules, const struct policy_memory *memory, double a,
                               double per, double available)
{
    double qty = memory->qty, sale = 0, purchase = 0;
    if (a < -memory->least && qty > 0)
        sale = policy_min(qty, -a);
    else if (rules->exit_bars > 0 && memory->held >= rules->exit_bars)
        sale = rules->exit_share * qty;
    if (a > memory->least && memory->cool <= 0) {
        double free = policy_max(available - rules->min_cash * rules->capital, 0);
        purchase = policy_min(free * rules->spend * per, a);
        if (purchase < memory->least)
            purchase = 0;
    }
    return purchase - sale;
}

/* Purchase less sale, before lots. */
FILL_RULE double policy_intent(const struct policy_rules *rules, const struct policy_memory *memory,
                               float action, double price, double per, double equity, double available)
{
    return policy_change(rules, memory, policy_wanted(rules, memory, action, price, per, equity), per,
                         available);
}

/* A position at a close. */
struct policy_place {
    double close, price, per; /* price units; the money of a quantum, and the quanta for a unit of it */
    double most, lots;        /* of a market order, quanta; and what can be sold of the position */
    bool dust;                /* that is too little to be sold */
};

FILL_RULE struct policy_place policy_placed(const struct policy_symbol *symbol,
                                            const struct policy_memory *memory, double close)
{
    struct policy_place at = {close, close * symbol->per_divisor, 0, 0, 0, false};
    at.per = policy_divided(1, at.price);
    at.most = symbol->notional_max * at.per;
    at.lots = policy_lots(symbol, policy_min(memory->qty, at.most));
    at.dust = at.lots <= 0 || at.lots * at.price < symbol->notional_min;
    return at;
}

/* The protective stop at a price that the venue takes, or 0. True: the close is at or below it already. */
FILL_RULE bool policy_protect(const struct policy_symbol *symbol, const struct policy_place *at, double stop,
                              struct policy_order *order)
{
    if (at->close <= stop)
        return true;
    if (stop > 0 && at->lots * (stop * symbol->per_divisor) >= symbol->notional_min) {
        order->stop = stop;
        order->stop_qty = at->lots;
    }
    return false;
}

/* The market order of a change, if there is one. */
FILL_RULE void policy_trade(const struct policy_rules *rules, const struct policy_symbol *symbol,
                            struct policy_memory *memory, const struct policy_place *at, double delta,
                            double available, struct policy_order *order)
{
    double size = policy_lots(symbol, policy_min(delta < 0 ? -delta : delta, at->most));
    if (size <= 0 || size * at->price < symbol->notional_min)
        return;
    if (delta < 0) {
        order->qty = -size;
        return;
    }
    double reserve = (double)fill_purchase((int64_t)at->close, (int64_t)size, symbol->divisor, rules->fee_e6);
    if (reserve > available)
        return;
    order->qty = size;
    order->reserve = reserve;
    if (at->dust) { /* a new position has a new peak, and its own profit */
        memory->peak = at->close;
        memory->taken = 0;
    }
}

/* Decides the order of an asset that can be traded: its bar is there and no market order of it waits.
 * `action` is finite; `equity` is the account's at the last closes, `available` what it can spend; both money
 * units. */
FILL_RULE struct policy_order policy_decide(const struct policy_rules *rules,
                                            const struct policy_symbol *symbol, struct policy_memory *memory,
                                            float action, double close, double equity, double available)
{
    struct policy_order order = {0, 0, 0, 0, POLICY_ACTED};
    struct policy_place at = policy_placed(symbol, memory, close);
    double delta;
    if (rules->trailing_stop > 0 && !at.dust &&
        policy_protect(symbol, &at, policy_stop(rules, symbol, memory->peak), &order)) {
        delta = -at.lots;
        order.cause = POLICY_STOPPED;
    } else {
        delta = policy_intent(rules, memory, action, at.price, at.per, equity, available);
    }
    policy_trade(rules, symbol, memory, &at, delta, available, &order);
    return order;
}

/* An action of task day-trade: direction is within +-1, size within 0..1. */
struct policy_day_action {
    float direction, size;
    bool leaves; /* the next bar is the session's last: all is sold, whatever the action */
};

/* policy_decide() of that task: bought or sold is size * equity / close, beyond the threshold. The memory's
 * scale and least stay what they were. */
FILL_RULE struct policy_order policy_decide_day(const struct policy_rules *rules,
                                                const struct policy_symbol *symbol,
                                                struct policy_memory *memory,
                                                const struct policy_day_action *day, float threshold,
                                                double close, double equity, double available)
{
    double scale = memory->scale, least = memory->least;
    float action = day->direction > threshold ? 1.0f : day->direction < -threshold ? -1.0f : 0.0f;
    memory->scale = (double)day->size * equity / (close * symbol->per_divisor);
    if (day->leaves) {
        action = -1;
        memory->scale = POLICY_EXACT_MAX;
        memory->least = 0;
    }
    struct policy_order order = policy_decide(rules, symbol, memory, action, close, equity, available);
    memory->scale = scale;
    memory->least = least;
    return order;
}

#endif
