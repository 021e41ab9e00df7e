#include "exchange/alpaca/account/feed.h"

#include "exchange/alpaca/channel.h"
#include "exchange/net/secret.h"

static const char listen_request[] = "{\"action\":\"listen\",\"data\":{\"streams\":[\"trade_updates\"]}}";

static void fail(struct paper_feed *feed, enum link_failure failure, const char *why)
{
    net_connection_say(&feed->connection, "%s", why);
    net_connection_fail(&feed->connection, failure, -1);
}

static void expect(struct paper_feed *feed, bool sent, const char *awaited)
{
    if (sent)
        net_connection_expect(&feed->connection, awaited);
    else
        fail(feed, LINK_LOST, "a request could not be sent");
}

static void on_opened(void *user)
{
    struct paper_feed *feed = user;
    struct alpaca_request *request = net_secret_alloc(sizeof(*request));
    if (request)
        alpaca_request_auth(request, false, feed->keys.id, feed->keys.secret);
    bool sent =
        request && !request->overflow && net_connection_send(&feed->connection, request->data, request->len);
    net_secret_free(request);
    feed->authorized = false;
    expect(feed, sent, "an answer to the keys");
}

static void on_said(struct paper_feed *feed, const struct alpaca_trading *said)
{
    struct net_connection *connection = &feed->connection;
    if (said->kind == TRADING_REFUSED) {
        fail(feed, LINK_ENDED,
             "the venue refuses the account's keys: are they of a paper account that was reset?");
    } else if (said->kind == TRADING_AUTHORIZED && !feed->authorized) {
        feed->authorized = true;
        expect(feed, net_connection_send(connection, listen_request, sizeof(listen_request) - 1),
               "an answer to the request for updates");
    } else if (said->kind == TRADING_LISTENING && feed->authorized && !connection->ready) {
        if (said->updates)
            net_connection_ready(connection);
        else
            fail(feed, LINK_REFUSED, "the venue does not send these keys the updates of their orders");
    }
}

static bool on_message(void *user, const char *data, size_t len)
{
    struct paper_feed *feed = user;
    const uint64_t epoch = feed->connection.epoch;
    struct alpaca_trading said;
    int r = alpaca_parse_trading(data, len, &said);
    if (r == 0 && said.kind != TRADING_UPDATE)
        on_said(feed, &said);
    if (r == 1 || (r == 0 && (said.kind != TRADING_UPDATE || !feed->connection.ready)))
        return false; /* nothing of it yet, or it listens, and has not said so yet */
    bool read = r == 0 && feed->owner.update(feed->owner.user, &said);
    if (!read && feed->connection.epoch == epoch)
        fail(feed, LINK_LOST, "the venue sent what cannot be read: connecting again, to look at the orders");
    return read;
}

static void on_changed(void *user)
{
    struct paper_feed *feed = user;
    feed->owner.changed(feed->owner.user);
}

static void on_closed(void *user)
{
    struct paper_feed *feed = user;
    feed->owner.closed(feed->owner.user);
}

int alpaca_feed_init(struct paper_feed *feed, const struct paper_feed_owner *owner,
                     const struct venue_account_config *config, const char *ws_url,
                     const struct venue_keys *keys)
{
    static const struct net_connection_handler handler = {
        .changed = on_changed, .opened = on_opened, .message = on_message, .closed = on_closed};
    const struct net_connection_config connection = {.net = config->net,
                                                     .base = ws_url,
                                                     .path = "/stream",
                                                     .jitter_seed = config->jitter_seed,
                                                     .ban = config->ban};
    feed->owner = *owner;
    feed->keys = *keys;
    return net_connection_init(&feed->connection, &connection, &handler, feed);
}
