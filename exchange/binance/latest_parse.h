/* REST's answer to what a stream sent last: trades, aggTrades, ticker/bookTicker, ticker/24hr. Pure. */
#ifndef EXCHANGE_BINANCE_LATEST_PARSE_H
#define EXCHANGE_BINANCE_LATEST_PARSE_H

#include "exchange/venue.h"

/* Trades ascending by id, at most `cap` (more are malformed); one quote or ticker, none where the venue has
 * no price of it. What is written is as exchange/venue.h says of LATEST. 0 or -EBADMSG, also for kinds other
 * than TRADE, AGG_TRADE, QUOTE and TICKER. */
int binance_parse_latest(const char *text, size_t len, const struct symbol *symbol, enum market_kind kind,
                         struct market_event *ret, size_t cap, size_t *ret_n);

#endif
