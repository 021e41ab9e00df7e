/* Alpaca's channels: what a stream's name subscribes to, which channels come along with it, and the
 * requests and answers of subscriptions. Pure. */
#ifndef EXCHANGE_ALPACA_CHANNEL_H
#define EXCHANGE_ALPACA_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/json.h"
#include "exchange/venue.h"

enum alpaca_channel {
    CHANNEL_TRADES,
    CHANNEL_QUOTES,
    CHANNEL_BARS,
    CHANNEL_DAILY,
    CHANNEL_BOOKS,
    CHANNELS_ASKED, /* those above have names; those below come along */
    CHANNEL_UPDATED = CHANNELS_ASKED,
    CHANNEL_STATUSES,
    CHANNEL_BANDS,
    CHANNEL_IMBALANCES,
    CHANNELS,
};

/* A symbol's channels, one bit each. */
struct subscription {
    char symbol[SYMBOL_NAME_MAX];
    uint16_t asked; /* by the stream's names */
    uint16_t sent;  /* subscribed to on this connection */
    bool bare;      /* without halts, bands and imbalances: the venue refused them */
    bool refused;   /* beyond the plan's number of symbols: not subscribed to, whatever is asked */
};

/* "trades:AAPL" and back. -EINVAL: the venue has no such stream; order books are crypto's only, and bars are
 * whole minutes to a day. */
int alpaca_stream_name(const char *symbol, enum market_kind kind, int64_t interval_ns,
                       char ret[VENUE_STREAM_NAME_MAX]);
int alpaca_name_parse(const char *name, enum alpaca_channel *ret_channel, char ret_symbol[SYMBOL_NAME_MAX]);

/* Requests are written in either encoding; longer ones than the venue takes are several. */
enum { ALPACA_REQUEST_MAX = 14000 };

struct alpaca_request {
    bool packed;
    bool overflow; /* it did not fit: none of it may be sent */
    size_t len;
    char data[ALPACA_REQUEST_MAX];
};

void alpaca_request_auth(struct alpaca_request *request, bool packed, const char *id, const char *secret);

/* Requests no further channel: the answer lists all that is subscribed to. */
void alpaca_request_list(struct alpaca_request *request, bool packed);

/* Requests as many of the n subscriptions as fit, from *at on, which is advanced; their `sent` is updated.
 * False, and nothing is written, when there is nothing to `add` (or to remove). */
bool alpaca_request_channels(struct alpaca_request *request, bool packed, bool add, struct subscription *list,
                             size_t n, size_t *at);

/* Messages of the connection itself. */
enum alpaca_notice_kind {
    NOTICE_NONE, /* market data, or of no interest here */
    NOTICE_CONNECTED,
    NOTICE_AUTHENTICATED,
    NOTICE_SUBSCRIBED,
    NOTICE_ERROR,
};

struct alpaca_notice {
    enum alpaca_notice_kind kind;
    int64_t code;          /* ERROR */
    struct json_text text; /* ERROR: in words; within the frame */
};

/* The frame's first message. */
void alpaca_notice_read(const char *frame, size_t len, struct alpaca_notice *ret);

/* The names in a NOTICE_SUBSCRIBED, those that streams are called by. 0; -EBADMSG; what `each` returns. */
int alpaca_notice_names(const char *frame, size_t len, int (*each)(void *user, const char *name), void *user);

#endif
