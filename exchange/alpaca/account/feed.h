/* User data of an account: /stream, authenticated, and listening to trade_updates. The venue has one such
 * connection a key. An update that cannot be read ends the connection: what it said is missed, and the owner
 * is to look. Internal to this folder. */
#ifndef EXCHANGE_ALPACA_ACCOUNT_FEED_H
#define EXCHANGE_ALPACA_ACCOUNT_FEED_H

#include "exchange/alpaca/trading.h"
#include "exchange/net/connection.h"
#include "exchange/venue_account.h"

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
    struct venue_keys keys;
    struct net_connection connection;
    bool authorized;
};

/* For a zeroed one; `keys` live as long. 0; -EINVAL, -EPROTONOSUPPORT for the URL; -ENOMEM; then nothing is
 * to be closed. */
int alpaca_feed_init(struct paper_feed *feed, const struct paper_feed_owner *owner,
                     const struct venue_account_config *config, const char *ws_url,
                     const struct venue_keys *keys);
static inline void alpaca_feed_close(struct paper_feed *feed) /* `closed` follows */
{
    net_connection_close(&feed->connection);
}

#endif
