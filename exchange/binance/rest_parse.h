/* Parses Binance's REST replies into the types of exchange/market.h. Pure: text in, structs out, nothing
 * kept.
 *
 * Each returns 0, -ENOMEM (binance_parse_wanted() alone), or -EBADMSG for anything malformed (syntax, a
 * missing field, a number that does not fit its scale, a bar that contradicts itself), and leaves its
 * results untouched or partly written on failure: use them on success only. */
#ifndef EXCHANGE_BINANCE_REST_PARSE_H
#define EXCHANGE_BINANCE_REST_PARSE_H

#include "exchange/json.h"
#include "exchange/venue.h"

enum { BINANCE_PRICE_SCALE = 8 };      /* of every pair's prices and klines */
#define BINANCE_MS_MAX 4102444800000LL /* 2100-01-01: a later time is wrong, or in microseconds */

/* What a field of a trade, quote, ticker or kline holds, and where it goes in its struct. */
enum binance_value {
    BINANCE_COUNT,  /* int64_t, >= 0 */
    BINANCE_PRICE,  /* int64_t, >= 0 */
    BINANCE_TRADED, /* a price > 0 */
    BINANCE_QTY,
    BINANCE_VOLUME, /* int128_t */
    BINANCE_QUOTE_VOLUME,
    BINANCE_MS,   /* a time up to BINANCE_MS_MAX, as int64_t nanoseconds */
    BINANCE_TIME, /* a time as binance_read_time() reads it */
    BINANCE_FLAG,
};
struct binance_field {
    const char *key; /* NULL: of an array */
    enum binance_value value;
    size_t at;
};
/* A time in milliseconds, up to BINANCE_MS_MAX, or in microseconds since 2002, as nanoseconds. */
bool binance_read_time(struct json *json, int64_t *ret_ns);
bool binance_read_value(struct json *json, const struct symbol *symbol, enum binance_value value, void *ret);

/* {"serverTime":1499827319559} */
int binance_parse_time(const char *text, size_t len, int64_t *ret_ns);

/* {"code":-1121,"msg":"Invalid symbol."} False when the text is something else. */
bool binance_parse_error(const char *text, size_t len, int64_t *ret_code, struct json_text *ret_msg);

struct binance_info {
    int64_t server_ns;
    int64_t weight_per_minute; /* REQUEST_WEIGHT; 0: not said */
    size_t symbols, unusable;  /* listed; of those with a name or a number that we cannot hold */
};

/* exchangeInfo: calls `each` for every usable symbol, in order; they are said to be `venue`'s. */
int binance_parse_info(const char *text, size_t len, const char *venue,
                       void (*each)(void *user, const struct symbol *symbol), void *user,
                       struct binance_info *ret);

/* exchangeInfo: fills the n wanted symbols, whose names are given. Costs a pass over the text and a look-up a
 * listed symbol; a second pass where one is missing, for the nearest names. */
int binance_parse_wanted(const char *text, size_t len, const char *venue, struct venue_symbol *wanted,
                         size_t n, struct binance_info *ret);

/* klines: at most `cap` bars into ret[], ascending; -E2BIG for more. Bars that close at or after now_ns are
 * forming: they come last, and *ret_closed does not count them. */
int binance_parse_klines(const char *text, size_t len, const struct symbol *symbol, int64_t interval_ns,
                         int64_t now_ns, struct bar *ret, size_t cap, size_t *ret_n, size_t *ret_closed);

/* depth: at most `cap` levels a side, best first; -E2BIG for more. */
int binance_parse_depth(const char *text, size_t len, const struct symbol *symbol, struct book_level *bids,
                        uint32_t *ret_n_bids, struct book_level *asks, uint32_t *ret_n_asks, uint32_t cap,
                        uint64_t *ret_last_id);

#endif
