/* Once a second: finds what is stale and what is silent. */
#include <stdio.h>
#include <string.h>

#include "daemon/feed/internal.h"
#include "engine/event.h"
#include "exchange/clock.h"

enum {
    QUIET_BOOK_MS = 5000, /* after so long without a difference a book is requested anyway */
    BAD_A_MINUTE = 10,    /* frames that cannot be read, or … */
    BAD_PERCENT = 1,      /* … of all, of at least so many: */
    BAD_OF = 100,
};

static bool prices(enum market_kind kind)
{
    return kind == MARKET_TRADE || kind == MARKET_AGG_TRADE || kind == MARKET_QUOTE || kind == MARKET_DEPTH;
}

bool feed_stream_counts(const struct feed *feed, size_t at)
{
    int symbol = feed->streams[at].symbol;
    return feed->symbols[symbol].streamed && feed_is_current(feed, at) && !feed->symbols[symbol].down &&
           !feed->listed[symbol].gone && feed_symbol_open(feed, symbol);
}

void feed_listen_to(struct feed *feed, size_t at, int64_t now)
{
    feed->streams[at].since_ns = feed_venue_now_ns(feed);
    feed_silence_begin(&feed->streams[at].silence, now);
}

void feed_listen(struct feed *feed, int64_t now)
{
    for (size_t i = 0; i < feed->n_streams; i++)
        feed_listen_to(feed, i, now);
}

static bool is_stale(const struct stream *stream, int64_t now)
{
    return feed_silence_state(&stream->rule, &stream->silence, now) == SILENCE_STALE;
}

/* Are orders filled from what it brings? A past trade's price may no longer be available. */
static bool fills_from(const struct feed *feed, int symbol, enum market_kind kind)
{
    enum fill_model model = feed->daemon->config.fill_model;
    const int *streams = feed->symbols[symbol].streams;
    bool quotes = streams[MARKET_QUOTE] >= 0, books = streams[MARKET_DEPTH] >= 0 && model == FILL_BOOK;
    if (model == FILL_BAR || (!quotes && !books))
        return prices(kind);
    return (kind == MARKET_QUOTE && quotes) || (kind == MARKET_DEPTH && books);
}

/* A book whose stream is stale, and that REST did not bring within stale_s, is out of date. It is treated
 * as a lost difference: the book is requested again, and orders are not filled from it until then. */
static void drop_old_book(struct feed *feed, int symbol, int64_t now)
{
    int at = feed->symbols[symbol].streams[MARKET_DEPTH], index = feed->symbols[symbol].index;
    const struct book *book = engine_book(daemon_session_engine(feed->daemon->session), index);
    if (at < 0 || book->state != BOOK_SYNCED || !feed_stream_counts(feed, (size_t)at) ||
        !is_stale(&feed->streams[at], now) || now - feed->streams[at].newest.book_ms <= feed->limits.stale_ms)
        return;
    struct event event = {.kind = EVENT_MARKET,
                          .market = {.kind = MARKET_DEPTH,
                                     .symbol = index,
                                     .depth = {.first_id = book->last_id + 2, .last_id = book->last_id + 2}}};
    daemon_session_event(feed->daemon->session, &event);
}

/* A symbol's prices are stale once none of the streams that orders are filled from brought any within
 * stale_s, and REST has newer ones, or does not say. */
static void judge_symbols(struct feed *feed, int64_t now)
{
    for (int s = 0; s < feed->n_symbols; s++) {
        bool fresh = false, watched = false;
        if (!feed->symbols[s].streamed || feed->symbols[s].down)
            continue;
        for (int kind = 0; kind < MARKET_CHANNELS; kind++) {
            int at = feed->symbols[s].streams[kind];
            if (at < 0 || !fills_from(feed, s, (enum market_kind)kind))
                continue;
            watched = true;
            fresh |= now - feed_silence_known_ms(&feed->streams[at].silence) <= feed->limits.stale_ms &&
                     !is_stale(&feed->streams[at], now);
        }
        drop_old_book(feed, s, now);
        bool stale = watched && !fresh && feed_symbol_open(feed, s);
        if (stale == feed->symbols[s].stale)
            continue;
        feed->symbols[s].stale = stale;
        struct event event = {.kind = EVENT_STALE, .stale = {feed->symbols[s].index, stale}};
        daemon_session_event(feed->daemon->session, &event);
    }
}

int feed_link_of(const struct feed *feed, const struct stream *stream)
{
    char name[VENUE_STREAM_NAME_MAX];
    int link = -1;
    if (feed_stream_name(feed, stream->symbol, stream->kind, name) == 0)
        link = feed->venue->stream_connection(feed->link, name);
    return link < 0 ? 0 : link;
}

/* A connection is replaced when all that it carries is silent. Of shares, which trade in sessions, those
 * whose market is closed do not count. */
static void judge_link(struct feed *feed, int at, const struct silence_link *received, int64_t now)
{
    struct silence_replaced *replaced = &feed->replaced[at];
    char why[VENUE_DETAIL_MAX];
    if (!feed_silence_link_due(received, replaced, &feed->limits, now))
        return;
    snprintf(why, sizeof why, "no data of any of %d streams for %lld s", received->streams,
             (long long)((now - received->received_ms) / 1000));
    if (!feed->venue->stream_replace(feed->link, at, why))
        return;
    feed_silence_link_replaced(replaced, now);
    snprintf(feed->silent, sizeof feed->silent, "%s", why);
    feed_alert_raise(feed, DB_WARNING, "silent", "", "%s: the connection is replaced", why);
}

/* The venue's one alert ends with the silence of the last of its connections. */
static void end_silence(struct feed *feed, const struct silence_link links[VENUE_CONNECTIONS_MAX])
{
    bool well = false, silent = false;
    for (int i = 0; i < VENUE_CONNECTIONS_MAX; i++) {
        if (links[i].streams == 0)
            continue;
        well |= feed_silence_link_well(&links[i], &feed->replaced[i]);
        silent |= feed->replaced[i].times > 0;
    }
    if (!well || silent)
        return;
    feed->silent[0] = '\0';
    feed_alert_end(feed, "silent", "");
}

static bool is_alone(const struct feed *feed, const struct stream *stream,
                     const struct silence_link links[VENUE_CONNECTIONS_MAX])
{
    int link = feed_link_of(feed, stream);
    return feed_silence_alone(&stream->rule, &stream->silence, stream->stale_ms, &links[link],
                              &feed->flows[link]);
}

static void judge_silence(struct feed *feed, int64_t now)
{
    struct silence_link links[VENUE_CONNECTIONS_MAX] = {0};
    for (size_t at = 0; at < feed->n_streams; at++) {
        const struct stream *stream = &feed->streams[at];
        if (feed_stream_counts(feed, at))
            feed_silence_link_add(&links[feed_link_of(feed, stream)], &stream->rule, &stream->silence);
    }
    for (int i = 0; i < VENUE_CONNECTIONS_MAX; i++)
        feed_silence_flowed(&feed->flows[i], &links[i], &feed->limits);
    for (size_t at = 0; at < feed->n_streams; at++) {
        struct stream *stream = &feed->streams[at];
        bool stale = feed_stream_counts(feed, at) && is_stale(stream, now);
        if (!stale)
            stream->stale_ms = 0;
        else if (stream->stale_ms == 0)
            stream->stale_ms = now;
        if (!stale || is_alone(feed, stream, links))
            feed_stale_judge(feed, stream, stale);
    }
    feed_stale_report(feed);
    end_silence(feed, links);
    for (int i = 0; i < VENUE_CONNECTIONS_MAX; i++)
        if (links[i].streams > 0)
            judge_link(feed, i, &links[i], now);
}

/* A single one is reported once; so many that something is wrong are reported each time that it starts. */
static void judge_bad(struct feed *feed, int64_t now)
{
    struct measured seen;
    feed_measure_look(&feed->measure, now, &seen);
    uint64_t all = seen.messages + seen.bad;
    bool many = seen.bad >= BAD_A_MINUTE || (all >= BAD_OF && seen.bad * 100 >= all * BAD_PERCENT);
    if (many && !feed->bad_reported)
        feed_alert_raise(feed, DB_WARNING, "bad-frames", "",
                         "%llu of the last minute's %llu messages could not be read, and were dropped",
                         (unsigned long long)seen.bad, (unsigned long long)all);
    if (!many && feed->bad_reported)
        feed_alert_end(feed, "bad-frames", "");
    feed->bad_reported = many;
}

static void fetch_books(struct feed *feed, int64_t now)
{
    const struct engine *engine = daemon_session_engine(feed->daemon->session);
    for (int s = 0; s < feed->n_symbols; s++)
        feed_book_holds(feed, s);
    if (now - feed->up_since_ms <= QUIET_BOOK_MS)
        return;
    for (int s = 0; s < feed->n_symbols; s++)
        if (feed->symbols[s].streams[MARKET_DEPTH] >= 0 && feed->symbols[s].streamed &&
            engine_book(engine, feed->symbols[s].index)->state != BOOK_SYNCED)
            feed_need_snapshot(feed, s);
}

static void end_ban(struct feed *feed)
{
    struct db_ban row = {.venue = feed->venue->format->name, .why = ""};
    if (feed->ban_until_ns == 0 || clock_wall_ns() < feed->ban_until_ns)
        return;
    feed->ban_until_ns = 0;
    feed_alert_end(feed, "banned", "");
    db_writer_put_ban(daemon_session_writer(feed->daemon->session), &row);
}

void feed_tick(uv_timer_t *timer)
{
    struct feed *feed = timer->data;
    int64_t now = clock_now_ms();
    bool wall = feed->daemon->config.clock == CLOCK_WALL;
    feed_report_clock(feed, -1);
    if (wall && feed->stage > STAGE_ACTIONS) /* before, what is due first is not known yet */
        feed_pass(feed, feed_clock_ns(feed));
    if (wall && feed->stage == STAGE_STREAM)
        feed_refresh(feed, feed_clock_ns(feed));
    if (feed->unanswered > 0) { /* nothing is read: the silence is ours */
        feed_listen(feed, now);
    } else if (feed->up_since_ms != 0) {
        if (feed->some_down)
            feed_check_connections(feed);
        judge_symbols(feed, now);
        feed_ask_silent(feed, now);
        judge_silence(feed, now);
        fetch_books(feed, now);
    }
    feed_judge_reach(feed, now);
    feed_recover_judge_all(feed, now);
    judge_bad(feed, now);
    end_ban(feed);
    feed_list_late(feed, now);
    feed_begin_without_venue(feed);
    if (wall && daemon_session_started(feed->daemon->session) && feeds_at(feed->feeds, 0) == feed) {
        struct event event = {.kind = EVENT_TIMER};
        daemon_session_event(feed->daemon->session, &event);
    }
}
