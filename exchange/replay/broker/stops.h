/* When an order that waits for a price is triggered. */
#ifndef EXCHANGE_REPLAY_BROKER_STOPS_H
#define EXCHANGE_REPLAY_BROKER_STOPS_H

#include "exchange/replay/broker/broker.h"

/* The price that triggers it, of one that trails once the best price is `best`; 0: there is none yet. */
int64_t replay_stop_price(const struct broker_terms *terms, int64_t best);

/* Is the stop's price reached at that price? Of one that trails: does it follow from there on? */
bool replay_stop_at(const struct broker_terms *terms, int64_t price);

/* Does the trade trigger it? One that trails follows it, if it does not. */
bool replay_stop_reached(struct broker_order *order, int64_t price, int64_t now_ns);

#endif
