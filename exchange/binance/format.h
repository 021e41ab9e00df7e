#ifndef EXCHANGE_BINANCE_FORMAT_H
#define EXCHANGE_BINANCE_FORMAT_H

#include <stddef.h>

#include "exchange/fees.h"
#include "exchange/market.h"
#include "exchange/symbol.h"
#include "exchange/venue.h"
#include "exchange/venue_format.h"

extern const struct venue_format binance_format, binance_us_format;

/* Binance's tiers of spot fees. */

extern const struct fee_schedule binance_fees, binance_us_fees;

/* Binance's websocket frames into market events. No allocation per frame. */

/* The symbols are the caller's and must outlive the parser; events carry their index. -ENOMEM, -EINVAL for
 * more than SYMBOLS_MAX or a name twice. */
int binance_parser_create(const struct symbol *symbols, size_t n, struct venue_parser **ret);
/* The list has n symbols by now; those that were known stay. The same errors; then nothing has changed. */
int binance_parser_grow(struct venue_parser *parser, size_t n);
void binance_parser_destroy(struct venue_parser *parser);

/* Parses one frame of a combined stream ({"stream":…,"data":…}) or a raw one that carries its event type.
 * Returns 0 with *ret written (depth levels live until the next call); 1 for a frame that is valid but no
 * market data (an answer to a request, a stream that we do not read); -EBADMSG for anything malformed, a
 * number out of range or off the symbol's scale; -ENOENT for a symbol that is not in the table. *ret is
 * meaningless unless 0 is returned. */
int binance_parse(struct venue_parser *parser, const char *frame, size_t len, struct market_event *ret);

/* Binance as a struct venue, and Binance US: the same protocol elsewhere. */
extern const struct venue binance_venue, binance_us_venue;

#endif
