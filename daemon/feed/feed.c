/* A feed's way up and down. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/feed/internal.h"
#include "daemon/log.h"

enum {
    TICK_MS = 1000,
    RETRY_MIN_MS = 1000,
    RETRY_MAX_MS = 60000,
    MISSED_BARS_MAX = 10000, /* that are fetched after a time away; a week of minutes */
};

int64_t feed_now_ms(void)
{
    return (int64_t)(uv_hrtime() / 1000000);
}

int64_t feed_wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Since the venue told its time; whatever becomes of ours. */
static int64_t boot_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int64_t feed_venue_now_ns(const struct feed *feed)
{
    if (feed->daemon->config.clock == CLOCK_FEED)
        return session_now(feed->daemon->session);
    int64_t now = feed->have_offset ? feed->server_ns + boot_ns() - feed->server_boot_ns : feed_wall_ns();
    return now > feed->newest_ns ? now : feed->newest_ns;
}

static void tap_reply(void *user, const char *path, const char *body, size_t len)
{
    struct feed *feed = user;
    session_reply(feed->daemon->session, path, body, len);
}

const char *feed_ws_url(const struct feed *feed)
{
    return feed->config->ws_url[0] ? feed->config->ws_url : feed->venue->ws_url;
}

const char *feed_rest_url(const struct feed *feed)
{
    return feed->config->rest_url[0] ? feed->config->rest_url : feed->venue->rest_url;
}

static int make_symbols(struct feed *feed, const char (*names)[SYMBOL_NAME_MAX], const int *indices, int n)
{
    feed->listed = calloc((size_t)n, sizeof *feed->listed);
    feed->symbols = calloc((size_t)n, sizeof *feed->symbols);
    if (!feed->listed || !feed->symbols)
        return -ENOMEM;
    for (int s = 0; s < n; s++) {
        memcpy(feed->listed[s].name, names[s], sizeof feed->listed[s].name);
        feed->symbols[s].index = indices[s];
    }
    feed->n_symbols = n;
    return 0;
}

int feed_create(struct feeds *feeds, struct daemon *daemon, const struct config_venue *config,
                const char (*names)[SYMBOL_NAME_MAX], const int *indices, int n, struct feed **ret, char *err,
                size_t err_size)
{
    struct feed *feed = calloc(1, sizeof *feed);
    int r = feed ? make_symbols(feed, names, indices, n) : -ENOMEM;
    if (r == 0) {
        feed->feeds = feeds;
        feed->daemon = daemon;
        feed->venue = config->venue;
        feed->config = config;
        feed->kinds = config_streams(&daemon->config, config);
        backoff_init(&feed->backoff, RETRY_MIN_MS, RETRY_MAX_MS, uv_hrtime());
        struct venue_rest_config rest = {
            .net = feeds_net(feeds),
            .rest_url = config->rest_url[0] ? config->rest_url : NULL,
            .jitter_seed = uv_hrtime(),
            .tap = tap_reply,
            .tap_user = feed,
        };
        r = feed->venue->rest_create(&rest, &feed->rest);
    }
    if (r < 0) {
        if (r == -ENOMEM)
            snprintf(err, err_size, "out of memory");
        else
            snprintf(err, err_size, "%s rest_url: %s: %s", config->venue->format->name, feed_rest_url(feed),
                     strerror(-r));
        if (feed) {
            free(feed->listed);
            free(feed->symbols);
        }
        free(feed);
        return r;
    }
    uv_timer_init(daemon->loop, &feed->tick);
    uv_timer_init(daemon->loop, &feed->retry);
    uv_idle_init(daemon->loop, &feed->settle);
    feed->tick.data = feed->retry.data = feed->settle.data = feed;
    *ret = feed;
    return 0;
}

/* The way up: time, symbols, history, stream. */

void feed_history_done(struct feed *feed)
{
    if (--feed->history_left == 0)
        feed_open_stream(feed);
}

static void begin_stage(struct feed *feed);

static void on_retry(uv_timer_t *timer)
{
    struct feed *feed = timer->data;
    feed->retry_at_ms = 0;
    begin_stage(feed);
}

static void try_again(struct feed *feed, const char *what, const char *why)
{
    int64_t delay = backoff_next(&feed->backoff);
    snprintf(feed->detail, sizeof feed->detail, "%s: %s", what, why);
    log_warning("feed: %s; trying again in %.1f s", feed->detail, (double)delay / 1000);
    feed->retry_at_ms = feed_now_ms() + delay;
    uv_timer_start(&feed->retry, on_retry, (uint64_t)delay, 0);
}

static void have_time(void *user, const struct venue_reply *reply)
{
    struct feed *feed = user;
    if (reply->error) {
        try_again(feed, "time", reply->text);
        return;
    }
    feed->server_ns = reply->server_ns;
    feed->server_boot_ns = boot_ns() - reply->elapsed_ms * 1000000 / 2;
    feed->clock_offset_ns = reply->server_ns - (feed_wall_ns() - reply->elapsed_ms * 1000000 / 2);
    feed->have_offset = true;
    feed->stage = STAGE_SYMBOLS;
    begin_stage(feed);
}

/* History before the stream starts; of a symbol that a former run streamed, what closed since. */
static int64_t history_from(const struct feed *feed, int symbol, int64_t open)
{
    const struct config *config = &feed->daemon->config;
    struct engine_symbol_view view;
    engine_symbol_view(session_engine(feed->daemon->session), feed->symbols[symbol].index, &view);
    if (view.bars == 0)
        return open - config->history * config->interval_ns;
    int64_t next = view.last_bar.open_ns + config->interval_ns;
    int64_t most = open - MISSED_BARS_MAX * config->interval_ns;
    return next > most ? next : most;
}

static void ask_history(struct feed *feed)
{
    const struct config *config = &feed->daemon->config;
    int64_t open = bar_open_time(feed_venue_now_ns(feed), config->interval_ns);
    feed->stage = STAGE_HISTORY;
    feed->history_left = feed->n_symbols + 1;
    for (int s = 0; s < feed->n_symbols; s++) {
        int64_t from = history_from(feed, s, open);
        if (from >= open || feed_ask_bars(feed, s, from, open, BARS_HISTORY) < 0)
            feed->history_left--;
    }
    feed_history_done(feed);
}

/* Its rows say whose a symbol is. */
static void name_venue(struct feed *feed)
{
    for (int s = 0; s < feed->n_symbols; s++)
        snprintf(feed->listed[s].venue, sizeof feed->listed[s].venue, "%s", feed->venue->format->name);
}

static void have_symbols(void *user, const struct venue_reply *reply)
{
    struct feed *feed = user;
    char err[SESSION_ERROR_MAX];
    if (reply->error) {
        try_again(feed, "symbols", reply->text);
        return;
    }
    for (size_t i = 0; i < reply->symbols.n; i++) {
        const struct venue_symbol *symbol = &reply->symbols.list[i];
        if (symbol->found)
            continue;
        daemon_fail("[market] symbols: %s: %s does not list it%s%s%s", symbol->name,
                    feed->venue->format->name, symbol->nearest[0] ? ": did you mean " : "", symbol->nearest,
                    symbol->nearest[0] ? "?" : "");
        return;
    }
    for (size_t i = 0; i < reply->symbols.n; i++)
        feed->listed[i] = reply->symbols.list[i].symbol;
    name_venue(feed);
    backoff_reset(&feed->backoff);
    feed->detail[0] = '\0';
    feed->answered = true;
    if (!session_begun(feed->daemon->session)) {
        feed->known = true;
        feeds_known(feed->feeds);
        return;
    }
    for (int s = 0; s < feed->n_symbols; s++)
        if (session_update_symbol(feed->daemon->session, feed->symbols[s].index, &feed->listed[s], err,
                                  sizeof err) < 0) {
            daemon_fail("%s", err);
            return;
        }
    ask_history(feed);
}

void feed_begun(struct feed *feed)
{
    const struct venue_rest_status *status = feed->venue->rest_status(feed->rest);
    if (feed->answered)
        ask_history(feed);
    else
        session_alert(feed->daemon->session, DB_WARNING, "feed", status->detail);
}

/* The venue does not answer: its trouble is told once, and the session begins with what a former run knew of
 * the symbols, so that positions are shown and commands are taken. Nothing is filled: all data is stale. */
void feed_begin_without_venue(struct feed *feed)
{
    struct session *session = feed->daemon->session;
    const struct venue_rest_status *status = feed->venue->rest_status(feed->rest);
    if (feed->told_absence || status->failures == 0 || feed->stage > STAGE_SYMBOLS || feed->answered)
        return;
    feed->told_absence = true;
    log_warning("feed: the venue does not answer: %s; trying again", status->detail);
    if (feed->daemon->config.clock == CLOCK_FEED || session_begun(session) ||
        session_stored_symbols(session, feed->venue->format->name, feed->listed, feed->n_symbols) < 0)
        return;
    name_venue(feed);
    feed->known = true;
    feeds_known(feed->feeds);
}

static void begin_stage(struct feed *feed)
{
    const char *names[SYMBOLS_MAX];
    int r = 0;
    if (feed->stage == STAGE_TIME) {
        r = feed->venue->rest_time(feed->rest, have_time, feed, NULL);
    } else if (feed->stage == STAGE_SYMBOLS) {
        for (int s = 0; s < feed->n_symbols; s++)
            names[s] = feed->listed[s].name;
        r = feed->venue->rest_symbols(feed->rest, names, (size_t)feed->n_symbols, have_symbols, feed, NULL);
    }
    if (r < 0)
        try_again(feed, "request", strerror(-r));
}

void feed_start(struct feed *feed)
{
    uv_timer_start(&feed->tick, feed_tick, TICK_MS, TICK_MS);
    begin_stage(feed);
}

/* The way down. */

static void part_closed(struct feed *feed)
{
    if (--feed->open_handles > 0)
        return;
    void (*stopped)(void *) = feed->stopped;
    void *user = feed->stopped_user;
    free(feed->held);
    free(feed->listed);
    free(feed->symbols);
    free(feed->streams);
    free(feed->watched);
    free(feed);
    stopped(user);
}

static void handle_closed(uv_handle_t *handle)
{
    part_closed(handle->data);
}

void feed_stop(struct feed *feed, void (*done)(void *user), void *user)
{
    feed->stopped = done;
    feed->stopped_user = user;
    feed->open_handles = 3;
    feed->venue->stream_destroy(feed->link);
    feed->venue->rest_destroy(feed->rest);
    feed_forget_asked(feed);
    feed->venue->format->parser_destroy(feed->parser);
    feed->n_symbols = 0;
    feed->n_streams = 0;
    uv_close((uv_handle_t *)&feed->tick, handle_closed);
    uv_close((uv_handle_t *)&feed->retry, handle_closed);
    uv_close((uv_handle_t *)&feed->settle, handle_closed);
}
