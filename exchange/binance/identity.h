/* Which message of its stream a frame is, so that the same one from two connections is told to be the same.
 */
#ifndef EXCHANGE_BINANCE_IDENTITY_H
#define EXCHANGE_BINANCE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/json.h"

/* Ids of a stream never go down. Messages of one stream with the same id and the same hash are the same. */
struct binance_identity {
    struct json_text stream; /* in the frame's text */
    uint64_t id;   /* trade t, aggTrade a, depth and bookTicker u, else E; 0 where there is none of these */
    uint64_t hash; /* of the data where ids are not unique by the venue's word; else 0 */
};

/* Reads a combined stream's frame. False for anything else: an answer, an announcement of the connection's
 * own ("!serverShutdown"), a text that is no frame. */
bool binance_identify(const char *frame, size_t len, struct binance_identity *ret);

#endif
