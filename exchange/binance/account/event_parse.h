/* Messages of the WebSocket API: answers to requests, and the events of user data. Pure. */
#ifndef EXCHANGE_BINANCE_ACCOUNT_EVENT_PARSE_H
#define EXCHANGE_BINANCE_ACCOUNT_EVENT_PARSE_H

#include "exchange/binance/account/order_parse.h"
#include "exchange/binance/account/outcome.h"

enum binance_message_kind {
    BINANCE_MESSAGE_ANSWER,   /* to the request `id` */
    BINANCE_MESSAGE_REFUSED,  /* an error without an id: of the connection, or of its session's key */
    BINANCE_MESSAGE_EVENT,    /* of user data */
    BINANCE_MESSAGE_SHUTDOWN, /* the server will close its connections soon */
    BINANCE_MESSAGE_OTHER,
};

struct binance_message {
    enum binance_message_kind kind;
    int64_t id;
    struct binance_refusal refusal; /* its status also of a good answer: 200 */
    int64_t wait_ms;                /* as a refusal says: -1: it does not */
    struct json result, event;      /* at the values, where there are such */
    bool has_result;
};

/* 0; -EBADMSG. `now_ms`: the venue's time, for a retryAfter without a serverTime. */
int binance_message_read(const char *text, size_t len, int64_t now_ms, struct binance_message *ret);

enum binance_event_kind {
    BINANCE_EVENT_ORDER, /* with a fill, or without */
    BINANCE_EVENT_BALANCES,
    BINANCE_EVENT_TERMINATED, /* no more events come */
    BINANCE_EVENT_OTHER,      /* nothing that we use */
};

struct binance_event {
    enum binance_event_kind kind;
    struct venue_order order;
    bool filled; /* `fill` is one of a symbol of ours */
    struct venue_fill fill;
    struct venue_lists balances; /* to be freed, whatever is returned */
};

/* The event of a message. 0; -EBADMSG, -ENOMEM. */
int binance_event_read(struct json json, const struct venue_symbols *symbols, struct binance_event *ret);

#endif
