/* The names of subscribed streams: each once, and which connections carry it. */
#ifndef EXCHANGE_BINANCE_NAMES_H
#define EXCHANGE_BINANCE_NAMES_H

#include <stdbool.h>

#include "exchange/venue.h"

struct shard;

struct binance_name {
    char text[VENUE_STREAM_NAME_MAX];
    struct binance_name *next; /* of the same hash */
    struct shard *shard;       /* the shard that it belongs to; NULL: none yet */
    size_t index;              /* in the shard */
    bool wanted;               /* else it is unsubscribed, and then removed */
    bool on[2];                /* is it subscribed on the shard's connections? */
};

struct binance_names {
    struct binance_name **table; /* chains; a power of two */
    size_t n, cap;
};

/* Is it one that the venue could know? */
bool binance_name_valid(const char *text);

struct binance_name *binance_names_find(const struct binance_names *names, const char *text);

/* A name that is valid and not there yet. NULL without memory. */
struct binance_name *binance_names_add(struct binance_names *names, const char *text);

/* Frees it. */
void binance_names_remove(struct binance_names *names, struct binance_name *name);
void binance_names_clear(struct binance_names *names);

#endif
