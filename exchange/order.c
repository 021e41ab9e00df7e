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
};

static const char *const state_names[] = {
    [ORDER_PENDING] = "PENDING", [ORDER_OPEN] = "OPEN",         [ORDER_PARTIAL] = "PARTIAL",
    [ORDER_FILLED] = "FILLED",   [ORDER_CANCELED] = "CANCELED", [ORDER_REJECTED] = "REJECTED",
};

static const char *const reason_names[ORDER_REASONS] = {
    [ORDER_OK] = "",
    [ORDER_BAD_QTY] = "BAD_QTY",
    [ORDER_BAD_PRICE] = "BAD_PRICE",
    [ORDER_UNKNOWN_SYMBOL] = "UNKNOWN_SYMBOL",
    [ORDER_UNKNOWN_ACCOUNT] = "UNKNOWN_ACCOUNT",
    [ORDER_UNKNOWN_ORDER] = "UNKNOWN_ORDER",
    [ORDER_SYMBOL_HALTED] = "SYMBOL_HALTED",
    [ORDER_PRICE_FILTER] = "PRICE_FILTER",
    [ORDER_LOT_SIZE] = "LOT_SIZE",
    [ORDER_MARKET_LOT_SIZE] = "MARKET_LOT_SIZE",
    [ORDER_MIN_NOTIONAL] = "MIN_NOTIONAL",
    [ORDER_MAX_NOTIONAL] = "MAX_NOTIONAL",
    [ORDER_PERCENT_PRICE] = "PERCENT_PRICE",
    [ORDER_MAX_NUM_ORDERS] = "MAX_NUM_ORDERS",
    [ORDER_INSUFFICIENT_BALANCE] = "INSUFFICIENT_BALANCE",
    [ORDER_NO_LIQUIDITY] = "NO_LIQUIDITY",
    [ORDER_RISK_PAUSED] = "RISK_PAUSED",
    [ORDER_RISK_STALE_DATA] = "RISK_STALE_DATA",
    [ORDER_RISK_EXPOSURE] = "RISK_EXPOSURE",
    [ORDER_RISK_DAILY_LOSS] = "RISK_DAILY_LOSS",
    [ORDER_RISK_ORDER_RATE] = "RISK_ORDER_RATE",
    [ORDER_RISK_STORAGE] = "RISK_STORAGE",
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

bool order_live(enum order_state state)
{
    return state == ORDER_PENDING || state == ORDER_OPEN || state == ORDER_PARTIAL;
}
