/* One websocket that is kept up, of a venue that allows no second one beside it, or of a client that needs
 * none: name, address, attempts and waits by exchange/net/link.h, an answer that does not come, silence on
 * request, and the counts of struct venue_status. What is sent and received is the owner's.
 *
 * Where a venue wants something first (keys, a subscription), the owner sends it when the websocket has
 * opened, says what it waits for, and that it is ready: only then is the link up. */
#ifndef EXCHANGE_NET_CONNECTION_H
#define EXCHANGE_NET_CONNECTION_H

#include <stdio.h>
#include <uv.h>

#include "exchange/net/link.h"
#include "exchange/net/resolver.h"
#include "exchange/net/url.h"
#include "exchange/net/websocket.h"

enum { CONNECTION_PATIENCE_MS = 10 * 1000 }; /* for each answer that is waited for */

/* Called from the loop: `changed` and `turn` also from within a call below that is made from the loop, and
 * nothing from within the others. Each may call any of them, close included, after which they do nothing. */
struct net_connection_handler {
    void (*changed)(void *user); /* its link: net_connection_status() */
    void (*opened)(void *user);
    /* True: it is what the connection is for, and no refusal: it works. */
    bool (*message)(void *user, const char *data, size_t len);
    /* At each turn of its timer, as after net_connection_wake(), before all else; NULL: nothing is done. */
    void (*turn)(void *user);
    /* After net_connection_close(): it may be freed. */
    void (*closed)(void *user);
};

struct net_connection_config {
    struct net_context *net;
    const char *base; /* wss://HOST[:PORT]; read by net_connection_init() alone, as is the next one */
    const char *path; /* "/stream"; "": none */
    int64_t backoff_min_ms, backoff_max_ms, refused_ms;
    uint64_t jitter_seed;
    struct budget *budget; /* NULL: one of its own */
    struct venue_ban ban;
    const char *check;                /* where the upgrade is refused; NULL: "the URL and the keys" */
    bool final_refusals;              /* not of 401 and 403 alone, but of each 4xx that is no limit */
    const struct net_header *headers; /* of the upgrade; they live as long */
    size_t n_headers;
};

/* Its owner may read `config`, `ready`, `closed`, `resting`, `epoch` and `was_ready_ms`. */
struct net_connection {
    const struct net_connection_handler *handler;
    void *user;
    struct net_connection_config config;
    char *url_text;
    struct url url;

    struct budget own_budget;
    struct link link;
    struct resolver_query *query;
    struct resolver_result addresses;
    struct websocket *websocket;
    uv_timer_t timer;
    bool open, ready, paused, resting, closed;
    bool said;            /* something of this attempt */
    int64_t deadline_ms;  /* of the answer that is waited for; INT64_MAX: of none */
    const char *awaited;  /* that answer, in words */
    uint64_t epoch;       /* counts what was opened and what was dropped */
    int64_t was_ready_ms; /* when it last ended as one that was ready; 0: never */

    enum venue_link reported; /* the link that the owner was notified of last */
    int64_t since_ms, last_frame_ms;
    uint64_t frames, bytes, sent;
    char detail[VENUE_DETAIL_MAX];
};

/* For a zeroed one; the handler and the ban's user live as long. The first attempt is due at once. 0;
 * -EINVAL, -EPROTONOSUPPORT for the URL; -ENOMEM; then nothing is to be closed. */
int net_connection_init(struct net_connection *connection, const struct net_connection_config *config,
                        const struct net_connection_handler *handler, void *user);
void net_connection_close(struct net_connection *connection); /* `closed` follows, and nothing else */

/* Queues a text, or a binary frame, and counts it. False: it cannot be sent. */
bool net_connection_send(struct net_connection *connection, const char *text, size_t len);
bool net_connection_send_binary(struct net_connection *connection, const void *data, size_t len);

/* From the loop: an answer is due, in words that follow "without "; lives as long. */
void net_connection_expect(struct net_connection *connection, const char *awaited);
/* From the loop: nothing more is to be waited for, the link is up. */
void net_connection_ready(struct net_connection *connection);

/* Its status' detail. */
#define net_connection_say(connection, ...) \
    ((connection)->said = true, \
     (void)snprintf((connection)->detail, sizeof((connection)->detail), __VA_ARGS__))

void net_connection_clear(struct net_connection *connection); /* of its detail */

/* From the loop: ends the connection, or the attempt. retry_after_ms as net_link_failed(). */
void net_connection_fail(struct net_connection *connection, enum link_failure failure,
                         int64_t retry_after_ms);

/* Before it is up: nothing is tried any more. */
void net_connection_end(struct net_connection *connection);

/* Ends it, and makes another, soon. False: it is not up. */
bool net_connection_replace(struct net_connection *connection, const char *why);

void net_connection_wake(struct net_connection *connection); /* a turn, soon */
/* In a turn: there is nothing to be connected for. What is known of waits is kept. */
void net_connection_rest(struct net_connection *connection, bool rests);
void net_connection_pause(struct net_connection *connection, bool paused); /* of reading */
/* No attempt before; a time that is past changes nothing. */
void net_connection_hold(struct net_connection *connection, int64_t until_ms, const char *why);

void net_connection_status(const struct net_connection *connection, struct venue_status *ret); /* as of now */

#endif
