/* One websocket of a data endpoint: its authentication, its subscriptions, and its encoding. */
#ifndef EXCHANGE_REPLAY_ALPACA_SUBSCRIBER_H
#define EXCHANGE_REPLAY_ALPACA_SUBSCRIBER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/replay/alpaca/alpaca.h"
#include "exchange/replay/broker/faults.h"

enum {
    SUBSCRIBER_AUTH_S = 10,
    SUBSCRIBER_FREE_SYMBOLS = 30,
    SUBSCRIBER_QUEUE_MAX = 8 << 20, /* bytes that a slow client may leave unread */
    SUBSCRIBER_NAMES_MAX = 20000,   /* of a channel */
    SUBSCRIBER_KEY_MAX = 128,
};

/* A channel's names as they were subscribed; "*" is one. */
struct names {
    char (*list)[SYMBOL_NAME_MAX];
    size_t n, cap;
};

_Static_assert((int)RECORDED_BOOKS_MAX <= (int)MADE_SYMBOLS_MAX, "room for the books of both");

struct alpaca_subscriber {
    struct alpaca *alpaca;
    struct replay_endpoint *endpoint; /* NULL: the trading stream */
    struct client *client;
    struct alpaca_subscriber *next;
    bool msgpack, authenticated;
    bool updates; /* of the trading stream: it listens to trade_updates */
    struct broker_events events;
    bool ends; /* an error that ends the connection was sent */
    char key_id[SUBSCRIBER_KEY_MAX];
    uint64_t since_ns; /* uv_hrtime() when it connected */

    struct names channels[FLOW_KINDS];
    bool wants[FLOW_KINDS][MADE_SYMBOLS_MAX];
    bool has_book[MADE_SYMBOLS_MAX]; /* the whole book was sent; of a recording by its books */

    struct text pending; /* messages of this step */
    size_t n_pending;
};

/* NULL when memory is out. */
struct alpaca_subscriber *replay_subscriber_create(struct alpaca *alpaca, struct replay_endpoint *endpoint,
                                                   struct client *client,
                                                   const struct replay_request *request);
void replay_subscriber_destroy(struct alpaca_subscriber *subscriber);

/* Handles a whole message from it. */
void replay_subscriber_receive(struct alpaca_subscriber *subscriber, const char *data, size_t len);

/* Is that held back from it by a fault? */
bool replay_subscriber_silenced(const struct alpaca_subscriber *subscriber, enum flow_kind kind,
                                const char *symbol);
bool replay_subscriber_wants(const struct alpaca_subscriber *subscriber, enum flow_kind kind,
                             const char *symbol);

/* Wall time passes. */
void replay_subscriber_beat(struct alpaca_subscriber *subscriber);

/* Adds a message of the play to what is sent at the end of the step. */
void replay_subscriber_put(struct alpaca_subscriber *subscriber, const struct text *message);
/* Sends what was added, as one frame. */
void replay_subscriber_flush(struct alpaca_subscriber *subscriber);

/* The trading stream, /stream: authentication, listening, and the updates of a key's orders; of a recording
 * those that it has, all at once. Its frames are binary and hold JSON, as on paper (trader.c). */
void replay_trader_receive(struct alpaca_subscriber *trader, const char *data, size_t len);
void replay_trader_beat(struct alpaca_subscriber *trader);
/* To all that listen with that key; takes `data`, which may be NULL. */
void replay_trader_update(struct alpaca *alpaca, const char *key, json_t *data);

#endif
