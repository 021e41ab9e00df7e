/* How a policy's action becomes orders on the paper exchange: one definition for the engine (live, replay and
 * backtest) and for the training environment with `execution = market`, compiled for host and device.
 *
 * A policy decides when a bar has closed for all its symbols, symbols in their order. An action of 1 is worth
 * capital / norm_action of each asset at the close of the run's first bar, positive to buy, negative to sell.
 * For each asset, in this order (policy_watch(), then policy_decide()):
 *
 * 1. Counters. While something is held, bars since the last purchase from flat or the last sale are counted,
 *    the bar just closed among them, and the peak of closes is kept, from the close before the purchase on.
 *    Once a position has ended, by whatever, purchases of it wait for cooldown_bars.
 * 2. Stop. With a trailing stop of share s, one protective STOP rests at floor_tick(peak * (1 - s)) for all
 *    that is held, if the venue takes so little there; where the close is at or below that already, all is
 *    sold at market instead.
 * 3. The action, clipped to +-POLICY_ACTION_MAX and scaled, is a quantity a. Where purchases have a cap:
 *    a = min(a, max(0, max_position * equity - value held) / price).
 * 4. Sale: a < -least and something held: min(held, -a). Else, held for exit_bars: exit_share of what is
 * held.
 * 5. Purchase: a > least: of free = max(0, available - min_cash * capital) at most
 *    free / (1 + taker fee) / price * POLICY_MARGIN; the margin is for the gap to the next open.
 * 6. Purchases and sales are floored to lots each; their difference, if the venue takes so little at market,
 *    is one market order, a sale reduce-only. `available` is what is neither reserved nor asked for by the
 *    assets before.
 *
 * Orders act from the next bar on: exchange/bar_rules.h. The stop has the older id of the two.
 *
 * Numbers are doubles that hold integers exactly (below POLICY_EXACT_MAX): prices in the symbol's price
 * units, quantities in quanta, money in the quote asset's units. Every operation is an IEEE one, rounded once
 * (no contraction), so that all who compute it get the same bits. */
#ifndef STRATEGY_POLICY_RULES_H
#define STRATEGY_POLICY_RULES_H

#include "exchange/fill_rules.h"

#define POLICY_EXACT_MAX  0x1p52 /* integers below are exact, and so are their halves */
#define POLICY_ACTION_MAX 1000.0
#define POLICY_MARGIN     0.99

/* One asset as policies trade it. A quantum is the largest quantity that all its lots are multiples of and
 * that divides 10^(price_scale + qty_scale - quote_scale). */
struct policy_symbol {
    int64_t quantum;      /* in the symbol's quantity units */
    int64_t divisor;      /* price * quanta / divisor = money */
    struct fill_lot lot;  /* in quanta */
    int64_t notional_min; /* of a market order, at the last price, money; 0: none */
    int64_t price_min, tick;
    double price_units, qty_units, money_units; /* price units, quanta and money units in 1.0 */
};

/* What is the policy's own. Shares are of 1; fractions of bars do not exist: counts are whole. */
struct policy_rules {
    double norm_action;           /* > 0 */
    double trailing_stop;         /* share of the peak; 0: none */
    double max_position;          /* share of equity in one asset; 0: no cap */
    double min_cash;              /* share of the capital that is never spent */
    double exit_bars, exit_share; /* forced partial exits; 0 bars: none */
    double cooldown_bars;
    double capital;   /* money units */
    double fee_taker; /* a share: taker_e6 / 1e6 */
};

/* What is remembered of an asset between decisions; zeroed at the start, then `scale` and `least` are set. */
struct policy_memory {
    double scale;      /* quanta in an action of 1: policy_scale() */
    double least;      /* smallest quantity, quanta; need not be whole */
    double qty;        /* held at the last decision */
    double held, cool; /* bars */
    double peak;       /* of closes, price units; 0: flat */
};

struct policy_order {
    double qty;  /* quanta, at market: to buy, negative to sell; 0: none */
    double stop; /* where the protective stop for all that is held is to stand; 0: as it is */
};

/* Does the venue's least notional allow an order that trades at market where the market is at `price`? */
FILL_RULE bool policy_allowed(const struct policy_symbol *symbol, double qty, double price)
{
    return qty * price >= (double)symbol->notional_min * (double)symbol->divisor;
}

FILL_RULE double policy_min(double a, double b)
{
    return a < b ? a : b;
}

FILL_RULE double policy_max(double a, double b)
{
    return a > b ? a : b;
}

/* Quanta in an action of 1, of an asset whose first bar closed at `close`. */
FILL_RULE double policy_scale(const struct policy_rules *rules, const struct policy_symbol *symbol,
                              double close)
{
    return rules->capital * (double)symbol->divisor / (close * rules->norm_action);
}

/* Whole lots of a market order, not more than qty (>= 0). */
FILL_RULE double policy_lots(const struct policy_symbol *symbol, double qty)
{
    double whole = policy_min(qty, POLICY_EXACT_MAX);
    return (double)fill_floor_qty(&symbol->lot, true, (int64_t)whole);
}

/* A bar of the asset has closed, and `qty` is held. */
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
    }
    memory->qty = qty;
}

/* What to order of an asset that can be traded: its bar is there and no market order of it waits. `action` is
 * finite; `equity` is the account's at the last closes, `available` what it can spend; both money units. */
FILL_RULE struct policy_order policy_decide(const struct policy_rules *rules,
                                            const struct policy_symbol *symbol, struct policy_memory *memory,
                                            float action, double close, double equity, double available)
{
    struct policy_order order = {0, 0};
    double qty = memory->qty;
    double price = close / (double)symbol->divisor; /* money a quantum */
    if (rules->trailing_stop > 0 && qty > 0) {
        double stop = memory->peak * (1 - rules->trailing_stop);
        order.stop = (double)fill_floor_price((int64_t)stop, symbol->price_min, symbol->tick);
        if (close <= order.stop) {
            double all = policy_lots(symbol, qty);
            order.stop = 0;
            order.qty = policy_allowed(symbol, all, close) ? -all : 0;
            return order;
        }
        if (!policy_allowed(symbol, qty, order.stop))
            order.stop = 0;
    }
    double a = policy_max(policy_min(action, POLICY_ACTION_MAX), -POLICY_ACTION_MAX) * memory->scale;
    if (rules->max_position > 0)
        a = policy_min(a, policy_max(rules->max_position * equity - qty * price, 0) / price);
    double sale = 0, purchase = 0;
    if (a < -memory->least && qty > 0)
        sale = policy_min(qty, -a);
    else if (rules->exit_bars > 0 && memory->held >= rules->exit_bars)
        sale = rules->exit_share * qty;
    if (a > memory->least && memory->cool <= 0) {
        double free = policy_max(available - rules->min_cash * rules->capital, 0);
        double most = free / (1 + rules->fee_taker) / price * POLICY_MARGIN;
        purchase = policy_min(most, a);
        if (purchase < memory->least)
            purchase = 0;
    }
    double qty_wanted = policy_lots(symbol, purchase) - policy_lots(symbol, sale);
    double size = qty_wanted < 0 ? -qty_wanted : qty_wanted;
    if (!policy_allowed(symbol, size, close))
        return order;
    order.qty = qty_wanted;
    if (qty <= 0 && qty_wanted > 0)
        memory->peak = close;
    return order;
}

#endif
