/* Binance's frames through simdjson, to judge exchange/binance/parse.c by. Plain C for both sides: the
 * exchange's headers are not C++. */
#ifndef BENCH_SIMDJSON_PARSE_H
#define BENCH_SIMDJSON_PARSE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum simdjson_kind { SIMDJSON_TRADE, SIMDJSON_QUOTE, SIMDJSON_DEPTH, SIMDJSON_OTHER };

enum { SIMDJSON_LEVELS_MAX = 16384 };

struct simdjson_level {
    int64_t price, qty;
};

/* The fields of struct market_event that the benchmark's recordings fill. */
struct simdjson_event {
    enum simdjson_kind kind;
    int64_t event_ns, ts_ns;
    int64_t id; /* trade, or update of a quote */
    int64_t price, qty;
    int buyer_maker;
    int64_t bid, bid_qty, ask, ask_qty;
    int64_t first_id, last_id;
    uint32_t n_bids, n_asks;
    struct simdjson_level bids[SIMDJSON_LEVELS_MAX], asks[SIMDJSON_LEVELS_MAX];
};

/* Reads one combined frame with simdjson's on-demand reader; SIMDJSON_PADDING bytes behind it may be read.
 * Numbers are read by `decimal` (exchange/decimal.h), at scale 8. 0, or -1 for anything malformed. */
int simdjson_parse(const char *frame, size_t len,
                   int (*decimal)(const char *text, size_t len, int scale, int64_t *ret),
                   struct simdjson_event *ret);

/* The instruction set that simdjson chose. */
const char *simdjson_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
