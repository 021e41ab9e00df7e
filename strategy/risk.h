/* The risk gate: what an account may not do, whatever a strategy wants. Pure functions over plain structs;
 * the same rules in backtest and live. Orders that only reduce a position always pass, stale data apart. */
#ifndef STRATEGY_RISK_H
#define STRATEGY_RISK_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/order.h"

enum { RISK_RATE_MAX = 64 };

/* A limit of 0 is off. */
struct risk_limits {
    double exposure_symbol;    /* most of equity in one symbol, long or short: 0.5 = half */
    double exposure_account;   /* most of equity in all symbols together, shorts counted as longs are */
    double daily_loss;         /* of the day's opening equity; reached: no new positions until midnight UTC */
    int32_t orders_per_second; /* per account, over a sliding second; at most RISK_RATE_MAX */
    double drawdown;           /* of the highest equity; reached: the kill switch (see docs/risk.md) */
    double price_band;         /* an order's own price may be this share away from the last price */
    int64_t cooldown_ns;       /* after a position of a symbol was closed, no new one in it for so long */
    int32_t positions;         /* most symbols held, or being entered, at once */
};

/* The times of an account's last orders. */
struct risk_rate {
    int64_t times_ns[RISK_RATE_MAX];
    uint32_t next;
};

/* The facts that a verdict rests on; money in the account's currency units. */
struct risk_facts {
    int64_t now_ns;
    bool reduces; /* the order only closes what is held */
    bool paused, stale, storage_failing;
    int64_t order_notional;
    int64_t symbol_notional;  /* held and on order in this symbol, the order's way: long of a purchase, short
                               * of  a sale; negative: the other way round */
    int64_t account_notional; /* that, and of all other symbols what is larger, long or short */
    int64_t equity, day_equity;
};

/* Is the day's loss at its limit? */
bool risk_daily_loss(const struct risk_limits *limits, int64_t equity, int64_t day_equity);

/* ORDER_OK, or why not. Counts the order in `rate` only when it passes. */
enum order_reason risk_check(const struct risk_limits *limits, struct risk_rate *rate,
                             const struct risk_facts *facts);

#endif
