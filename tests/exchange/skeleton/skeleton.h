/* The skeleton of a venue: copy this folder to begin another one (docs/venues.md). The venue is an example
 * with a thin protocol. It is in no list of venues; exchange/venue_contract tests it as it does those.
 *
 *   format.c  its name, fees, and the parsers of its messages, without a network
 *   stream.c  its websocket and the table; rest.c its requests; account.c orders, fills, balances, user data
 *   replay.c  the venue's side on loopback, for tests: a protocol of papertape-replay
 *
 * All that it sends is arrays in JSON, with decimals as strings of scale 8. Messages of the stream, and rows
 * of what is latest, are ["trade", SYMBOL, TIME, ID, PRICE, QTY, SOLD], ["quote", SYMBOL, TIME, ID, BID, QTY,
 * ASK, QTY] and ["bar", SYMBOL, TIME, CLOSED, BAR]. What is said of an account is a list of ["order",
 * CLIENT_ID, ID, SYMBOL, TIME, SIDE, TYPE, STATE, QTY, PRICE, FILLED], ["fill", CLIENT_ID, ORDER, SYMBOL,
 * TIME, SIDE, TRADE, PRICE, QTY, CUMULATIVE, FEE, MAKER] (the fee is of what is received) and ["balance",
 * ASSET, FREE, LOCKED]. */
#ifndef TESTS_EXCHANGE_SKELETON_H
#define TESTS_EXCHANGE_SKELETON_H

#include "exchange/venue.h"
#include "exchange/venue_account.h"

struct market_event;

enum { SKELETON_SCALE = 8, SKELETON_PAGE = 500 };
#define SKELETON_MINUTE_NS 60000000000LL

extern const struct venue skeleton_venue;
extern const struct venue_format skeleton_format;
extern const struct venue_accounts skeleton_accounts;

/* The next elements of an array: an 'i'nteger, an 'a'mount, a 'w'ide one, a 'b'ool, a 't'ext. Numbers are not
 * below 0. */
bool skeleton_read(struct json *json, const char *kinds, ...);
/* ["error", WORDS]: the words. False: it is none. */
bool skeleton_error(const char *text, size_t len, struct json_text *ret);
/* Reads a message, and whom it is about. False: it is malformed. */
bool skeleton_message(struct json *json, struct json_text *ret_symbol, struct market_event *ret);
bool skeleton_bar(struct json *json, struct bar *ret); /* [OPENED, OPEN, HIGH, LOW, CLOSE, VOLUME, TRADES] */
int skeleton_stream_name(const char *symbol, enum market_kind kind, int64_t interval_ns,
                         char ret[VENUE_STREAM_NAME_MAX]); /* "trade:AAA-USD" */
int skeleton_rest_create(const struct venue_rest_config *config, struct venue_rest **ret);

#endif
