/* Parses Alpaca's assets into symbols. */
#ifndef EXCHANGE_ALPACA_ASSETS_H
#define EXCHANGE_ALPACA_ASSETS_H

#include <stdbool.h>
#include <stddef.h>

#include "exchange/json.h"
#include "exchange/venue.h"

/* Its test stream's only symbol: it trades day and night, and no list has it. */
#define ALPACA_TEST_SYMBOL "FAKEPACA"

/* "BTC/USD" is crypto, anything else a stock. */
bool alpaca_is_crypto(const char *name);

/* Reads a reply of /v2/assets, a list or one asset, into those wanted by name: those found are written, of
 * the others `nearest` is updated; what was found before stays, so that several lists can be read one after
 * another. Stocks: calendar "us-equity", a tick of a cent, whole shares or, where they are divisible, 10^-9
 * of one for a dollar at least. Crypto: no calendar, increments as listed. Inactive ones are `gone`. An
 * asset that does not parse is left out; a wanted one is `unusable`. 0; -EBADMSG. */
int alpaca_parse_assets(const char *text, size_t len, struct venue_symbol *wanted, size_t n);

/* The test symbol, where it is wanted and not listed. */
void alpaca_add_test_symbol(struct venue_symbol *wanted, size_t n);

/* {"code":…,"message":"…"} or {"message":"…"}: true when there is a message. */
bool alpaca_parse_refusal(const char *text, size_t len, struct json_text *ret);

/* The venue's time of /v2/clock. 0; -EBADMSG. */
int alpaca_parse_clock(const char *text, size_t len, int64_t *ret_ns);

#endif
