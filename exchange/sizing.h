/* Order sizing: a share of the equity in whole lots. Plain integer arithmetic, the same for the engine's
 * strategy runner and for the vectorised backtest. Money is in the symbol's quote units (which are the
 * account's currency units wherever a strategy trades), prices and quantities in the symbol's own. */
#ifndef EXCHANGE_SIZING_H
#define EXCHANGE_SIZING_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/fees.h"
#include "exchange/symbol.h"

/* The account's and the market's figures for a size. */
struct sizing {
    const struct symbol *symbol;
    struct fee_rates fees;
    int64_t equity;    /* of the account, at the last prices */
    int64_t available; /* to spend: neither reserved nor covering shorts */
};

/* An entry: whole lots that `fraction` (0..1) of the equity, and no more than is available, pays for at
 * `price`, with the fee that an order can cost at most. They can be sold at market again in one order: a
 * market order's lots, whatever the entry's type. 0: not one lot, or no price. */
int64_t sizing_entry(const struct sizing *sizing, double fraction, int64_t price);

/* A target: what is missing (positive: to be bought) or too much (negative: to be sold) of `fraction` of
 * the equity at `last`, which the equity is valued at; `held` counts what is on order. What is missing is
 * limited by what is available at `price`, the fee included. 0 where the difference is below a lot or below
 * what the venue takes as a market order's notional: then what is held is the target. */
int64_t sizing_target(const struct sizing *sizing, double fraction, int64_t held, int64_t last,
                      int64_t price);

/* A plain number as a price on the tick, the one below (or at) it, or with `up` above. False for an invalid
 * price: NaN, too large, or 0 on the tick. */
bool sizing_price(const struct symbol *symbol, double number, bool up, int64_t *ret);

#endif
