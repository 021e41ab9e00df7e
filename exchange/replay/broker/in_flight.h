/* A source whose steps include the arrivals of orders that are on their way: each meets the book as it stands
 * at its time, however the market's steps lie about it. Its due() and step() alone; book() and the tape are
 * the market's. */
#ifndef EXCHANGE_REPLAY_BROKER_IN_FLIGHT_H
#define EXCHANGE_REPLAY_BROKER_IN_FLIGHT_H

#include "exchange/replay/broker/broker.h"
#include "exchange/replay/source.h"

struct replay_in_flight {
    struct replay_source base;
    struct replay_source *market; /* with a tape; not owned */
    struct broker *broker;
    int64_t later_ns; /* its own time less the tape's, of a recording, as the last step had them */
};

/* Both outlive it. */
void replay_in_flight_init(struct replay_in_flight *in_flight, struct replay_source *market,
                           struct broker *broker);

#endif
