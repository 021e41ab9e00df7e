/* Adds and removes symbols while a feed runs, and lists the streams that the venue says it has. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/board.h"
#include "daemon/feed/internal.h"
#include "daemon/log.h"
#include "engine/event.h"
#include "exchange/clock.h"
#include "exchange/nearest.h"

enum { LIST_TIMEOUT_MS = 10000 };

bool feed_is_up(const struct feed *feed)
{
    return feed->stage == STAGE_STREAM && feed->parser && !feed->final;
}

static int find(const struct feed *feed, int index)
{
    int s = 0;
    while (s < feed->n_symbols && feed->symbols[s].index != index)
        s++;
    return s < feed->n_symbols ? s : -1;
}

bool feed_streams_symbol(const struct feed *feed, int index)
{
    int s = find(feed, index);
    return s >= 0 && feed->symbols[s].streamed;
}

void feed_leave_out(struct feed *feed, int index, bool left_out)
{
    int s = find(feed, index);
    if (s >= 0)
        feed->symbols[s].left_out = left_out;
}

bool feed_leaves_out(const struct feed *feed, int index)
{
    int s = find(feed, index);
    return s >= 0 && feed->symbols[s].streamed && feed->symbols[s].left_out;
}

/* ---- does the venue list it? ---- */

struct find_call {
    struct feed_asked asked;
    struct feed *feed;
    char name[SYMBOL_NAME_MAX];
    feed_found *taker;
    void *user;
};

static void find_dropped(struct feed_asked *asked)
{
    struct find_call *call = (struct find_call *)asked;
    call->taker(call->user, "ESHUTDOWN", "the daemon stopped before the venue had answered", NULL);
}

static void have_symbol(void *user, const struct venue_reply *reply)
{
    struct find_call *call = user;
    struct feed *feed = call->feed;
    char why[VENUE_DETAIL_MAX + 80];
    const struct venue_symbol *listed_now = reply->error ? NULL : &reply->symbols.list[0];
    feed_answered(&call->asked);
    if (reply->error) {
        call->taker(call->user, "EIO", reply->text, NULL);
    } else if (!listed_now->found) {
        snprintf(why, sizeof why, "args.symbol: %s: %s %s%s", listed_now->name, feed->venue->format->name,
                 feed_unlisted(listed_now), NEAREST_SUGGEST(listed_now->nearest));
        call->taker(call->user, "ENOENT", why, NULL);
    } else {
        struct symbol symbol = listed_now->symbol;
        feed_own(feed, &symbol);
        call->taker(call->user, NULL, NULL, &symbol);
    }
    free(call);
    feed_release(feed);
}

static int send_find(struct feed_asked *asked)
{
    struct find_call *call = (struct find_call *)asked;
    const char *name = call->name;
    return net_requests_symbols(call->feed->rest, &name, 1, have_symbol, call, NULL);
}

int feed_find_symbol(struct feed *feed, const char *name, feed_found *taker, void *user)
{
    struct find_call *call = calloc(1, sizeof *call);
    if (!call)
        return -ENOMEM;
    *call = (struct find_call){
        .asked = {.send = send_find, .dropped = find_dropped}, .feed = feed, .taker = taker, .user = user};
    snprintf(call->name, sizeof call->name, "%s", name);
    return feed_ask(feed, &call->asked, true);
}

/* ---- one more ---- */

static void begin(struct feed *feed, int symbol)
{
    int64_t open, end;
    feed->symbols[symbol].streamed = true;
    feed_bar_span(feed, symbol, feed_over_ns(feed), &open, &end);
    int64_t from = feed_history_from(feed, symbol, open);
    feed_backfill(feed, symbol, from < open ? from : open);
    feed->symbols[symbol].stale = false;
    daemon_board_follow(feed->daemon->board, feed->symbols[symbol].index, true);
    if (from >= open || feed_ask_bars(feed, symbol, from, open, BARS_ADDED) < 0)
        feed_symbol_ready(feed, symbol);
}

void feed_symbol_ready(struct feed *feed, int symbol)
{
    int64_t now = clock_now_ms();
    if (!feed->symbols[symbol].streamed)
        return; /* removed again */
    for (int kind = 0; kind < MARKET_CHANNELS; kind++)
        if (feed->symbols[symbol].streams[kind] >= 0)
            feed_listen_to(feed, (size_t)feed->symbols[symbol].streams[kind], now);
    int r = feed->link ? feed_follow(feed, symbol, NULL, true) : feed_connect(feed);
    if (r < 0)
        feed_alert_raise(feed, DB_ERROR, "symbol", feed->listed[symbol].name,
                         "%s could not be subscribed: %s: it is streamed from the next start on",
                         feed->listed[symbol].name, strerror(-r));
}

/* The session knows it from now on, and so does the feed. */
static int enter(struct feed *feed, const struct symbol *symbol, bool command)
{
    struct session *session = feed->daemon->session;
    feed->listed[feed->n_symbols].quote_scale = daemon_session_unit_of(session, symbol);
    int at = feed->n_symbols, index = daemon_session_add_symbol(session, &feed->listed[at], command);
    if (index < 0)
        return index;
    feed->symbols[at].index = index;
    feed->n_symbols++;
    feeds_added(feed->feeds, feed);
    struct event stale = {.kind = EVENT_STALE, .stale = {index, feed->up_since_ms == 0}};
    daemon_session_event(session, &stale);
    return 0;
}

static void place(struct feed *feed, const struct symbol *symbol)
{
    int at = feed->n_symbols;
    feed->listed[at] = *symbol;
    feed->symbols[at] = (struct feed_symbol){
        .index = -1, .planned = -1, .calendar = -1, .actions_from_ns = feed_venue_now_ns(feed)};
    memset(feed->symbols[at].streams, -1, sizeof feed->symbols[at].streams);
}

void feed_add_waiting(struct feed *feed, const struct venue_symbol *listed_now)
{
    for (int i = 0; i < feed->n_waiting; i++) {
        struct symbol symbol = listed_now[i].symbol;
        int r = listed_now[i].found ? 0 : -ENOENT, at = feed->n_symbols;
        if (r == 0) {
            feed_own(feed, &symbol);
            place(feed, &symbol);
            r = enter(feed, &symbol, false);
        }
        if (r < 0) {
            feed_alert_raise(feed, DB_ERROR, "symbol", listed_now[i].name, "%s is not streamed: %s%s",
                             listed_now[i].name, listed_now[i].found ? strerror(-r) : "it is not listed",
                             NEAREST_SUGGEST(listed_now[i].nearest));
            continue;
        }
        if (feed->joined) /* an earlier run may have removed it by command */
            db_writer_put_streamed(daemon_session_writer(feed->daemon->session), feed->symbols[at].index, -1);
        feed->symbols[at].streamed = true;
        daemon_board_follow(feed->daemon->board, feed->symbols[at].index, true);
    }
    feed->n_waiting = 0;
}

int feed_named(const struct feed *feed, const char *name)
{
    int s = 0;
    while (s < feed->n_symbols && strcmp(feed->listed[s].name, name) != 0)
        s++;
    return s < feed->n_symbols ? s : -1;
}

int feed_add_symbol(struct feed *feed, const struct symbol *listed, bool command)
{
    struct session *session = feed->daemon->session;
    struct symbol own = *listed, *symbol = &own;
    int at = feed_named(feed, symbol->name), r;
    feed_own(feed, symbol);
    if (at >= 0) { /* it was removed in this run */
        struct venue_symbol listed_now = {.found = true, .symbol = *symbol};
        db_writer_put_streamed(daemon_session_writer(session), feed->symbols[at].index, command ? 1 : -1);
        feed_take_listed(feed, at, &listed_now);
        begin(feed, at);
        return 0;
    }
    if (feed->n_symbols == SYMBOLS_MAX)
        return -ENOSPC;
    at = feed->n_symbols;
    place(feed, symbol);
    size_t streams = feed->n_streams;
    r = feed->venue->format->parser_grow(feed->parser, (size_t)at + 1);
    if (r == 0)
        r = feed_add_streams(feed, at);
    if (r == 0)
        r = enter(feed, symbol, command);
    if (r < 0) {
        feed->n_streams = streams;
        return r;
    }
    if (!command) /* an earlier run may have removed it by one */
        db_writer_put_streamed(daemon_session_writer(session), feed->symbols[at].index, -1);
    feed_find_calendars(feed);
    begin(feed, at);
    if (feed->symbols[at].calendar >= 0)
        feed_ask_hours(feed); /* of a calendar that may be new, and its own splits */
    return 0;
}

void feed_remove_symbol(struct feed *feed, int index, bool command)
{
    struct session *session = feed->daemon->session;
    int s = find(feed, index);
    if (s < 0 || !feed->symbols[s].streamed)
        return;
    feed->symbols[s].streamed = feed->symbols[s].left_out = false;
    db_writer_put_streamed(daemon_session_writer(session), index, command ? 0 : -1);
    struct event stale = {.kind = EVENT_STALE, .stale = {index, true}};
    daemon_session_event(session, &stale);
    feed->symbols[s].stale = true;
    daemon_board_follow(feed->daemon->board, index, false);
    int r = feed->link ? feed_follow(feed, s, NULL, false) : 0;
    if (r < 0)
        daemon_log_warning("feed: %s: it could not be unsubscribed: %s: what comes of it is dropped",
                           feed->listed[s].name, strerror(-r));
}

/* ---- what it sends ---- */

struct feed_list {
    feed_listed *taker; /* NULL: no client waits any more */
    void *user;
    int64_t until_ms;
};

static void answer_list(struct feed *feed, const char *code, const char *why, const char *const *names,
                        size_t n)
{
    struct feed_list *list = feed->list;
    feed_listed *taker = list->taker;
    list->taker = NULL;
    if (taker)
        taker(list->user, code, why, names, n);
}

static void have_list(void *user, const char *const *names, size_t n, const char *error)
{
    struct feed *feed = user;
    answer_list(feed, error ? "EIO" : NULL, error, names, n);
    free(feed->list);
    feed->list = NULL;
}

int feed_list_streams(struct feed *feed, feed_listed *taker, void *user)
{
    if (!feed->venue->stream_list)
        return -EOPNOTSUPP;
    if (!feed->link || feed->up_since_ms == 0)
        return -ENOTCONN;
    if (feed->list)
        return -EBUSY;
    feed->list = calloc(1, sizeof *feed->list);
    if (!feed->list)
        return -ENOMEM;
    *feed->list = (struct feed_list){taker, user, clock_now_ms() + LIST_TIMEOUT_MS};
    int r = feed->venue->stream_list(feed->link, have_list, feed);
    if (r < 0) {
        free(feed->list);
        feed->list = NULL;
    }
    return r;
}

void feed_list_late(struct feed *feed, int64_t now_ms)
{
    if (feed->list && now_ms >= feed->list->until_ms)
        answer_list(feed, "ETIMEDOUT", "the venue did not say within 10 s", NULL, 0);
}

void feed_list_drop(struct feed *feed)
{
    if (feed->list)
        answer_list(feed, "ESHUTDOWN", "the daemon stopped before the venue had answered", NULL, 0);
    free(feed->list);
    feed->list = NULL;
}
