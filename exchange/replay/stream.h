/* The names of Binance's market streams: `btcusdt@kline_1m` and its like. */
#ifndef EXCHANGE_REPLAY_STREAM_H
#define EXCHANGE_REPLAY_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/replay/candles.h"

enum stream_kind {
    STREAM_TRADE,
    STREAM_AGG_TRADE,
    STREAM_BOOK_TICKER,
    STREAM_DEPTH_FAST, /* @depth@100ms; of futures @depth@0ms, @250ms and @500ms as well */
    STREAM_DEPTH,      /* @depth, the same as @depth@1000ms */
    STREAM_MINI_TICKER,
    STREAM_KLINE,
    STREAM_KINDS,
    STREAM_OTHER = STREAM_KINDS, /* none of these: served only if a recording holds it under this name */
};

enum { STREAM_MS, STREAM_US, STREAM_UNITS }; /* of times in messages */

/* A listener, and whether its frames are wrapped as {"stream":…,"data":…}. */
struct listener {
    void *client;
    bool combined;
    int unit;
};

struct replay_stream {
    char *name;
    size_t name_len;
    enum stream_kind kind;
    int symbol;    /* in the tape's table; -1 for a symbol that is not played */
    int interval;  /* of klines: index as in candles.h */
    bool recorded; /* its frames are in the recording: the tape makes none */

    struct listener *listeners;
    size_t n_listeners, cap_listeners;
    size_t n_units[STREAM_UNITS]; /* of the listeners, by what they want */

    int64_t open_ns;             /* klines: of the forming one as last sent; INT64_MIN: none yet */
    int64_t last_sent_ns;        /* klines, tickers: market time of the last frame */
    bool changed;                /* trades came since then */
    uint64_t sent[STREAM_UNITS]; /* frames, for faults */

    struct replay_stream *next;    /* in the tape's hash */
    struct replay_stream *sibling; /* the next of its symbol */
};

/* Splits a name into symbol (as it stands) and kind; *ret_interval is set for klines. Returns the kind. */
enum stream_kind replay_stream_parse(const char *name, size_t len, size_t *ret_symbol_len, int *ret_interval);

#endif
