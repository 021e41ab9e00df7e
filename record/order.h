/* An order and a fill, field by field: exchange/order.h and fill.h describe each. A newer field comes last,
 * with its layout: the next is 13. Seals of rows that lack it stay valid. */
#ifndef RECORD_ORDER_H
#define RECORD_ORDER_H

#include "record/field.h"

struct order;

#define RECORD_ORDER(FIRST, NEXT) \
    FIRST(id, "id", "order", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(account, "account", "account", ACCOUNT, FIXED, ASKED, NULL) \
    NEXT(symbol, "symbol", "symbol", SYMBOL, FIXED, ASKED, NULL) \
    NEXT(side, "side", "side", WORD, FIXED, ASKED, &record_words_order_side) \
    NEXT(type, "type", "type", WORD, FIXED, ASKED, &record_words_order_type) \
    NEXT(tif, "tif", "tif", WORD, CHANGES, ASKED, &record_words_order_tif) \
    NEXT(state, "state", "state", WORD, CHANGES, REQUIRED, &record_words_order_state) \
    NEXT(reason, "reason", "reason", WORD, CHANGES, OPTIONAL, &record_words_order_reason) \
    NEXT(qty, "qty", "qty", QTY, CHANGES, ASKED, NULL) \
    NEXT(filled, "filled", "filled", QTY, CHANGES, REQUIRED, NULL) \
    NEXT(price, "price", "price", PRICE, CHANGES, ASKED | RECORD_OPTIONAL, NULL) \
    NEXT(stop_price, "stop_price", "stop", PRICE, CHANGES, ASKED | RECORD_OPTIONAL, NULL) \
    NEXT(trail, "trail", "trail", PRICE, CHANGES, ASKED | RECORD_OPTIONAL, NULL) \
    NEXT(trail_e6, "trail_e6", "trail_percent", E6, CHANGES, ASKED | RECORD_OPTIONAL, NULL) \
    NEXT(peak, "peak", "peak", PRICE, CHANGES, OPTIONAL, NULL) \
    NEXT(triggered, "triggered", "triggered", BOOL, CHANGES, REQUIRED, NULL) \
    NEXT(post_only, "post_only", "post_only", BOOL, CHANGES, ASKED, NULL) \
    NEXT(reduce_only, "reduce_only", "reduce_only", BOOL, CHANGES, ASKED, NULL) \
    NEXT(group, "group_id", "group", UNSIGNED, CHANGES, OPTIONAL, NULL) \
    NEXT(parent, "parent", "parent", UNSIGNED, CHANGES, OPTIONAL, NULL) \
    NEXT(cost, "cost", "cost", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(created_ns, "created_ns", "created_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(effective_ns, "effective_ns", "effective_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(updated_ns, "updated_ns", "updated_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(expires_ns, "expires_ns", "expires_ns", TIME, CHANGES, ASKED | RECORD_OPTIONAL, NULL) \
    NEXT(input_seq, "input_seq", "input_seq", UNSIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(amends, "amends", "amends", UNSIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(by_hand, "by_hand", "by_hand", BOOL, CHANGES, ASKED, NULL) \
    NEXT(client_id, "client_id", "client_id", TEXT, FIXED, ASKED, NULL) \
    NEXT(tag, "tag", "tag", TEXT, CHANGES, ASKED, NULL) \
    NEXT(extended_hours, "extended_hours", "extended_hours", BOOL, FIXED, ASKED | RECORD_SINCE(8), NULL) \
    NEXT(emulated, "emulated", "emulated", BOOL, CHANGES, SINCE_8, NULL) \
    NEXT(notional, "notional", "notional", QUOTE, FIXED, ASKED | RECORD_OPTIONAL | RECORD_SINCE(8), NULL)

/* The first layout of states and events with all fields of an order; 0: always. */
enum { RECORD_ORDER_LAYOUT = RECORD_NEWEST(RECORD_ORDER) };

/* Fields of a new order that no rule relates to others: a flag or a text, by its member in the daemon's
 * command and as an option of `papertape order`.
 *   GIVEN(member, option, argument of the option or NULL for a flag, description, actions that take it) */
#define RECORD_ORDER_GIVEN(GIVEN) \
    GIVEN(post_only, "post-only", NULL, "a limit order that is cancelled rather than take", "buy sell") \
    GIVEN(reduce_only, "reduce-only", NULL, "never opens or turns a position", "buy sell oco") \
    GIVEN(extended_hours, "extended-hours", NULL, \
          "a limit order for the day that fills before and after the session too", "buy sell") \
    GIVEN(client_id, "client-id", "ID", "your own name for it: 36 of A-Z a-z 0-9 . _ : / -", \
          "buy sell oco amend cancel")

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
    NEXT(input_seq, "input_seq", "input_seq", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(basis, "basis", "by", WORD, FIXED, OPTIONAL, &record_words_fill_basis) \
    NEXT(fee_base, "fee_base", "fee_base", QTY, FIXED, OPTIONAL, NULL) \
    NEXT(sec_fee, "sec_fee", "sec_fee", QUOTE, FIXED, OPTIONAL, NULL) \
    NEXT(taf_fee, "taf_fee", "taf_fee", QUOTE, FIXED, OPTIONAL, NULL)

extern const struct record record_orders, record_fills;

/* The fields of RECORD_ORDER_GIVEN, in its order. NULL: past the last. */
const struct record_field *record_order_given(int i);

enum { RECORD_GIVEN_TEXT_MAX = 256 };
/* Those that an order has set, each after a blank, " post-only"; without its client id. */
void record_order_given_text(const struct order *order, char ret[static RECORD_GIVEN_TEXT_MAX]);

#endif
