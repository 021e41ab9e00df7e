/* Binance's limits of one address, as the venue applies them: the weight of REST requests in a minute,
 * their number in five, attempts to connect in five, and bans of clients that continue after a 429; the
 * numbers may be others than the venue's. Pure: times are milliseconds of any clock that does not go back,
 * passed in. */
#ifndef EXCHANGE_REPLAY_BINANCE_LIMITS_H
#define EXCHANGE_REPLAY_BINANCE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/replay/binance/filters.h"

enum {
    LIMITS_WEIGHT =
        6000, /* a minute; in exchangeInfo too, as the next; where no other is set, as all three */
    LIMITS_REQUESTS = 61000,   /* in five minutes */
    LIMITS_ATTEMPTS = 300,     /* to connect in five minutes */
    LIMITS_IGNORED = 10,       /* requests after a 429 and before its time is over: then a ban */
    LIMITS_BAN_S = 120,        /* the first one; each further one twice as long */
    LIMITS_BAN_MAX_S = 259200, /* three days */
    LIMITS_TOO_MANY = 429,
    LIMITS_BANNED = 418,
    LIMITS_WEIGHTS_MAX = 16,
    LIMITS_NAME_MAX = 24,
};

/* How much was used in the window that now_ms falls into. */
struct limits_window {
    int64_t index, used;
};

/* What a request of that name weighs, the last part of its path: "klines". */
struct limits_weight {
    char name[LIMITS_NAME_MAX];
    int64_t weight;
};

struct limits {
    int64_t weight_most, requests_most, attempts_most; /* 0: the venue's */
    struct limits_weight weights[LIMITS_WEIGHTS_MAX];  /* others than the venue's */
    size_t n_weights;
    struct replay_filters filters; /* of orders */
    struct limits_window weight, requests, attempts;
    int64_t wait_until_ms; /* the end of the wait that a 429 asked for */
    int64_t ignored;       /* requests since then */
    int64_t banned_until_ms;
    int bans;
};

/* Sets one: "weight=1200", "requests=1000", "connections=10"; above 0. False: it is none. */
bool replay_limits_set(struct limits *limits, const char *spec);
/* Sets what one kind of request weighs: "klines=4"; 0 or more. False: there is no room, or it says nothing.
 */
bool replay_limits_set_weight(struct limits *limits, const char *spec);

/* What is allowed, of weight in a minute and of requests in five. */
int64_t replay_limits_weight(const struct limits *limits);
int64_t replay_limits_requests(const struct limits *limits);
/* What a request weighs, of which the venue charges `weight`; one that is free stays so. */
int replay_limits_weigh(const struct limits *limits, const char *path, int weight);

/* For a request, or an attempt to connect, before it is read: 0, or the status that it is answered with,
 * LIMITS_TOO_MANY or LIMITS_BANNED, and the seconds to wait (at least one). */
int replay_limits_request(struct limits *limits, int64_t now_ms, int64_t *ret_wait_s);
int replay_limits_attempt(struct limits *limits, int64_t now_ms, int64_t *ret_wait_s);

/* Adds the weight of a request that was admitted; as above when that is more than is left of the minute. */
int replay_limits_charge(struct limits *limits, int64_t now_ms, int weight, int64_t *ret_wait_s);

/* The weight used so far in this minute. */
int64_t replay_limits_used(const struct limits *limits, int64_t now_ms);

/* Bans from now on, as long as no other ban lasts longer. */
void replay_limits_ban(struct limits *limits, int64_t now_ms, int64_t length_ms);

#endif
