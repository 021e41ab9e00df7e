/* An order and a fill, field by field: exchange/order.h and fill.h say what each is. */
#ifndef RECORD_ORDER_H
#define RECORD_ORDER_H

#include "record/field.h"

#define RECORD_ORDER(FIRST, NEXT) \
    FIRST(id, "id", "order", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(account, "account", "account", ACCOUNT, FIXED, REQUIRED, NULL) \
    NEXT(symbol, "symbol", "symbol", SYMBOL, FIXED, REQUIRED, NULL) \
    NEXT(side, "side", "side", WORD, FIXED, REQUIRED, &record_words_order_side) \
    NEXT(type, "type", "type", WORD, FIXED, REQUIRED, &record_words_order_type) \
    NEXT(tif, "tif", "tif", WORD, CHANGES, REQUIRED, &record_words_order_tif) \
    NEXT(state, "state", "state", WORD, CHANGES, REQUIRED, &record_words_order_state) \
    NEXT(reason, "reason", "reason", WORD, CHANGES, OPTIONAL, &record_words_order_reason) \
    NEXT(qty, "qty", "qty", QTY, CHANGES, REQUIRED, NULL) \
    NEXT(filled, "filled", "filled", QTY, CHANGES, REQUIRED, NULL) \
    NEXT(price, "price", "price", PRICE, CHANGES, OPTIONAL, NULL) \
    NEXT(stop_price, "stop_price", "stop", PRICE, CHANGES, OPTIONAL, NULL) \
    NEXT(trail, "trail", "trail", PRICE, CHANGES, OPTIONAL, NULL) \
    NEXT(trail_e6, "trail_e6", "trail_percent", E6, CHANGES, OPTIONAL, NULL) \
    NEXT(peak, "peak", "peak", PRICE, CHANGES, OPTIONAL, NULL) \
    NEXT(triggered, "triggered", "triggered", BOOL, CHANGES, REQUIRED, NULL) \
    NEXT(post_only, "post_only", "post_only", BOOL, CHANGES, REQUIRED, NULL) \
    NEXT(reduce_only, "reduce_only", "reduce_only", BOOL, CHANGES, REQUIRED, NULL) \
    NEXT(group, "group_id", "group", UNSIGNED, CHANGES, OPTIONAL, NULL) \
    NEXT(parent, "parent", "parent", UNSIGNED, CHANGES, OPTIONAL, NULL) \
    NEXT(cost, "cost", "cost", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(created_ns, "created_ns", "created_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(effective_ns, "effective_ns", "effective_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(updated_ns, "updated_ns", "updated_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(expires_ns, "expires_ns", "expires_ns", TIME, CHANGES, OPTIONAL, NULL) \
    NEXT(input_seq, "input_seq", "input_seq", UNSIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(amends, "amends", "amends", UNSIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(by_hand, "by_hand", "by_hand", BOOL, CHANGES, REQUIRED, NULL) \
    NEXT(client_id, "client_id", "client_id", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(tag, "tag", "tag", TEXT, CHANGES, REQUIRED, NULL)

#define RECORD_FILL(FIRST, NEXT) \
    FIRST(id, "id", "fill", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(order_id, "order_id", "order", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(account, "account", "account", ACCOUNT, FIXED, REQUIRED, NULL) \
    NEXT(symbol, "symbol", "symbol", SYMBOL, FIXED, REQUIRED, NULL) \
    NEXT(side, "side", "side", WORD, FIXED, REQUIRED, &record_words_order_side) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(price, "price", "price", PRICE, FIXED, REQUIRED, NULL) \
    NEXT(qty, "qty", "qty", QTY, FIXED, REQUIRED, NULL) \
    NEXT(notional, "notional", "notional", QUOTE, FIXED, REQUIRED, NULL) \
    NEXT(fee, "fee", "fee", QUOTE, FIXED, REQUIRED, NULL) \
    NEXT(fee_e6, "fee_e6", "fee_percent", E6, FIXED, REQUIRED, NULL) \
    NEXT(maker, "maker", "maker", BOOL, FIXED, REQUIRED, NULL) \
    NEXT(input_seq, "input_seq", "input_seq", UNSIGNED, FIXED, REQUIRED, NULL)

extern const struct record record_orders, record_fills;

#endif
