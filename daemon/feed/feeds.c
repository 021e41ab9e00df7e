#include "daemon/feed/feeds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/feed/internal.h"
#include "exchange/net/context.h"

struct feeds {
    struct daemon *daemon;
    struct net_context *net;
    struct feed **list;
    size_t n, left; /* left: that are not stopped yet */
    struct {
        struct feed *feed;
        int at;  /* among the feed's */
    } * symbols; /* by the engine's numbers */
    int n_symbols;
    void (*stopped)(void *user);
    void *stopped_user;
};

struct net_context *feeds_net(const struct feeds *feeds)
{
    return feeds->net;
}

size_t feeds_count(const struct feeds *feeds)
{
    return feeds->n;
}

struct feed *feeds_at(const struct feeds *feeds, size_t i)
{
    return feeds->list[i];
}

struct feed *feeds_of(const struct feeds *feeds, int symbol)
{
    return symbol >= 0 && symbol < feeds->n_symbols ? feeds->symbols[symbol].feed : NULL;
}

/* ---- the way up ---- */

/* A venue's symbols, by the engine's numbers: those of the configuration, in its order. */
static int add_feed(struct feeds *feeds, int venue, char *err, size_t err_size)
{
    const struct config *config = &feeds->daemon->config;
    int first = 0, n = 0, r;
    while (first < config->n_symbols && config->symbol_venues[first] != venue)
        first++;
    while (first + n < config->n_symbols && config->symbol_venues[first + n] == venue)
        n++;
    int *indices = calloc((size_t)n, sizeof *indices);
    if (!indices) {
        snprintf(err, err_size, "out of memory");
        return -ENOMEM;
    }
    for (int s = 0; s < n; s++)
        indices[s] = first + s;
    r = feed_create(feeds, feeds->daemon, &config->venues[venue], config->symbols + first, indices, n,
                    &feeds->list[feeds->n], err, err_size);
    free(indices);
    if (r < 0)
        return r;
    for (int s = 0; s < n; s++) {
        feeds->symbols[first + s].feed = feeds->list[feeds->n];
        feeds->symbols[first + s].at = s;
    }
    feeds->n++;
    return 0;
}

int feeds_create(struct daemon *daemon, struct feeds **ret, char *err, size_t err_size)
{
    const struct config *config = &daemon->config;
    char reason[NET_ERROR_MAX] = "out of memory";
    struct net_config net = {.loop = daemon->loop, .ca_file = config->ca_file[0] ? config->ca_file : NULL};
    struct feeds *feeds = calloc(1, sizeof *feeds);
    int r = feeds ? 0 : -ENOMEM;
    if (r == 0) {
        feeds->daemon = daemon;
        feeds->list = calloc((size_t)config->n_venues, sizeof *feeds->list);
        feeds->n_symbols = config->n_symbols;
        feeds->symbols = calloc((size_t)config->n_symbols, sizeof *feeds->symbols);
        r = feeds->list && feeds->symbols ? net_context_create(&net, &feeds->net, reason) : -ENOMEM;
    }
    if (r < 0)
        snprintf(err, err_size, "%s", reason);
    for (int v = 0; v < config->n_venues && r == 0; v++)
        r = add_feed(feeds, v, err, err_size);
    if (r == 0) {
        *ret = feeds;
    } else if (feeds) {
        if (feeds->net) {
            net_context_stop(feeds->net, NULL, NULL);
            uv_run(daemon->loop, UV_RUN_DEFAULT);
        }
        free(feeds->list);
        free(feeds->symbols);
        free(feeds);
    }
    return r;
}

void feeds_start(struct feeds *feeds)
{
    for (size_t i = 0; i < feeds->n; i++)
        feed_start(feeds->list[i]);
}

/* The first moment: on the feed's clock the earliest that a venue told. */
static int64_t first_moment(const struct feeds *feeds)
{
    if (feeds->daemon->config.clock == CLOCK_WALL)
        return feed_wall_ns();
    int64_t first = feeds->list[0]->server_ns;
    for (size_t i = 1; i < feeds->n; i++)
        if (feeds->list[i]->server_ns < first)
            first = feeds->list[i]->server_ns;
    return first;
}

void feeds_known(struct feeds *feeds)
{
    char err[SESSION_ERROR_MAX];
    for (size_t i = 0; i < feeds->n; i++)
        if (!feeds->list[i]->known)
            return;
    struct symbol *symbols = calloc((size_t)feeds->n_symbols, sizeof *symbols);
    if (!symbols) {
        daemon_fail("out of memory");
        return;
    }
    for (int s = 0; s < feeds->n_symbols; s++)
        symbols[s] = feeds->symbols[s].feed->listed[feeds->symbols[s].at];
    int r = session_begin(feeds->daemon->session, symbols, feeds->n_symbols, first_moment(feeds), err,
                          sizeof err);
    free(symbols);
    if (r < 0) {
        daemon_fail("%s", err);
        return;
    }
    for (size_t i = 0; i < feeds->n; i++)
        feed_begun(feeds->list[i]);
}

/* ---- the way down ---- */

static void net_stopped(void *user)
{
    struct feeds *feeds = user;
    void (*stopped)(void *) = feeds->stopped;
    void *stopped_user = feeds->stopped_user;
    free(feeds->list);
    free(feeds->symbols);
    free(feeds);
    stopped(stopped_user);
}

static void feed_stopped(void *user)
{
    struct feeds *feeds = user;
    if (--feeds->left == 0)
        net_context_stop(feeds->net, net_stopped, feeds);
}

void feeds_stop(struct feeds *feeds, void (*done)(void *user), void *user)
{
    feeds->stopped = done;
    feeds->stopped_user = user;
    feeds->left = feeds->n;
    feeds->n = 0;
    for (size_t i = 0, n = feeds->left; i < n; i++)
        feed_stop(feeds->list[i], feed_stopped, feeds);
}

/* ---- by the engine's symbols ---- */

void feeds_need_snapshot(struct feeds *feeds, int symbol)
{
    struct feed *feed = feeds_of(feeds, symbol);
    if (feed)
        feed_need_snapshot(feed, feeds->symbols[symbol].at);
}

void feeds_need_bars(struct feeds *feeds, int symbol, int64_t from_open_ns, int64_t to_open_ns)
{
    struct feed *feed = feeds_of(feeds, symbol);
    if (feed)
        feed_fill_gap(feed, feeds->symbols[symbol].at, from_open_ns, to_open_ns, BARS_LOST);
}

int64_t feeds_symbol_age_ms(const struct feeds *feeds, int symbol)
{
    const struct feed *feed = feeds->n > 0 ? feeds_of(feeds, symbol) : NULL;
    int64_t newest = 0;
    for (int kind = 0; feed && kind < MARKET_CHANNELS && feed->n_streams > 0; kind++) {
        int at = feed->symbols[feeds->symbols[symbol].at].streams[kind];
        if (at >= 0 && feed->streams[at].last_ms > newest)
            newest = feed->streams[at].last_ms;
    }
    return newest ? feed_now_ms() - newest : -1;
}
