/* An account at Alpaca in tests: its symbols, and orders and updates as the venue writes them. */
#ifndef TESTS_EXCHANGE_ALPACA_ACCOUNT_H
#define TESTS_EXCHANGE_ALPACA_ACCOUNT_H

#include "exchange/symbol.h"

#define E9  1000000000LL
#define ID  "b28e2b24-b1b2-40cc-8979-63f45e8edc02"
#define ID2 "b28e2b24-b1b2-40cc-8979-63f45e8edc03"

enum { AAPL, BTC, ETH_BTC, SYMBOLS };

static const struct symbol list[SYMBOLS] = {
    [AAPL] = {.name = "AAPL",
              .base = "AAPL",
              .quote = "USD",
              .price_scale = 9,
              .qty_scale = 9,
              .quote_scale = 8,
              .calendar = "us-equity",
              .asset = ASSET_US_EQUITY},
    [BTC] = {.name = "BTC/USD",
             .base = "BTC",
             .quote = "USD",
             .price_scale = 2,
             .qty_scale = 9,
             .quote_scale = 8,
             .asset = ASSET_CRYPTO},
    [ETH_BTC] = {.name = "ETH/BTC",
                 .base = "ETH",
                 .quote = "BTC",
                 .price_scale = 9,
                 .qty_scale = 9,
                 .quote_scale = 8,
                 .asset = ASSET_CRYPTO},
};
#define ORDER(members) "{\"id\":\"" ID "\",\"client_order_id\":\"mine\"," members "}"
#define UPDATE(event, more, members) \
    "{\"stream\":\"trade_updates\",\"data\":{\"event\":\"" event \
    "\",\"timestamp\":\"2026-09-18T13:24:51Z\"" more ",\"order\":" ORDER(members) "}}"
#define MARKET_BUY \
    "\"symbol\":\"BTC/USD\",\"qty\":\"1\",\"side\":\"buy\",\"type\":\"market\",\"time_in_force\":\"gtc\","
#define FILL ",\"price\":\"61000.5\",\"qty\":\"0.25\",\"position_qty\":\"0.25\""

#endif
