/* Orders, fills and balances in the venue's answers. Pure.
 *
 * Functions return 0; -EBADMSG for what is malformed: syntax, a part that is missing, a number below 0 or
 * with more digits than the symbol's scale; -ENOMEM. */
#ifndef EXCHANGE_BINANCE_ACCOUNT_ORDER_PARSE_H
#define EXCHANGE_BINANCE_ACCOUNT_ORDER_PARSE_H

#include "exchange/json.h"
#include "exchange/venue_account.h"

/* An order alone: of a query, a cancel (whose `origClientOrderId` is the order's id), or a new one, with its
 * fills. */
int binance_parse_order(struct json json, const struct venue_symbols *symbols, struct venue_lists *ret);
int binance_parse_open(struct json json, const struct venue_symbols *symbols, struct venue_lists *ret);

/* The fills of the new order that ret->orders[0] is: ascending. */
int binance_parse_fills(struct json json, const struct venue_symbols *symbols, struct venue_lists *ret);

/* myTrades of one order of `symbol`: appended to ret->fills, ascending by trade; `cumulative` counts all of
 * them. Fills of another order are -EBADMSG. */
int binance_parse_trades(struct json json, const struct venue_symbols *symbols, const struct symbol *symbol,
                         const char *order_id, struct venue_lists *ret);

/* account: all that are not 0. */
int binance_parse_balances(struct json json, const struct venue_symbols *symbols, struct venue_lists *ret);

/* The array of balances of an answer or of an event, with those that are 0. */
int binance_parse_balance_list(struct json json, const struct venue_symbols *symbols,
                               struct venue_lists *ret);

/* Parts of both answers and events. Texts are those of a string, or of a number as it is written. */

void binance_copy_words(struct json_text text, char *ret, size_t size); /* cut, and in one line */
bool binance_read_text(struct json *json, struct json_text *ret); /* null and containers: an empty text */
bool binance_text_time(struct json_text text, int64_t *ret_ns);   /* in ms or µs; 0: an empty text */
bool binance_text_flag(struct json_text text, bool *ret);
bool binance_text_state(struct json_text text, enum venue_order_state *ret);
enum order_type binance_text_type(struct json_text text); /* ORDER_TYPES: another */
enum order_tif binance_text_tif(struct json_text text);   /* ORDER_TIFS: another */
bool binance_text_side(struct json_text text, enum order_side *ret);
bool binance_text_amount(struct json_text text, int scale, int64_t *ret); /* >= 0 */

/* An amount of an asset, at the scale that the symbols have for it, or VENUE_BALANCE_SCALE. */
bool binance_text_of_asset(const struct venue_symbols *symbols, const char *asset, struct json_text text,
                           int *ret_scale, int64_t *ret);

#endif
