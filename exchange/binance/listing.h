/* The names that the venue says it sends, gathered from several connections. Internal to
 * exchange/binance/stream.c. */
#ifndef EXCHANGE_BINANCE_LISTING_H
#define EXCHANGE_BINANCE_LISTING_H

#include "exchange/json.h"

enum { LISTING_MAX_MS = 15 * 1000 /* that all answers may take */ };

/* All zero: nobody asks. */
struct listing {
    void (*done)(void *user, const char *const *names, size_t n, const char *error); /* NULL: nobody asks */
    void *user;
    unsigned left; /* connections still to answer */
    int64_t until_ms;
    char **names;
    size_t n, cap;
};

/* Adds the names of the array that stands next. False for one that is none, or without memory. */
bool binance_listing_take(struct listing *listing, struct json list);

/* Tells who asked, the names or the error, and forgets all of it before: another may be begun from there. */
void binance_listing_end(struct listing *listing, const char *error);

/* Forgets all of it. */
void binance_listing_drop(struct listing *listing);

#endif
