/* The configuration was read again: other streams, limits and keys, and whether symbols are listed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/feed/internal.h"
#include "daemon/log.h"
#include "exchange/clock.h"

int feed_symbol_named(const struct feed *feed, const char *name)
{
    int s = feed_named(feed, name);
    for (int i = 0; s < 0 && i < feed->n_symbols; i++)
        if (feed->symbols[i].base[0] && strcmp(feed->symbols[i].base, name) == 0)
            s = i;
    return s < 0 ? -1 : feed->symbols[s].index;
}

bool feed_has_streams(const struct feed *feed, const char *name, const bool kinds[static MARKET_CHANNELS])
{
    char stream[VENUE_STREAM_NAME_MAX];
    int kind = 0;
    while (kind < MARKET_CHANNELS &&
           (!kinds[kind] || feed->venue->stream_name(name, (enum market_kind)kind,
                                                     feed->daemon->config.interval_ns, stream) < 0))
        kind++;
    return kind < MARKET_CHANNELS;
}

/* ---- are they listed? ---- */

struct find_all {
    struct feed_asked asked;
    struct feed *feed;
    const char (*names)[SYMBOL_NAME_MAX];
    int n;
    feed_found_all *taker;
    void *user;
};

static void dropped(struct feed_asked *asked)
{
    struct find_all *call = (struct find_all *)asked;
    call->taker(call->user, "ESHUTDOWN", "the daemon stopped before the venue had answered", NULL);
}

static void have_all(void *user, const struct venue_reply *reply)
{
    struct find_all *call = user;
    struct feed *feed = call->feed;
    feed_answered(&call->asked);
    call->taker(call->user, reply->error ? "EIO" : NULL, reply->error ? reply->text : NULL,
                reply->error ? NULL : reply->symbols.list);
    free(call);
    feed_release(feed);
}

static int send_all(struct feed_asked *asked)
{
    struct find_all *call = (struct find_all *)asked;
    const char **names = calloc((size_t)call->n, sizeof *names);
    if (!names)
        return -ENOMEM;
    for (int i = 0; i < call->n; i++)
        names[i] = call->names[i];
    int r = net_requests_symbols(call->feed->rest, names, (size_t)call->n, have_all, call, NULL);
    free(names);
    return r;
}

int feed_find_symbols(struct feed *feed, const char (*names)[SYMBOL_NAME_MAX], int n, feed_found_all *taker,
                      void *user)
{
    struct find_all *call = calloc(1, sizeof *call);
    if (!call)
        return -ENOMEM;
    *call = (struct find_all){.asked = {.send = send_all, .dropped = dropped},
                              .feed = feed,
                              .names = names,
                              .n = n,
                              .taker = taker,
                              .user = user};
    return feed_ask(feed, &call->asked, true);
}

/* ---- streams ---- */

/* What a symbol lacks of the wanted kinds, and has in excess. */
static void compare(const struct feed *feed, int symbol, bool lacks[static MARKET_CHANNELS],
                    bool excess[static MARKET_CHANNELS], bool *ret_lacks, bool *ret_excess)
{
    char name[VENUE_STREAM_NAME_MAX];
    *ret_lacks = *ret_excess = false;
    for (int kind = 0; kind < MARKET_CHANNELS; kind++) {
        bool wanted = feed->kinds[kind] && feed_stream_name(feed, symbol, (enum market_kind)kind, name) == 0;
        bool there = feed->symbols[symbol].streams[kind] >= 0;
        lacks[kind] = wanted && !there;
        excess[kind] = there && !wanted;
        *ret_lacks |= lacks[kind];
        *ret_excess |= excess[kind];
    }
}

static int follow(struct feed *feed, int symbol, const bool kinds[static MARKET_CHANNELS], bool on)
{
    if (!feed->symbols[symbol].streamed)
        return 0;
    if (!feed->link)
        return on ? feed_connect(feed) : 0;
    return feed_follow(feed, symbol, kinds, on);
}

static bool take_symbol(struct feed *feed, int symbol)
{
    bool lacks[MARKET_CHANNELS], excess[MARKET_CHANNELS], any_lacks, any_excess;
    struct feed_symbol *ours = &feed->symbols[symbol];
    int r = 0;
    compare(feed, symbol, lacks, excess, &any_lacks, &any_excess);
    if (any_excess)
        r = follow(feed, symbol, excess, false);
    for (int kind = 0; kind < MARKET_CHANNELS; kind++)
        if (excess[kind]) {
            ours->streams[kind] = -1;
            ours->off[kind] = true;
        } else if (lacks[kind]) {
            feed_add_stream(feed, symbol, (enum market_kind)kind);
        }
    if (any_lacks && r == 0)
        r = follow(feed, symbol, lacks, true);
    if (any_excess)
        feed_interrupt(feed, symbol);
    if (r < 0)
        feed_alert_raise(feed, DB_ERROR, "symbol", feed->listed[symbol].name,
                         "%s: its streams could not be changed: %s: they are from the next start on",
                         feed->listed[symbol].name, strerror(-r));
    return any_lacks || any_excess;
}

int feed_take_streams(struct feed *feed)
{
    int n = 0;
    feed->kinds = daemon_config_streams(&feed->daemon->config, feed->config);
    for (int s = 0; feed->streams && s < feed->n_symbols; s++)
        if (!feed->listed[s].gone)
            n += take_symbol(feed, s);
    return n;
}

/* ---- one more venue ---- */

/* As one that did not answer when the session began: its symbols wait until it describes them. */
int feed_join(struct feed *feed, const struct daemon_config_venue *config,
              const char (*names)[SYMBOL_NAME_MAX], int n)
{
    feed->waiting = calloc((size_t)n + 1, sizeof *feed->waiting);
    if (!feed->waiting)
        return -ENOMEM;
    memcpy(feed->waiting, names, (size_t)n * sizeof *names);
    feed->n_waiting = n;
    feed_use(feed, config);
    feed->absent = feed->joined = true;
    feed->actions_from_ns = daemon_session_now(feed->daemon->session);
    feed_start(feed);
    return 0;
}

/* ---- limits of silence ---- */

void feed_take_limits(struct feed *feed)
{
    feed->limits = feed_silence_limits(&feed->daemon->config);
    for (size_t i = 0; i < feed->n_streams; i++)
        feed->streams[i].rule = feed_stream_rule(feed, &feed->streams[i]);
}

/* ---- keys ---- */

/* A venue that refused the former ones. */
static void ask_again(struct feed *feed)
{
    feed->final = false;
    feed->detail[0] = '\0';
    net_backoff_reset(&feed->backoff);
    feed_alert_end(feed, "venue-refused", "");
    if (feed->stage != STAGE_STREAM) {
        feed_continue(feed, feed->stage);
        return;
    }
    feed->venue->stream_destroy(feed->link);
    feed->link = NULL;
    int r = feed_connect(feed);
    if (r < 0)
        feed_end_for_good(feed, strerror(-r));
    else
        feed_backfill_go(feed);
}

/* Requests and connections hold the address of the former ones. */
bool feed_take_keys(struct feed *feed, const struct feed_keys *keys)
{
    if (!feed->keys || memcmp(feed->keys, keys, sizeof *keys) == 0)
        return false;
    memcpy(feed->keys, keys, sizeof *keys);
    daemon_log_info("feed: %s: other keys, from the next request on", feed->venue->format->name);
    if (feed->final)
        ask_again(feed);
    return true;
}
