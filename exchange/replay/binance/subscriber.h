/* A websocket client of Binance: its subscriptions, and how many messages it may send. */
#ifndef EXCHANGE_REPLAY_BINANCE_SUBSCRIBER_H
#define EXCHANGE_REPLAY_BINANCE_SUBSCRIBER_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/replay/client.h"
#include "exchange/replay/tape.h"

enum {
    SUBSCRIBER_STREAMS_MAX = 1024, /* the venue's limit of one connection */
    SUBSCRIBER_MESSAGES_PER_S = 5, /* the same, of what a client sends */
};

struct binance_subscriber {
    struct client *client;
    struct tape *tape;
    bool combined; /* {"stream":…,"data":…} */
    int unit;      /* STREAM_MS, STREAM_US: of times */

    char **names; /* streams subscribed to */
    int n_names, cap_names;

    uint64_t second_ns; /* start of the second in which messages are counted */
    int messages;

    int64_t opened_ns; /* market time */
    bool leaving;      /* serverShutdown was sent to it */

    struct binance_session *session; /* of the WebSocket API; NULL: a market-data connection */
};

#endif
