/* strategy/policy/rules.h in lanes: the same operations in the same order, with exact.h for the integers.
 * Where a rule returns early the lanes continue with a quantity of 0, so that all stays in exact.h's range.
 * exact.h defines odd. */
#ifndef TRAINER_ENV_SIMD_POLICY_H
#define TRAINER_ENV_SIMD_POLICY_H

#include "strategy/policy/rules.h"
#include "trainer/env/simd/exact.h"

/* struct policy_symbol, and the asset's least quantity. */
struct lane_symbol {
    struct exact_divisor divisor;
    struct exact_lot lot;
    struct exact_tick tick;
    double per_divisor, notional_min, notional_max, least, price_max;
    const struct fill_lot *filters;
};

LANES_INLINE struct lane_symbol lane_symbol(const struct policy_symbol *symbol, double least)
{
    return (struct lane_symbol){
        .divisor = exact_divisor(symbol->divisor),
        .lot = exact_lot(&symbol->lot),
        .tick = exact_tick(symbol->price_min, symbol->tick),
        .per_divisor = symbol->per_divisor,
        .notional_min = symbol->notional_min,
        .notional_max = symbol->notional_max,
        .least = least,
        .price_max = symbol->price_max > 0 ? (double)symbol->price_max : INFINITY,
        .filters = &symbol->lot,
    };
}

/* struct policy_rules: what all copies share, and what each has. */
struct lane_rules {
    bool trails, caps, exits;
    double kept, max_position, exit_bars, exit_share, cooldown_bars; /* kept: 1 - trailing_stop */
};

struct lane_account {
    lane_d min_cash; /* min_cash * capital */
    lane_d fee_e6, spend;
    lane_d equity, available;
};

struct lane_memory {
    lane_d scale, qty, held, cool, peak;
};

struct lane_order {
    lane_d qty, reserve;
    mask_d sets; /* the stop must be at `stop` for `stop_qty` */
    lane_d stop, stop_qty;
};

/* policy_lots(), whose cut to POLICY_EXACT_MAX is in the lot's largest. */
LANES_INLINE lane_d lane_lots(const struct lane_symbol *symbol, lane_d qty)
{
    return exact_floor_qty(&symbol->lot, d_floor(qty));
}

/* policy_watch(). */
LANES_INLINE void lane_watch(const struct lane_rules *rules, struct lane_memory *memory, lane_d qty,
                             lane_d close)
{
    const lane_d zero = d_all(0), one = d_all(1);
    mask_d had = d_gt(memory->qty, zero), has = d_gt(qty, zero);
    mask_d restarts = not_(had) | d_lt(qty, memory->qty);
    lane_d cool = d_max(memory->cool - one, zero);
    memory->cool = d_select(had & not_(has), d_all(rules->cooldown_bars), cool);
    memory->held = d_select(has, d_select(restarts, one, memory->held + one), zero);
    memory->peak = d_select(has, d_max(memory->peak, close), zero);
    memory->qty = qty;
}

/* policy_stop(). */
LANES_INLINE lane_d lane_stop(const struct lane_rules *rules, const struct lane_symbol *symbol, lane_d peak,
                              mask_d *odd)
{
    const lane_d least = d_all(symbol->tick.price_min);
    lane_d stop = d_floor(peak * d_all(rules->kept)), at = stop;
    if (odd) {
        *odd = *odd | d_ge(peak, d_all(EXACT_PRICE_MAX));
        if (symbol->tick.tick > 0)
            at = -exact_ceil_tick(&symbol->tick, -stop, -least);
    } else {
        at = exact_floor_price(&symbol->tick, stop);
    }
    return d_select(d_ge(stop, least) & d_le(at, d_all(symbol->price_max)), at, d_all(0));
}

/* policy_intent() of an action that is clipped. */
LANES_INLINE lane_d lane_intent(const struct lane_rules *rules, const struct lane_symbol *symbol,
                                const struct lane_memory *memory, lane_d action, lane_d price, lane_d per,
                                const struct lane_account *account)
{
    const lane_d zero = d_all(0), least = d_all(symbol->least);
    lane_d qty = memory->qty;
    lane_d a = action * memory->scale;
    if (rules->caps)
        a = d_min(a, d_max(d_all(rules->max_position) * account->equity - qty * price, zero) * per);
    lane_d sale = zero;
    if (rules->exits) {
        mask_d due = d_ge(memory->held, d_all(rules->exit_bars));
        sale = d_select(due, d_all(rules->exit_share) * qty, zero);
    }
    sale = d_select(d_lt(a, -least) & d_gt(qty, zero), d_min(qty, -a), sale);
    lane_d free = d_max(account->available - account->min_cash, zero);
    lane_d purchase = d_min(free * account->spend * per, a);
    mask_d buys = d_gt(a, least) & d_le(memory->cool, zero) & d_ge(purchase, least);
    return d_select(buys, purchase, zero) - sale;
}

/* policy_decide() where `asks`; elsewhere nothing is ordered. */
LANES_INLINE struct lane_order lane_decide(const struct lane_rules *rules, const struct lane_symbol *symbol,
                                           struct lane_memory *memory, mask_d asks, lane_d action,
                                           lane_d close, const struct lane_account *account, mask_d *odd)
{
    const lane_d zero = d_all(0);
    struct lane_order order = {.sets = d_lt(zero, zero)};
    lane_d price = close * d_all(symbol->per_divisor);
    lane_d per = d_all(1) / price, most = d_all(symbol->notional_max) * per;
    lane_d lots = lane_lots(symbol, d_min(memory->qty, most));
    mask_d dust = d_le(lots, zero) | d_lt(lots * price, d_all(symbol->notional_min));
    lane_d delta = lane_intent(rules, symbol, memory, action, price, per, account);
    if (rules->trails) {
        lane_d stop = lane_stop(rules, symbol, memory->peak, odd);
        mask_d could = asks & not_(dust), leaves = could & d_le(close, stop);
        order.sets = could & not_(leaves) & d_gt(stop, zero) &
                     d_ge(lots * (stop * d_all(symbol->per_divisor)), d_all(symbol->notional_min));
        order.stop = stop;
        order.stop_qty = lots;
        delta = d_select(leaves, -lots, delta);
    }
    mask_d sells = d_lt(delta, zero);
    lane_d size = lane_lots(symbol, d_min(d_abs(delta), most));
    size = d_select(asks & d_gt(size, zero) & d_ge(size * price, d_all(symbol->notional_min)), size, zero);
    lane_d reserve =
        exact_purchase(close, d_select(sells, zero, size), &symbol->divisor, account->fee_e6, odd);
    mask_d buys = d_gt(size, zero) & not_(sells) & d_le(reserve, account->available);
    order.reserve = d_select(buys, reserve, zero);
    order.qty = d_select(sells, zero - size, d_select(buys, size, zero));
    memory->peak = d_select(buys & dust, close, memory->peak);
    return order;
}

#endif
