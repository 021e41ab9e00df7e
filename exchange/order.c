#include "exchange/order.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const char *const side_names[] = {
    [ORDER_BUY] = "BUY",
    [ORDER_SELL] = "SELL",
};

static const char *const type_names[] = {
    [ORDER_MARKET] = "MARKET",
    [ORDER_LIMIT] = "LIMIT",
    [ORDER_STOP] = "STOP",
    [ORDER_STOP_LIMIT] = "STOP_LIMIT",
    [ORDER_TAKE_PROFIT] = "TAKE_PROFIT",
    [ORDER_TAKE_PROFIT_LIMIT] = "TAKE_PROFIT_LIMIT",
    [ORDER_TRAILING_STOP] = "TRAILING_STOP",
};

static const char *const tif_names[] = {
    [ORDER_GTC] = "GTC", [ORDER_IOC] = "IOC", [ORDER_FOK] = "FOK", [ORDER_DAY] = "DAY",
    [ORDER_GTD] = "GTD", [ORDER_OPG] = "OPG", [ORDER_CLS] = "CLS",
};

static const char *const state_names[] = {
    [ORDER_HELD] = "HELD",       [ORDER_PENDING] = "PENDING",   [ORDER_OPEN] = "OPEN",
    [ORDER_PARTIAL] = "PARTIAL", [ORDER_FILLED] = "FILLED",     [ORDER_CANCELED] = "CANCELED",
    [ORDER_EXPIRED] = "EXPIRED", [ORDER_REJECTED] = "REJECTED", [ORDER_UNKNOWN] = "UNKNOWN",
};

/* Rows: states; columns: actions; 0: it cannot happen, else the next state + 1. */
#define TO(state) ((state) + 1)
static const uint8_t transitions[ORDER_STATES][ORDER_ACTIONS] = {
    [ORDER_HELD] = {[ORDER_ACTIVATES] = TO(ORDER_PENDING),
                    [ORDER_IS_CANCELED] = TO(ORDER_CANCELED),
                    [ORDER_EXPIRES] = TO(ORDER_EXPIRED),
                    [ORDER_AMENDS] = TO(ORDER_HELD)},
    [ORDER_PENDING] = {[ORDER_ARRIVES] = TO(ORDER_OPEN),
                       [ORDER_FILLS_PART] = TO(ORDER_PARTIAL),
                       [ORDER_FILLS_REST] = TO(ORDER_FILLED),
                       [ORDER_IS_CANCELED] = TO(ORDER_CANCELED),
                       [ORDER_EXPIRES] = TO(ORDER_EXPIRED),
                       [ORDER_AMENDS] = TO(ORDER_PENDING),
                       [ORDER_IS_LOST] = TO(ORDER_UNKNOWN),
                       [ORDER_IS_REJECTED] = TO(ORDER_REJECTED)},
    [ORDER_UNKNOWN] = {[ORDER_ARRIVES] = TO(ORDER_OPEN),
                       [ORDER_FILLS_PART] = TO(ORDER_PARTIAL),
                       [ORDER_FILLS_REST] = TO(ORDER_FILLED),
                       [ORDER_IS_CANCELED] = TO(ORDER_CANCELED),
                       [ORDER_EXPIRES] = TO(ORDER_EXPIRED),
                       [ORDER_IS_REJECTED] = TO(ORDER_REJECTED)},
    [ORDER_OPEN] = {[ORDER_FILLS_PART] = TO(ORDER_PARTIAL),
                    [ORDER_FILLS_REST] = TO(ORDER_FILLED),
                    [ORDER_IS_CANCELED] = TO(ORDER_CANCELED),
                    [ORDER_EXPIRES] = TO(ORDER_EXPIRED),
                    [ORDER_AMENDS] = TO(ORDER_OPEN)},
    [ORDER_PARTIAL] = {[ORDER_FILLS_PART] = TO(ORDER_PARTIAL),
                       [ORDER_FILLS_REST] = TO(ORDER_FILLED),
                       [ORDER_IS_CANCELED] = TO(ORDER_CANCELED),
                       [ORDER_EXPIRES] = TO(ORDER_EXPIRED),
                       [ORDER_AMENDS] = TO(ORDER_PARTIAL)},
};

static const char *const reason_names[ORDER_REASONS] = {
    [ORDER_OK] = "",
    [ORDER_BAD_QTY] = "BAD_QTY",
    [ORDER_BAD_PRICE] = "BAD_PRICE",
    [ORDER_UNKNOWN_SYMBOL] = "UNKNOWN_SYMBOL",
    [ORDER_UNKNOWN_ACCOUNT] = "UNKNOWN_ACCOUNT",
    [ORDER_UNKNOWN_ORDER] = "UNKNOWN_ORDER",
    [ORDER_ENDED] = "ORDER_ENDED",
    [ORDER_BAD_TIF] = "BAD_TIF",
    [ORDER_BAD_GROUP] = "BAD_GROUP",
    [ORDER_BAD_AMEND] = "BAD_AMEND",
    [ORDER_DUPLICATE_ID] = "DUPLICATE_ID",
    [ORDER_BAD_ACCOUNT] = "BAD_ACCOUNT",
    [ORDER_SYMBOL_HALTED] = "SYMBOL_HALTED",
    [ORDER_PRICE_FILTER] = "PRICE_FILTER",
    [ORDER_LOT_SIZE] = "LOT_SIZE",
    [ORDER_MARKET_LOT_SIZE] = "MARKET_LOT_SIZE",
    [ORDER_MIN_NOTIONAL] = "MIN_NOTIONAL",
    [ORDER_MAX_NOTIONAL] = "MAX_NOTIONAL",
    [ORDER_PERCENT_PRICE] = "PERCENT_PRICE",
    [ORDER_MAX_NUM_ORDERS] = "MAX_NUM_ORDERS",
    [ORDER_INSUFFICIENT_BALANCE] = "INSUFFICIENT_BALANCE",
    [ORDER_NO_SHORTS] = "NO_SHORTS",
    [ORDER_COLLATERAL] = "COLLATERAL",
    [ORDER_REDUCE_ONLY] = "REDUCE_ONLY",
    [ORDER_NO_LIQUIDITY] = "NO_LIQUIDITY",
    [ORDER_WOULD_TAKE] = "WOULD_TAKE",
    [ORDER_OTHER_LEG] = "OTHER_LEG",
    [ORDER_RISK_PAUSED] = "RISK_PAUSED",
    [ORDER_RISK_STALE_DATA] = "RISK_STALE_DATA",
    [ORDER_RISK_EXPOSURE] = "RISK_EXPOSURE",
    [ORDER_RISK_DAILY_LOSS] = "RISK_DAILY_LOSS",
    [ORDER_RISK_ORDER_RATE] = "RISK_ORDER_RATE",
    [ORDER_RISK_STORAGE] = "RISK_STORAGE",
    [ORDER_RISK_DRAWDOWN] = "RISK_DRAWDOWN",
    [ORDER_RISK_COOLDOWN] = "RISK_COOLDOWN",
    [ORDER_RISK_PRICE_BAND] = "RISK_PRICE_BAND",
    [ORDER_RISK_POSITIONS] = "RISK_POSITIONS",
    [ORDER_SPLIT] = "SPLIT",
    [ORDER_SYMBOL_GONE] = "SYMBOL_GONE",
    [ORDER_INITIAL_MARGIN] = "INITIAL_MARGIN",
    [ORDER_INTRADAY_MARGIN] = "INTRADAY_MARGIN",
    [ORDER_DAY_TRADING_POWER] = "DAY_TRADING_POWER",
    [ORDER_DAY_TRADER_EQUITY] = "DAY_TRADER_EQUITY",
    [ORDER_MARGIN_EQUITY] = "MARGIN_EQUITY",
    [ORDER_UNSETTLED_CASH] = "UNSETTLED_CASH",
    [ORDER_SESSION_CLOSED] = "SESSION_CLOSED",
    [ORDER_RULE_TYPE] = "RULE_TYPE",
    [ORDER_RULE_TIF] = "RULE_TIF",
    [ORDER_RULE_STOP_TIF] = "RULE_STOP_TIF",
    [ORDER_RULE_AUCTION_TYPE] = "RULE_AUCTION_TYPE",
    [ORDER_RULE_OPG_LATE] = "RULE_OPG_LATE",
    [ORDER_RULE_CLS_LATE] = "RULE_CLS_LATE",
    [ORDER_RULE_GROUP] = "RULE_GROUP",
    [ORDER_RULE_EXTENDED_HOURS] = "RULE_EXTENDED_HOURS",
    [ORDER_RULE_FRACTION_TYPE] = "RULE_FRACTION_TYPE",
    [ORDER_RULE_FRACTION_TIF] = "RULE_FRACTION_TIF",
    [ORDER_RULE_FRACTION_GROUP] = "RULE_FRACTION_GROUP",
    [ORDER_RULE_SHORT] = "RULE_SHORT",
    [ORDER_RULE_SHORT_FRACTION] = "RULE_SHORT_FRACTION",
    [ORDER_RULE_SHORTABLE] = "RULE_SHORTABLE",
    [ORDER_RULE_EASY_TO_BORROW] = "RULE_EASY_TO_BORROW",
    [ORDER_RULE_PRICE_DECIMALS] = "RULE_PRICE_DECIMALS",
    [ORDER_VENUE_DETACHED] = "VENUE_DETACHED",
    [ORDER_VENUE_TERMS] = "VENUE_TERMS",
    [ORDER_VENUE_REFUSED] = "VENUE_REFUSED",
    [ORDER_VENUE_LOST] = "VENUE_LOST",
    [ORDER_RISK_UNIVERSE] = "RISK_UNIVERSE",
    [ORDER_ACCOUNT_CLOSED] = "ACCOUNT_CLOSED",
    [ORDER_ACCOUNT_IN_USE] = "ACCOUNT_IN_USE",
};

#define COUNT(names) (sizeof(names) / sizeof(*(names)))

static int find(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -EINVAL;
}

const char *order_side_name(enum order_side side)
{
    return side_names[side];
}

const char *order_type_name(enum order_type type)
{
    return type_names[type];
}

const char *order_state_name(enum order_state state)
{
    return state_names[state];
}

const char *order_reason_name(enum order_reason why)
{
    return reason_names[why];
}

int order_side_parse(const char *name)
{
    return find(side_names, COUNT(side_names), name);
}

int order_type_parse(const char *name)
{
    return find(type_names, COUNT(type_names), name);
}

int order_state_parse(const char *name)
{
    return find(state_names, COUNT(state_names), name);
}

int order_reason_parse(const char *name)
{
    return find(reason_names, COUNT(reason_names), name);
}

const char *order_tif_name(enum order_tif tif)
{
    return tif_names[tif];
}

int order_tif_parse(const char *name)
{
    return find(tif_names, COUNT(tif_names), name);
}

int order_next(enum order_state state, enum order_action action)
{
    if ((unsigned)state >= ORDER_STATES || (unsigned)action >= ORDER_ACTIONS ||
        transitions[state][action] == 0)
        return -EINVAL;
    return transitions[state][action] - 1;
}

bool order_live(enum order_state state)
{
    return state == ORDER_HELD || state == ORDER_PENDING || state == ORDER_OPEN || state == ORDER_PARTIAL ||
           state == ORDER_UNKNOWN;
}

bool order_works_as_limit(const struct order *order)
{
    return order->type == ORDER_LIMIT || (order_has_limit(order->type) && order->triggered);
}
