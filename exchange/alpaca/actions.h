/* What Alpaca tells of companies: splits and dividends, and what nothing is booked for. */
#ifndef EXCHANGE_ALPACA_ACTIONS_H
#define EXCHANGE_ALPACA_ACTIONS_H

#include "exchange/json.h"
#include "exchange/venue.h"

/* A page of /v1/corporate-actions: splits both ways, stock dividends (splits) and cash dividends. Written to
 * `ret`, as far as `cap` goes, in the reply's order. Rows that do not read, and other kinds, are added to
 * `left_out`, unless they say a day (ex-date, else effective or process date) that begins outside of
 * from..to. *ret_next: the next page's token, in the text; empty at the last. *ret_rows: all rows of the
 * page. 0; -EBADMSG for what is no such page; -E2BIG. */
int alpaca_parse_actions(const char *text, size_t len, int64_t from_ns, int64_t to_ns,
                         struct venue_action *ret, size_t cap, size_t *ret_n, size_t *ret_rows,
                         struct json_text *ret_next, struct venue_left_out *left_out);

#endif
