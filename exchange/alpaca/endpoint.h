/* One of Alpaca's endpoints, stocks or crypto, and the one connection that it allows: kept up by
 * exchange/net/link.h, authenticated, and subscribed to what it should carry. Internal to
 * exchange/alpaca/stream.c. Nothing is connected while there is nothing to subscribe to. */
#ifndef EXCHANGE_ALPACA_ENDPOINT_H
#define EXCHANGE_ALPACA_ENDPOINT_H

#include "exchange/alpaca/channel.h"
#include "exchange/net/link.h"
#include "exchange/net/resolver.h"
#include "exchange/net/url.h"
#include "exchange/net/websocket.h"

enum endpoint_phase {
    ENDPOINT_AWAY,  /* no connection, or one that is being made */
    ENDPOINT_OPEN,  /* the welcome is due */
    ENDPOINT_ASKED, /* the keys are sent */
    ENDPOINT_READY,
};

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
    const char *title; /* "stocks" */
    const char *feed;  /* "sip" */
    struct net_context *net;
    char *url_text;
    struct url url;
    bool packed, paused, active, closed;
    struct venue_keys keys;
    struct venue_ban ban;

    struct link link;
    enum endpoint_phase phase;
    int64_t deadline_ms; /* of the phase; INT64_MAX: none */
    uv_timer_t timer;
    struct resolver_query *query;
    struct resolver_result addresses;
    struct websocket *websocket;

    struct subscription *subscriptions;
    size_t n_subscriptions, cap_subscriptions;
    bool listing, list_lost; /* a list is asked for; it was when the connection ended */
    size_t limit;            /* symbols that the plan takes: the first ones asked for; SIZE_MAX: not known */
    size_t n_refused;        /* asked for, and beyond it */
    unsigned unanswered;     /* requests of this connection, answered in their order */
    unsigned outdated;       /* the next so many answers are to requests of before the limit was known */
    bool bare;               /* it has no channels for what comes along: they are not requested again */

    enum venue_link reported; /* the state that the owner was notified of last */
    int64_t since_ms, last_frame_ms;
    int64_t ready_ms; /* when it was last up, before this attempt; 0: never */
    uint64_t frames, bytes, sent;
    char detail[VENUE_DETAIL_MAX];
};

/* `path` begins with '/', and ends with the feed's name; it and the title live as long as the endpoint. 0;
 * -EINVAL, -EPROTONOSUPPORT for the URL; -ENOMEM. The config lives as long as the endpoint as far as keys and
 * ban go. */
int alpaca_endpoint_init(struct endpoint *endpoint, const struct endpoint_owner *owner,
                         const struct venue_stream_config *config, const char *base, const char *title,
                         const char *path, bool packed, struct budget *budget, uint64_t jitter_seed);

/* Ends everything; `closed` follows. */
void alpaca_endpoint_close(struct endpoint *endpoint);

/* Makes room, then takes: the second cannot fail for so many more. */
int alpaca_endpoint_reserve(struct endpoint *endpoint, size_t more);
void alpaca_endpoint_ask(struct endpoint *endpoint, enum alpaca_channel channel, const char *symbol,
                         bool wanted);

/* Is the symbol beyond the plan's number of symbols? */
bool alpaca_endpoint_refuses(const struct endpoint *endpoint, const char *symbol);

/* Updates the connection's subscriptions soon. */
void alpaca_endpoint_touch(struct endpoint *endpoint);

/* False: it is not up. */
bool alpaca_endpoint_reconnect(struct endpoint *endpoint, const char *why);
void alpaca_endpoint_pause(struct endpoint *endpoint, bool paused);
int alpaca_endpoint_list(struct endpoint *endpoint); /* 0; -ENOTCONN */
void alpaca_endpoint_hold(struct endpoint *endpoint, int64_t until_ms, const char *why);

enum venue_link alpaca_endpoint_state(const struct endpoint *endpoint);

#endif
