/* Requests of websocket clients: SUBSCRIBE, UNSUBSCRIBE, LIST_SUBSCRIPTIONS, SET_PROPERTY, GET_PROPERTY. */
#ifndef EXCHANGE_REPLAY_BINANCE_SUBSCRIBE_H
#define EXCHANGE_REPLAY_BINANCE_SUBSCRIBE_H

#include <stdbool.h>
#include <stddef.h>

#include "exchange/replay/binance/subscriber.h"

/* Subscribes to one stream; names that the venue does not play are accepted and stay silent. 0; -E2BIG above
 * the venue's limit; -ENOMEM. */
int replay_subscribe_add(struct binance_subscriber *subscriber, const char *name, size_t len);

/* The streams of a URL: names between slashes. */
int replay_subscribe_list(struct binance_subscriber *subscriber, const char *names);

/* Drops all subscriptions, as before the client goes. */
void replay_subscribe_drop(struct binance_subscriber *subscriber);

/* Answers one request. */
void replay_subscribe_request(struct binance_subscriber *subscriber, const char *text, size_t len);

#endif
