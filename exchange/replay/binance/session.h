/* Binance's WebSocket API: calls as over REST, and the user data of an account. */
#ifndef EXCHANGE_REPLAY_BINANCE_SESSION_H
#define EXCHANGE_REPLAY_BINANCE_SESSION_H

#include "exchange/replay/binance/orders.h"
#include "exchange/replay/broker/order_lists.h"
#include "exchange/replay/client.h"

enum { SESSION_SUBSCRIPTIONS_MAX = 1000, SESSION_SUBSCRIPTIONS_EVER = 65535 };

/* One account's user data, on one connection. */
struct session_subscription {
    int id;
    int account;
    bool by_logon; /* ends with session.logout */
    struct broker_events events;
};

/* A connection to /ws-api/v3. */
struct binance_session {
    struct binance_orders *orders;
    struct client *client;
    struct binance_session *next;
    char key[BROKER_KEY_MAX];   /* of session.logon; "": none */
    struct order_caller caller; /* who has logged on; its clock is the connection's */
    int64_t since_ns;           /* when it logged on */
    int64_t opened_ns;
    bool hides_limits; /* unless a request asks for them */
    struct session_subscription *subscriptions;
    size_t n_subscriptions;
    int subscribed; /* so far */
};

/* `unit` and `limits`: timeUnit and returnRateLimits of the URL. NULL when memory is out. */
struct binance_session *replay_session_open(struct binance_orders *orders, struct client *client,
                                            const char *unit, const char *limits);
void replay_session_close(struct binance_session *session); /* NULL is fine */

/* One message from the client. */
void replay_session_request(struct binance_session *session, const char *text, size_t len);

/* The account's user data from now on. The HTTP status; `body` is written. */
int replay_user_data_begin(struct binance_session *session, int account, bool by_logon, struct text *body);

/* Ends the subscription of that id, or several; returns how many. `after` (NULL is fine): the events that say
 * so, a line each. */
enum { SESSION_ALL = -1, SESSION_LOGON = -2 /* that of session.logon */ };
int replay_user_data_end(struct binance_session *session, int id, struct text *after);

/* The ids, as session.subscriptions has them. */
void replay_user_data_list(const struct binance_session *session, struct text *body);

/* An order has changed: an event to all connections that have its account's user data. */
void replay_user_data_changed(struct binance_orders *orders, const struct broker_order *order,
                              const struct broker_fill *fill);
void replay_user_data_list_changed(struct binance_orders *orders, const struct broker_list *list,
                                   enum broker_list_event event);

#endif
