#ifndef EXCHANGE_ALPACA_FORMAT_H
#define EXCHANGE_ALPACA_FORMAT_H

#include "exchange/fees.h"
#include "exchange/venue.h"
#include "exchange/venue_format.h"

extern const struct venue_format alpaca_format;

/* Alpaca's tiers of fees: stocks, and crypto by volume. */

extern const struct fee_schedule alpaca_fees;

/* The orders that it takes of stocks and of crypto. */

extern const struct order_rules_table alpaca_orders;

/* Alpaca's websocket frames into market events, JSON or msgpack by the first byte. Every frame is an array
 * of messages. No allocation per frame. See exchange/venue_format.h for the contract of each call.
 *
 * Alpaca numbers neither quotes nor books, and crypto and stocks restart their trades' ids as they like: a
 * quote's update_id and a book's last_id are the message's time in microseconds, pushed forward where that
 * does not rise; a difference's first_id follows the last one, so that the parser's numbers have no holes.
 *
 * Minute bars are all that is streamed. Bars of longer intervals are joined from them (exchange/bar_join.h),
 * those below a day by the sessions of the calendar once its days are known, and returned after the minute
 * that ends them, by further calls at the same position. */

int alpaca_parser_create(const struct symbol *symbols, size_t n, struct venue_parser **ret);
int alpaca_parser_grow(struct venue_parser *parser, size_t n);
int alpaca_parser_calendar(struct venue_parser *parser, const struct trading_calendar *calendar);
void alpaca_parser_destroy(struct venue_parser *parser);
int alpaca_parse(struct venue_parser *parser, const char *frame, size_t len, size_t *pos,
                 struct market_event *ret);

extern const struct venue alpaca_venue;

#endif
