/* The limits of risk.h as keys: [risk] and [account] risk.* of papertaped.ini, backtest --risk, account
 * create --risk-…; all accept the same values. */
#ifndef STRATEGY_RISK_KEYS_H
#define STRATEGY_RISK_KEYS_H

#include "exchange/symbol.h"
#include "record/config_key.h"
#include "strategy/risk.h"

/* ROW(member, name, kind, default, sentence) */
#define RISK_KEYS(ROW) \
    ROW(exposure_symbol, "exposure_symbol", KEY_SHARE(RISK_SHARE_MAX), "0.5", \
        "most of an account's equity in one symbol: 0.5 is half; 0: no limit") \
    ROW(exposure_account, "exposure_account", KEY_SHARE(RISK_SHARE_MAX), "1", \
        "most of an account's equity in all symbols together; 0: no limit") \
    ROW(daily_loss, "daily_loss", KEY_SHARE(1), "0.05", \
        "of the day's first equity; once lost, nothing is opened until midnight UTC; 0: off") \
    ROW(orders_per_second, "orders_per_second", KEY_WHOLE(0, RISK_RATE_MAX), "10", \
        "that one account may send; 0: no limit") \
    ROW(drawdown, "drawdown", KEY_SHARE(1), "0", \
        "of the highest equity; once lost, the account is closed and opens nothing until it is resumed; 0: " \
        "off") \
    ROW(price_band, "price_band", KEY_SHARE(1), "0", \
        "an opening order's price may be this share away from the last; 0: off") \
    ROW(cooldown_ns, "cooldown_s", KEY_SCALED(0, 2592000, 9), "0", \
        "after a position was closed, until the next one in its symbol; 0: off") \
    ROW(positions, "positions", KEY_WHOLE(0, SYMBOLS_MAX), "0", \
        "most symbols held, or being entered, by one account; 0: no limit")

#define RISK_COUNT_ROW_(member, name, kind, fallback, about) +1
enum { RISK_KEYS_N = 0 RISK_KEYS(RISK_COUNT_ROW_) };

extern const struct config_key risk_keys[RISK_KEYS_N]; /* of a struct risk_limits */

#endif
