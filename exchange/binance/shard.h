/* One connection's share of the names, and the connection: kept up, renewed by overlap, and its requests.
 * Internal to exchange/binance/stream.c. */
#ifndef EXCHANGE_BINANCE_SHARD_H
#define EXCHANGE_BINANCE_SHARD_H

#include "exchange/binance/names.h"
#include "exchange/binance/renew.h"
#include "exchange/json.h"
#include "exchange/net/link.h"
#include "exchange/net/resolver.h"
#include "exchange/net/url.h"

enum {
    SHARD_BASE_MAX = 1024,     /* bytes of the URL without the names */
    SHARD_NAMES_MAX = 1024,    /* of one connection, by the venue */
    SHARD_REQUEST_NAMES = 100, /* in one request */
    /* The venue takes 5 messages a second from a connection; two are left for a ping and a pong. */
    SHARD_SEND_EVERY_MS = 350,
    SHARD_SETTLE_MAX_MS = 60 * 1000, /* until all names of a new connection are asked for and answered */
    SHARD_OVERLAP_MIN_MS = 1000,     /* both are up at least this long: a venue's servers differ */
    SHARD_OVERLAP_MAX_MS =
        10 * 1000, /* after the old one's pong, or its last message; then the new one continues */
    SHARD_BACKLOG_MAX_MS = 5 * 60 * 1000, /* however much the old one still brings */
    SHARD_BEHIND_MAX_MS = 5 * 60 * 1000,  /* how long its frames are still compared afterwards */
};

/* The configuration that all shards of a stream share; outlives them. */
struct shard_config {
    struct net_context *net;
    char *base;         /* "wss://HOST[:PORT]" without a slash at the end */
    struct url url;     /* of it */
    const char *suffix; /* of the query: "&timeUnit=MICROSECOND" */
    struct link_config link;
    struct venue_status *status; /* whose counts and detail are written */
    void *user;
    void (*frame)(void *user, const char *data, size_t len);
    void (*changed)(void *user); /* the link may have changed, something may be due */
    void (*limited)(void *user, int64_t until_ms, const char *why); /* the address must not try before */
    void (*listed)(void *user, struct json list, const char *error);
    bool paused;
};

struct connection {
    struct shard *shard;
    struct websocket *websocket; /* NULL: none */
    bool opened, received;
    bool shuts_down;    /* its server announced it: it is renewed as soon as it is the one that is up */
    bool unsettled;     /* names are to be asked for or taken off */
    bool pinging, pong; /* a ping is to be sent; it was answered */
    bool pinged;
    int64_t received_ms, pong_ms; /* the last message; when `pong` was set */
    int64_t send_ms;              /* no request before */
    uint32_t unanswered;
};

struct shard {
    struct shard_config *config;
    struct link link;
    struct resolver_query *query;
    struct resolver_result addresses;
    struct connection connections[2];
    int current, next; /* the one that is up, and the one that is being made or follows it; -1: none */
    struct renew *renew;
    int64_t overlap_ms, behind_ms; /* since when both are up, one is alone */
    int64_t settled_ms;            /* since when the new one carries all names; 0: it does not */
    int64_t paused_ms;             /* since when nothing is read; 0: it is */
    bool silent;                   /* the one that is up is replaced for its silence */
    struct binance_name **names;
    size_t n, cap;
    int64_t request_id, list_id; /* the last; of the list that is asked for, 0: none */
    bool list_wanted;
};

/* NULL without memory. */
struct shard *binance_shard_create(struct shard_config *config, int64_t hold_ms);

/* Closes what is open: no callback follows. */
void binance_shard_close(struct shard *shard);

/* The same, and frees it. Names stay with their set. NULL is fine. */
void binance_shard_destroy(struct shard *shard);

/* False without memory. */
bool binance_shard_add(struct shard *shard, struct binance_name *name);

/* Takes the name out of the shard's list, at once. */
void binance_shard_forget(struct shard *shard, struct binance_name *name);

/* A name is wanted, or no more. */
void binance_shard_unsettle(struct shard *shard);

/* Does all that is due, and returns when it is to be called again. */
int64_t binance_shard_drive(struct shard *shard, int64_t now_ms);

/* The connection that is up is silent: another is opened beside it, and takes its place with the first
 * message that it brings, or after as long as a renewal waits. False: it is not up, or another is being
 * opened already. */
bool binance_shard_replace(struct shard *shard, int64_t now_ms);

void binance_shard_pause(struct shard *shard, bool paused);

/* Requests the list of streams: config->listed() gets it. -ENOTCONN. */
int binance_shard_list(struct shard *shard);

/* What a connection reports about itself, between the frames of its streams. */

struct binance_news {
    bool shutdown; /* serverShutdown: it will be closed soon */
    bool answered; /* an answer to the request `id` */
    bool refused;  /* it, or the connection, was refused: code and msg */
    int64_t id;
    struct json list; /* at the array of names, if the answer is one */
    bool listed;
};

/* Frames of streams begin so; only others are worth binance_news_read(). */
bool binance_is_market_data(const char *frame, size_t len);

/* False for a text that is no such report. */
bool binance_news_read(const char *frame, size_t len, struct binance_news *ret);

/* Requests of a shard to the venue. */

/* BASE/stream?streams=a/b/cSUFFIX for one of its connections, with as many names as fit: the others are asked
 * for when it is open. */
void binance_shard_url(struct shard *shard, int which, char *url, size_t size);

/* Sends one request or ping on a connection, if one is due; it keeps within the venue's limit of messages.
 * Returns when the next is due. */
int64_t binance_shard_send(struct shard *shard, int which, int64_t now_ms);

#endif
