#include "exchange/market.h"

const char *market_kind_name(enum market_kind kind)
{
    static const char *const names[MARKET_KINDS] = {
        [MARKET_TRADE] = "trade",         [MARKET_AGG_TRADE] = "aggTrade", [MARKET_KLINE] = "kline",
        [MARKET_QUOTE] = "bookTicker",    [MARKET_DEPTH] = "depth",        [MARKET_TICKER] = "miniTicker",
        [MARKET_BOOK] = "book",           [MARKET_REVISION] = "revision",  [MARKET_CORRECTION] = "correction",
        [MARKET_CANCEL] = "cancel",       [MARKET_STATUS] = "status",      [MARKET_BANDS] = "bands",
        [MARKET_IMBALANCE] = "imbalance",
    };
    return names[kind];
}
