/* The risk gate: the limits of an account, whatever a strategy wants. Pure functions over plain structs;
 * the same rules in backtest and live. An order that only reduces a position always passes, stale data apart.
 *
 * The order of checks, each with its reason; the first that fails is returned:
 *   stale data                                                             RISK_STALE_DATA
 *   an order that only reduces passes here, and counts for the rate
 *   trading is paused                                                      RISK_PAUSED
 *   the database cannot store                                              RISK_STORAGE
 *   the account is locked                                                  RISK_DRAWDOWN
 *   the universe leaves its symbol out                                     RISK_UNIVERSE
 *   day_equity - equity >= daily_loss · day_equity                         RISK_DAILY_LOSS
 *   |limit or stop price - last| > price_band · last                       RISK_PRICE_BAND
 *   it opens a position and now_ns - closed_ns < cooldown_ns               RISK_COOLDOWN
 *   its symbol is not entered and positions + 1 > the limit                RISK_POSITIONS
 *   symbol_notional + order_notional > exposure_symbol · equity,
 *   account_notional + order_notional > exposure_account · equity          RISK_EXPOSURE
 *   as many orders as may be in the second before it                       RISK_ORDER_RATE
 * Shares are taken to nine decimals and compared exactly. docs/risk.md says how an account is locked, and
 * resumed. */
#ifndef STRATEGY_RISK_H
#define STRATEGY_RISK_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/decimal.h"
#include "exchange/order.h"

enum {
    RISK_RATE_MAX = 64,
    RISK_SHARE_MAX = 100, /* the largest share that a limit may be */
};

/* A limit of 0 is off. */
struct risk_limits {
    double exposure_symbol;    /* most of equity in one symbol, long or short: 0.5 = half */
    double exposure_account;   /* most of equity in all symbols together, shorts counted as longs are */
    double daily_loss;         /* of the day's opening equity; reached: no new positions until midnight UTC */
    int32_t orders_per_second; /* per account, over a sliding second; at most RISK_RATE_MAX */
    double drawdown;           /* of the highest equity; reached: the account is locked */
    double price_band;         /* an order's own price may be this share away from the last price */
    int64_t cooldown_ns; /* minimum time between closing a position of a symbol and opening a new one in it */
    int32_t positions;   /* most symbols held, or being entered, at once */
};

/* The times of an account's last orders. */
struct risk_rate {
    int64_t times_ns[RISK_RATE_MAX];
    uint32_t next;
};

/* The facts for a check; money in the account's currency units, prices in the symbol's. */
struct risk_facts {
    int64_t now_ns;
    bool reduces; /* the order only reduces the position */
    bool paused, stale, storage_failing;
    bool out;          /* the universe leaves its symbol out, and no user gave the order */
    bool killed;       /* the account's drawdown reached its limit, and it was not resumed since */
    bool begins;       /* there is no position in the symbol, or the order would reverse it */
    bool entered;      /* there is a position in the symbol, or another order of it may open one */
    int32_t positions; /* other symbols of which this is true */
    int64_t closed_ns; /* when the symbol's position was last closed: of an order that would reverse it,
                          now_ns; 0: never */
    int64_t last;      /* the symbol's last price; 0 before the first */
    int64_t limit_price, stop_price; /* the order's own; 0: it has none */
    int64_t order_notional;
    int64_t symbol_notional;  /* position and orders in this symbol in the order's direction: long of a
                               * purchase, short  of a sale; negative: the opposite direction */
    int64_t account_notional; /* that, plus the larger of long or short in all other symbols */
    int64_t equity, day_equity;
    int64_t peak; /* the highest equity, this one included */
};

/* A share of a value as the checks take it, rounded down. */
int128_t risk_share_of(int64_t value, double share);

/* Is an order's own price outside of the price band? 0: it has none, and is not. */
bool risk_price_band(const struct risk_limits *limits, int64_t price, int64_t last);

/* Would the order pass the limit of its symbol, rather than the account's? */
bool risk_exposure_symbol(const struct risk_limits *limits, const struct risk_facts *facts);

/* Is the day's loss at its limit? */
bool risk_daily_loss(const struct risk_limits *limits, int64_t equity, int64_t day_equity);

/* Is the drawdown at its limit: equity <= peak · (1 - drawdown)? Then the account must be locked. */
bool risk_drawdown(const struct risk_limits *limits, int64_t equity, int64_t peak);

/* ORDER_OK, or the reason against it. Counts the order in `rate` only when it passes. */
enum order_reason risk_check(const struct risk_limits *limits, struct risk_rate *rate,
                             const struct risk_facts *facts);

#endif
