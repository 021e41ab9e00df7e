/* Orders, fills, cash and positions of an account, as exchange/venue_account.h has them. All of it is exact;
 * what is of a symbol that is not in `symbols` has no numbers. */
#ifndef EXCHANGE_ALPACA_ACCOUNT_ORDER_PARSE_H
#define EXCHANGE_ALPACA_ACCOUNT_ORDER_PARSE_H

#include "exchange/alpaca/trading.h"
#include "exchange/venue_account.h"

/* The venue's words; NULL: it has none. */
extern const char *const alpaca_type_words[ORDER_TYPES], *const alpaca_tif_words[ORDER_TIFS];

/* By its name; coins without their slash too, as positions have them. NULL: none. */
const struct symbol *alpaca_account_symbol(const struct venue_symbols *symbols, struct json_text name);

/* False: its numbers are not the symbol's, or say more filled than ordered, or its id is none. */
bool alpaca_account_order(const struct venue_symbols *symbols, const struct alpaca_order *order,
                          struct venue_order *ret);

/* An update, TRADING_UPDATE: its order, dated by the event, and the fill that it has, if *ret_filled. False:
 * as above. */
bool alpaca_account_update(const struct venue_symbols *symbols, const struct alpaca_trading *update,
                           struct venue_order *ret_order, bool *ret_filled, struct venue_fill *ret_fill);

/* One order, as answers have it. 0; -EBADMSG. *ret_raw lives as long as the text; it may be NULL. */
int alpaca_parse_order(const struct venue_symbols *symbols, const char *text, size_t len,
                       struct venue_order *ret, struct alpaca_order *ret_raw);

/* A list. Its orders grow by what is not in it yet, by id. *ret_n: of the list; *ret_last_ns: when the last
 * one of it was submitted, 0: not said. 0; -EBADMSG; -ENOMEM. */
int alpaca_parse_orders(const struct venue_symbols *symbols, const char *text, size_t len,
                        struct venue_lists *lists, size_t *ret_n, int64_t *ret_last_ns);

/* A page of activities: fills of one order are added, in the list's order. *ret_n: of the page; its last id
 * is the token of the next one. 0; -EBADMSG; -ENOMEM. */
int alpaca_parse_fills(const struct symbol *symbol, const char *order_id, const char *text, size_t len,
                       struct venue_lists *lists, size_t *ret_n, char ret_last[static VENUE_TRADE_ID_MAX]);
/* Sorts them, drops what came twice, and says whether they add up to `filled`. */
bool alpaca_fills_settle(struct venue_lists *lists, int64_t filled);

/* Cash, and positions: those that are not 0 are added. 0; -EBADMSG; -ENOMEM. */
int alpaca_parse_cash(const struct venue_symbols *symbols, const char *text, size_t len,
                      struct venue_lists *lists);
int alpaca_parse_positions(const struct venue_symbols *symbols, const char *text, size_t len,
                           struct venue_lists *lists);

/* {"code":40310000,"message":"…"}: the code, 0 where there is none, and the words. False: it is none. */
bool alpaca_parse_error(const char *text, size_t len, int *ret_code, struct json_text *ret_words);

#endif
