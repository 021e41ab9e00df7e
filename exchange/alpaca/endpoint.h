/* One of Alpaca's endpoints, stocks or crypto, and the one connection that it allows: kept up by
 * exchange/net/connection.h, authenticated, and subscribed to what it should carry. Internal to
 * exchange/alpaca/stream.c. Nothing is connected while there is nothing to subscribe to. */
#ifndef EXCHANGE_ALPACA_ENDPOINT_H
#define EXCHANGE_ALPACA_ENDPOINT_H

#include "exchange/alpaca/channel.h"
#include "exchange/net/connection.h"

struct endpoint;

/* Called from the loop. */
struct endpoint_owner {
    void (*changed)(void *user, struct endpoint *endpoint);
    void (*frame)(void *user, struct endpoint *endpoint, const char *data, size_t len);
    /* The answer to alpaca_endpoint_list(), or NULL: the connection ended first. */
    void (*listed)(void *user, struct endpoint *endpoint, const char *data, size_t len);
    void (*closed)(void *user, struct endpoint *endpoint); /* after alpaca_endpoint_close() */
    void *user;
};

struct endpoint {
    const struct endpoint_owner *owner;
    struct net_connection connection; /* rests while nothing is asked for */
    const char *title;                /* "stocks" */
    const char *feed;                 /* "sip" */
    bool packed;
    bool welcomed; /* the keys were sent */
    struct venue_keys keys;
    uint64_t epoch; /* the connection's that all below is of */

    struct subscription *subscriptions;
    size_t n_subscriptions, cap_subscriptions;
    bool listing;        /* a list is asked for */
    size_t limit;        /* symbols that the plan takes: the first ones asked for; SIZE_MAX: not known */
    size_t n_refused;    /* asked for, and beyond it */
    unsigned unanswered; /* requests of this connection, answered in their order */
    unsigned outdated;   /* the next so many answers are to requests of before the limit was known */
    bool bare;           /* it has no channels for what comes along: they are not requested again */
};

/* `path` begins with '/', and ends with the feed's name; it and the title live as long as the endpoint. 0;
 * -EINVAL, -EPROTONOSUPPORT for the URL; -ENOMEM. The config lives as long as the endpoint as far as keys and
 * ban go. */
int alpaca_endpoint_init(struct endpoint *endpoint, const struct endpoint_owner *owner,
                         const struct venue_stream_config *config, const char *base, const char *title,
                         const char *path, bool packed, struct budget *budget, uint64_t jitter_seed);

/* Ends everything; `closed` follows. */
static inline void alpaca_endpoint_close(struct endpoint *endpoint)
{
    net_connection_close(&endpoint->connection);
}

/* Makes room, then takes: the second cannot fail for so many more. */
int alpaca_endpoint_reserve(struct endpoint *endpoint, size_t more);
void alpaca_endpoint_ask(struct endpoint *endpoint, enum alpaca_channel channel, const char *symbol,
                         bool wanted);

/* Is the symbol beyond the plan's number of symbols? */
bool alpaca_endpoint_refuses(const struct endpoint *endpoint, const char *symbol);

/* Updates the connection's subscriptions soon. */
static inline void alpaca_endpoint_touch(struct endpoint *endpoint)
{
    net_connection_wake(&endpoint->connection);
}

int alpaca_endpoint_list(struct endpoint *endpoint); /* 0; -ENOTCONN */

#endif
