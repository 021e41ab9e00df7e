/* Binance's WebSocket API: calls as over REST, and the user data of an account. */
#ifndef EXCHANGE_REPLAY_BINANCE_SESSION_H
#define EXCHANGE_REPLAY_BINANCE_SESSION_H

#include "exchange/replay/binance/orders.h"
#include "exchange/replay/client.h"

/* A connection to /ws-api/v3. */
struct binance_session {
    struct binance_orders *orders;
    struct client *client;
    struct binance_session *next;
    char key[BROKER_KEY_MAX]; /* of session.logon; "": none */
    struct order_caller caller;
    int64_t since_ns; /* when it logged on */
    int64_t opened_ns;
    int subscription; /* -1: none */
    int account;      /* whose user data it gets */
    struct broker_events events;
};

/* NULL when memory is out. */
struct binance_session *replay_session_open(struct binance_orders *orders, struct client *client);
void replay_session_close(struct binance_session *session); /* NULL is fine */

/* One message from the client. */
void replay_session_request(struct binance_session *session, const char *text, size_t len);

/* An order has changed: an event to all connections that have its account's user data. */
void replay_user_data_changed(struct binance_orders *orders, const struct broker_order *order,
                              const struct broker_fill *fill);

#endif
