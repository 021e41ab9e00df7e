/* Derives from a symbol's filters the numbers that a policy trades by: strategy/policy/rules.h. */
#ifndef STRATEGY_POLICY_SYMBOL_H
#define STRATEGY_POLICY_SYMBOL_H

#include <errno.h>

#include "exchange/symbol.h"
#include "strategy/policy/rules.h"

static inline int64_t policy_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static inline int64_t policy_power(int scale)
{
    int64_t power = 1;
    while (scale-- > 0)
        power *= 10;
    return power;
}

/* Is the market orders' step a multiple of the step of all orders? */
static inline bool policy_steps_fit(const struct symbol_filters *filters)
{
    int64_t step = filters->step > 0 ? filters->step : 1;
    return filters->market_step <= 0 ||
           (filters->market_step % step == 0 && (filters->market_qty_min - filters->qty_min) % step == 0);
}

/* 0; -EINVAL for price and quantity scales that do not fit together, filters below 0, or market orders whose
 * step is not on that of all orders. *ret is untouched on failure. */
static inline int policy_symbol_init(const struct symbol *symbol, struct policy_symbol *ret)
{
    const struct symbol_filters *filters = &symbol->filters;
    int scale = symbol->price_scale + symbol->qty_scale - symbol->quote_scale;
    if (scale < 0 || scale > 18 || symbol->price_scale < 0 || symbol->price_scale > 18 ||
        symbol->qty_scale < 0 || symbol->qty_scale > 18 || symbol->quote_scale < 0 ||
        symbol->quote_scale > 18)
        return -EINVAL;
    if (filters->qty_min < 0 || filters->qty_max < 0 || filters->step < 0 || filters->market_qty_min < 0 ||
        filters->market_qty_max < 0 || filters->market_step < 0 || filters->price_min < 0 ||
        filters->price_max < 0 || filters->tick < 0 || filters->notional_min < 0 ||
        filters->notional_max < 0 || !policy_steps_fit(filters))
        return -EINVAL;
    int64_t unit = policy_power(scale), quantum = policy_gcd(unit, filters->step > 0 ? filters->step : 1);
    quantum = policy_gcd(quantum, filters->qty_min);
    quantum = policy_gcd(quantum, filters->market_qty_min);
    quantum = policy_gcd(quantum, filters->market_step);
    bool least = filters->notional_min > 0 && filters->notional_min_market;
    bool most = filters->notional_max > 0 && filters->notional_max_market;
    *ret = (struct policy_symbol){
        .quantum = quantum,
        .divisor = unit / quantum,
        .per_divisor = 1.0 / (double)(unit / quantum),
        .lot = {.min = filters->qty_min / quantum,
                .max = filters->qty_max / quantum,
                .step = filters->step / quantum,
                .market_min = filters->market_qty_min / quantum,
                .market_max = filters->market_qty_max / quantum,
                .market_step = filters->market_step / quantum},
        .notional_min = least ? (double)filters->notional_min + 1 : 0,
        .notional_max = most ? (double)filters->notional_max - 1 : POLICY_EXACT_MAX,
        .price_min = filters->price_min,
        .price_max = filters->price_max,
        .tick = filters->tick,
        .price_units = (double)policy_power(symbol->price_scale),
        .qty_units = (double)policy_power(symbol->qty_scale) / (double)quantum,
        .money_units = (double)policy_power(symbol->quote_scale),
    };
    return 0;
}

#endif
