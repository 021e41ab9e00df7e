/* Symbols, field by field: exchange/symbol.h describes each. */
#ifndef RECORD_SYMBOL_H
#define RECORD_SYMBOL_H

#include "record/field.h"

/* Of struct symbol, and of struct symbol_filters. */
#define RECORD_UNITS(FIRST, NEXT) \
    FIRST(name, "name", "name", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(base, "base", "base", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(quote, "quote", "quote", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(price_scale, "price_scale", "price_scale", SCALE, FIXED, REQUIRED, NULL) \
    NEXT(qty_scale, "qty_scale", "qty_scale", SCALE, FIXED, REQUIRED, NULL) \
    NEXT(quote_scale, "quote_scale", "quote_scale", SCALE, FIXED, REQUIRED, NULL) \
    NEXT(trading, "trading", "trading", BOOL, CHANGES, REQUIRED, NULL)

#define RECORD_FILTERS(FIRST, NEXT) \
    FIRST(price_min, "price_min", "price_min", PRICE, CHANGES, REQUIRED, NULL) \
    NEXT(price_max, "price_max", "price_max", PRICE, CHANGES, REQUIRED, NULL) \
    NEXT(tick, "tick", "tick", PRICE, CHANGES, REQUIRED, NULL) \
    NEXT(qty_min, "qty_min", "qty_min", QTY, CHANGES, REQUIRED, NULL) \
    NEXT(qty_max, "qty_max", "qty_max", QTY, CHANGES, REQUIRED, NULL) \
    NEXT(step, "step", "step", QTY, CHANGES, REQUIRED, NULL) \
    NEXT(market_qty_min, "market_qty_min", "market_qty_min", QTY, CHANGES, REQUIRED, NULL) \
    NEXT(market_qty_max, "market_qty_max", "market_qty_max", QTY, CHANGES, REQUIRED, NULL) \
    NEXT(market_step, "market_step", "market_step", QTY, CHANGES, REQUIRED, NULL) \
    NEXT(notional_min, "notional_min", "notional_min", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(notional_max, "notional_max", "notional_max", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(notional_min_market, "notional_min_market", "notional_min_market", BOOL, CHANGES, REQUIRED, NULL) \
    NEXT(notional_max_market, "notional_max_market", "notional_max_market", BOOL, CHANGES, REQUIRED, NULL) \
    NEXT(bid_up_e4, "bid_up_e4", "bid_up_e4", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(bid_down_e4, "bid_down_e4", "bid_down_e4", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(ask_up_e4, "ask_up_e4", "ask_up_e4", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(ask_down_e4, "ask_down_e4", "ask_down_e4", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(orders_max, "orders_max", "orders_max", SIGNED, CHANGES, REQUIRED, NULL)

/* A stored symbol, of struct db_symbol_row. */
#define RECORD_SYMBOL_OF(FIRST, NEXT, UNIT, FILTER) \
    FIRST(id, "id", "id", UNSIGNED, FIXED, NULLABLE, NULL) \
    NEXT(venue, "venue", "venue", TEXT, FIXED, REQUIRED, NULL) \
    RECORD_UNITS(UNIT, UNIT) \
    RECORD_FILTERS(FILTER, FILTER) \
    NEXT(seen_ns, "seen_ns", "seen_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(symbol.gone, "gone", "gone", BOOL, CHANGES, REQUIRED, NULL) \
    NEXT(symbol.loose_ids, "loose_ids", "loose_ids", BOOL, CHANGES, REQUIRED, NULL) \
    NEXT(symbol.calendar, "calendar", "calendar", TEXT, CHANGES, REQUIRED, NULL) \
    NEXT(streamed, "streamed", "streamed", SIGNED, FIXED, UNKNOWN, NULL) \
    NEXT(symbol.asset, "asset", "asset", WORD, CHANGES, REQUIRED, &db_words_asset_class) \
    NEXT(symbol.shortable, "shortable", "shortable", WORD, CHANGES, REQUIRED, &db_words_symbol_says) \
    NEXT(symbol.easy_to_borrow, "easy_to_borrow", "easy_to_borrow", WORD, CHANGES, REQUIRED, \
         &db_words_symbol_says)
#define RECORD_SYMBOLS(FIRST, NEXT) RECORD_SYMBOL_OF(FIRST, NEXT, NEXT, NEXT)

#endif
