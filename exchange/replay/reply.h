/* REST replies in a recording: klines and the list of symbols, as the venue sent them. */
#ifndef EXCHANGE_REPLAY_REPLY_H
#define EXCHANGE_REPLAY_REPLY_H

#include "exchange/json.h"
#include "exchange/replay/candles.h"

/* What a request's URL (or path) asks. */
enum reply_kind {
    REPLY_OTHER,
    REPLY_KLINES,
    REPLY_INFO, /* exchangeInfo */
};
enum reply_kind replay_reply_kind(struct json_text url);

/* A parameter of the URL as it stands; empty where it is absent. */
struct json_text replay_reply_argument(struct json_text url, const char *name);

/* Reads a reply of klines row by row: `each` of every row, with the time at which it closes. 0; -EINVAL for
 * another text; what `each` returned below 0. */
int replay_reply_klines(struct json_text body,
                        int (*each)(void *ctx, const struct candle *row, int64_t close_ns), void *ctx);

/* The object of a symbol in a reply of exchangeInfo; empty when it is not there. */
struct json_text replay_reply_symbol(struct json_text body, const char *name);

#endif
