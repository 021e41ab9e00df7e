/* User data of an account: /stream, kept up by exchange/net/link.h, authenticated, and listening to
 * trade_updates. The venue has one such connection a key, so the old one is ended before the next is made. An
 * update that cannot be read ends the connection: what it said is missed, and the owner is to look. Internal
 * to this folder. */
#ifndef EXCHANGE_ALPACA_ACCOUNT_FEED_H
#define EXCHANGE_ALPACA_ACCOUNT_FEED_H

#include <uv.h>

#include "exchange/alpaca/trading.h"
#include "exchange/net/link.h"
#include "exchange/net/resolver.h"
#include "exchange/net/url.h"
#include "exchange/net/websocket.h"
#include "exchange/venue_account.h"

enum paper_phase {
    FEED_AWAY,   /* no connection, or one that is being made */
    FEED_ASKED,  /* the keys are sent */
    FEED_LISTEN, /* they are good; the answer to `listen` is due */
    FEED_READY,
};

/* Called from the loop; each may close the feed. */
struct paper_feed_owner {
    void (*changed)(void *user);
    /* False: it cannot be read. */
    bool (*update)(void *user, const struct alpaca_trading *update);
    void (*closed)(void *user); /* after alpaca_feed_close() */
    void *user;
};

struct paper_feed {
    struct paper_feed_owner owner;
    struct net_context *net;
    char *url_text;
    struct url url;
    struct venue_keys keys;
    struct venue_ban ban;
    bool closed;

    struct budget budget;
    struct link link;
    enum paper_phase phase;
    int64_t deadline_ms; /* of the phase; INT64_MAX: none */
    uv_timer_t timer;
    struct resolver_query *query;
    struct resolver_result addresses;
    struct websocket *websocket;

    enum venue_link reported; /* the state that the owner was notified of last */
    int64_t since_ms, last_frame_ms;
    uint64_t frames, bytes, sent;
    char detail[VENUE_DETAIL_MAX];
};

/* For a zeroed one; `keys` live as long. 0; -EINVAL, -EPROTONOSUPPORT for the URL; -ENOMEM; then nothing is
 * to be closed. */
int alpaca_feed_init(struct paper_feed *feed, const struct paper_feed_owner *owner,
                     const struct venue_account_config *config, const char *ws_url,
                     const struct venue_keys *keys);
void alpaca_feed_close(struct paper_feed *feed); /* `closed` follows */
void alpaca_feed_hold(struct paper_feed *feed, int64_t until_ms, const char *why);
void alpaca_feed_status(const struct paper_feed *feed, struct venue_status *ret);

#endif
