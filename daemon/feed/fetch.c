/* What the feed asks the venue for by REST: bars and order books. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/feed/internal.h"
#include "daemon/log.h"
#include "engine/event.h"
#include "exchange/clock.h"

/* Bars asked for: history, or a gap. */
struct bars_call {
    struct feed_asked asked;
    struct feed *feed;
    int symbol;
    enum bars_why why;
    bool missed, failed;
    int64_t from_ns, to_ns, found_ns;
    struct bar *bars;
    size_t n;
};

enum {
    MISSED_BARS_MAX = 10000, /* that are fetched after a time away; a week of minutes */
    SETTLE_TURNS = 3,        /* turns in which libwebsockets writes its pending pongs, see feed_ask() */
};

void feed_answered(struct feed_asked *asked)
{
    *asked->at = asked->next;
    if (asked->next)
        asked->next->at = asked->at;
}

/* Sends a request at once; or, when the stream must not move until the answer, as soon as it stands still:
 * the venue has then got the pongs for everything that was read, and a replay's answer does not depend on
 * this machine's speed. */
int feed_ask(struct feed *feed, struct feed_asked *asked, bool hold)
{
    asked->next = feed->asked;
    asked->at = &feed->asked;
    if (asked->next)
        asked->next->at = &asked->next;
    feed->asked = asked;
    if (hold && feed_hold(feed)) {
        feed->settle_turns = 0;
        uv_idle_start(&feed->settle, feed_settle);
        return 0;
    }
    int r = asked->send(asked);
    asked->sent = true;
    if (r < 0) {
        feed_answered(asked);
        free(asked);
    }
    return r;
}

void feed_settle(uv_idle_t *idle)
{
    struct feed *feed = idle->data;
    if (++feed->settle_turns < SETTLE_TURNS)
        return;
    uv_idle_stop(idle);
    for (struct feed_asked *asked = feed->asked, *next; asked; asked = next) {
        next = asked->next;
        if (asked->sent)
            continue;
        asked->sent = true;
        int r = asked->send(asked);
        if (r < 0)
            daemon_fail("a question to the venue could not be sent: %s", strerror(-r));
    }
}

void feed_forget_asked(struct feed *feed)
{
    while (feed->asked) {
        struct feed_asked *asked = feed->asked; /* the first member of what was asked */
        feed_answered(asked);
        if (asked->dropped)
            asked->dropped(asked);
        free(asked->owned);
        free(asked);
    }
}

static int send_bars(struct feed_asked *asked);

/* Are its bars, and later ones, asked for once more? For the engine an answer ends the wait for missing bars:
 * the one that has all of them. */
static bool is_superseded(const struct bars_call *call)
{
    for (struct feed_asked *asked = call->feed->asked; asked; asked = asked->next) {
        const struct bars_call *other = (const struct bars_call *)asked;
        if (asked->send == send_bars && other->symbol == call->symbol && other->from_ns == call->from_ns &&
            other->to_ns >= call->to_ns)
            return true;
    }
    return false;
}

static void bars_call_end(struct bars_call *call)
{
    struct feed *feed = call->feed;
    if (is_superseded(call)) {
        free(call->bars);
        free(call);
        return;
    }
    struct event event = {
        .kind = EVENT_BARS,
        .bars = {feed->symbols[call->symbol].index, call->bars, (uint32_t)call->n, call->missed}};
    daemon_session_event(feed->daemon->session, &event);
    if (call->why == BARS_LOST && call->n == 0 && !call->failed)
        feed_recovery_none_lost(&feed->symbols[call->symbol].recovery);
    feed_recover_bars(feed, call->symbol);
    bool sparse = feed->listed[call->symbol].loose_ids; /* an interval without trades has no bar */
    bool lost = call->why == BARS_LOST || call->why == BARS_INTERRUPTED;
    if (lost) {
        struct db_gap gap = {
            .symbol = feed->symbols[call->symbol].index,
            .interval_ns = feed->daemon->config.interval_ns,
            .from_open_ns = call->from_ns,
            .to_open_ns = call->to_ns,
            .found_ns = call->found_ns,
        };
        int64_t wanted = (call->to_ns - call->from_ns) / gap.interval_ns + 1;
        gap.filled_ns = (int64_t)call->n >= wanted || (sparse && !call->failed)
                            ? daemon_session_now(feed->daemon->session)
                            : 0;
        db_writer_put_gap(daemon_session_writer(feed->daemon->session), &gap);
        daemon_log_info("%s: %zu of %lld missing bars fetched", feed->listed[call->symbol].name, call->n,
                        (long long)wanted);
    }
    /* The engine continues without those that failed: they may come beside it, and end the gap. */
    if (call->failed)
        feed_backfill_lost(feed, call->symbol, call->from_ns,
                           call->to_ns + (lost ? feed->daemon->config.interval_ns : 0));
    else if (lost)
        feed_backfill(feed, call->symbol, call->from_ns);
    free(call->bars);
    free(call);
}

static void have_bars(void *user, const struct venue_reply *reply)
{
    struct bars_call *call = user;
    struct feed *feed = call->feed;
    feed_skipped(feed, reply);
    char about[SYMBOL_NAME_MAX + 1];
    snprintf(about, sizeof about, "%s:", feed->listed[call->symbol].name);
    if (!reply->error)
        daemon_session_alert_over(feed->daemon->session, "bars-missing", about);
    if (reply->error) {
        char text[DB_ALERT_TEXT_MAX];
        call->failed = true;
        snprintf(text, sizeof text, "%s: bars could not be fetched: %s", feed->listed[call->symbol].name,
                 reply->text);
        daemon_log_event(LOG_ALERT,
                         LOG_OF(.symbol = feed->listed[call->symbol].name, .venue = feed->venue->format->name,
                                .alert = "bars-missing"),
                         "%s", text);
        daemon_session_alert_lasting(feed->daemon->session, DB_WARNING, "bars-missing", about, text);
    } else if (reply->bars.n_closed > 0) {
        struct bar *grown = realloc(call->bars, (call->n + reply->bars.n_closed) * sizeof *grown);
        if (grown) {
            memcpy(grown + call->n, reply->bars.list, reply->bars.n_closed * sizeof *grown);
            call->bars = call->asked.owned = grown;
            call->n += reply->bars.n_closed;
        } else {
            daemon_log_error("%s: out of memory: %zu bars are left out", feed->listed[call->symbol].name,
                             reply->bars.n_closed);
        }
    }
    if (!reply->error && reply->more)
        return;
    enum bars_why why = call->why;
    int symbol = call->symbol;
    feed_answered(&call->asked);
    bars_call_end(call);
    if (why == BARS_HISTORY) {
        feed_history_done(feed);
        return;
    }
    if (why == BARS_ADDED)
        feed_symbol_ready(feed, symbol);
    feed_release(feed);
}

static int send_bars(struct feed_asked *asked)
{
    struct bars_call *call = (struct bars_call *)asked;
    struct feed *feed = call->feed;
    const struct trading_calendar days = feed_days(feed, call->symbol);
    struct venue_bars_request request = {
        .symbol = &feed->listed[call->symbol],
        .interval_ns = feed->daemon->config.interval_ns,
        .start_ns = call->from_ns,
        .end_ns = call->to_ns,
        .now_ns = feed_over_ns(feed),
        .adjustment = feed->symbols[call->symbol].calendar >= 0 ? VENUE_SPLIT : VENUE_RAW,
        .calendar = &days,
    };
    return net_requests_bars(feed->rest, &request, have_bars, call, NULL);
}

/* The open time of the newest bar that a former run left: in the engine where the log was played, else in
 * the database; 0: there is none. */
static int64_t former_bar(const struct feed *feed, int symbol, const struct engine_symbol_view *view)
{
    const struct session *session = feed->daemon->session;
    if (view->bars > 0)
        return view->last_bar.open_ns;
    bool alone = strcmp(daemon_session_recovery(session)->from, "database") == 0;
    return alone ? daemon_session_stored_bar(session, feed->listed[symbol].name,
                                             feed->daemon->config.interval_ns)
                 : 0;
}

/* The start of the history of a symbol without bars in the engine. */
static int64_t history_begins(const struct feed *feed, int symbol, int64_t open_ns)
{
    const struct daemon_config *config = &feed->daemon->config;
    int calendar = feed->symbols[symbol].calendar;
    return calendar >= 0 && feed->calendars[calendar].n > 0
               ? feed_calendar_back(&feed->calendars[calendar], open_ns, config->interval_ns, config->history)
               : open_ns - config->history * config->interval_ns;
}

int64_t feed_history_from(const struct feed *feed, int symbol, int64_t open_ns)
{
    int64_t interval_ns = feed->daemon->config.interval_ns;
    struct engine_symbol_view view;
    engine_symbol_view(daemon_session_engine(feed->daemon->session), feed->symbols[symbol].index, &view);
    int64_t former = former_bar(feed, symbol, &view), begins = history_begins(feed, symbol, open_ns);
    if (former == 0)
        return begins;
    /* For a symbol that a former run streamed, the bars that closed since; an engine without bars also gets
     * the history. */
    int64_t next = feed_bar_end(feed, symbol, former), most = open_ns - MISSED_BARS_MAX * interval_ns;
    next = next > most ? next : most;
    return view.bars > 0 || next < begins ? next : begins;
}

int feed_ask_bars(struct feed *feed, int symbol, int64_t from_ns, int64_t to_ns, enum bars_why why)
{
    struct bars_call *call = calloc(1, sizeof *call);
    bool resumed = strcmp(daemon_session_recovery(feed->daemon->session)->from, "nothing") != 0;
    if (!call)
        return -ENOMEM;
    *call = (struct bars_call){.asked.send = send_bars,
                               .feed = feed,
                               .symbol = symbol,
                               .why = why,
                               .missed = why == BARS_INTERRUPTED || (why == BARS_HISTORY && resumed),
                               .from_ns = from_ns,
                               .to_ns = to_ns,
                               .found_ns = daemon_session_now(feed->daemon->session)};
    return feed_ask(feed, &call->asked, why != BARS_HISTORY);
}

void feed_fill_gap(struct feed *feed, int symbol, int64_t from_open_ns, int64_t to_open_ns, enum bars_why why)
{
    int64_t interval = feed->daemon->config.interval_ns;
    int64_t most = (int64_t)(feed->daemon->config.history > 0 ? feed->daemon->config.history : 1) * interval;
    int64_t from = to_open_ns - most + interval > from_open_ns ? to_open_ns - most + interval : from_open_ns;
    struct db_gap gap = {.symbol = feed->symbols[symbol].index,
                         .interval_ns = interval,
                         .from_open_ns = from_open_ns,
                         .to_open_ns = to_open_ns,
                         .found_ns = daemon_session_now(feed->daemon->session)};
    db_writer_put_gap(daemon_session_writer(feed->daemon->session), &gap);
    if (why == BARS_LOST)
        feed_recover_lost(feed, symbol);
    if (from > from_open_ns)
        feed_backfill_lost(feed, symbol, from_open_ns, from);
    if (feed_ask_bars(feed, symbol, from, to_open_ns, why) < 0)
        daemon_log_error("%s: missing bars could not be asked for: out of memory", feed->listed[symbol].name);
}

struct book_call {
    struct feed_asked asked;
    struct feed *feed;
    int symbol;
};

static void have_book(void *user, const struct venue_reply *reply)
{
    struct book_call *call = user;
    struct feed *feed = call->feed;
    int symbol = call->symbol;
    feed_answered(&call->asked);
    free(call);
    feed->symbols[symbol].book_asked = feed->symbols[symbol].book_wanted = false;
    if (reply->error) {
        daemon_log_warning("%s: order book: %s", feed->listed[symbol].name, reply->text);
        feed_release(feed);
        return;
    }
    struct event event = {
        .kind = EVENT_SNAPSHOT,
        .snapshot = {feed->symbols[symbol].index, reply->book.last_id, reply->book.bids, reply->book.asks,
                     reply->book.n_bids, reply->book.n_asks},
    };
    daemon_session_event(feed->daemon->session, &event);
    feed_release(feed);
}

static int send_book(struct feed_asked *asked)
{
    struct book_call *call = (struct book_call *)asked;
    struct feed *feed = call->feed;
    return net_requests_book(feed->rest, &feed->listed[call->symbol], have_book, call, NULL);
}

/* On the feed's clock its own time counts. */
static int64_t pace_now_ms(const struct feed *feed)
{
    return feed->daemon->config.clock == CLOCK_FEED ? daemon_session_now(feed->daemon->session) / 1000000
                                                    : clock_now_ms();
}

void feed_book_due(struct feed *feed, int symbol)
{
    struct feed_symbol *ours = &feed->symbols[symbol];
    int64_t now = pace_now_ms(feed);
    if (engine_book(daemon_session_engine(feed->daemon->session), ours->index)->state == BOOK_SYNCED)
        ours->book_wanted = false;
    if (!ours->book_wanted || ours->book_asked || !feed_pace_due(&ours->book_pace, now))
        return;
    struct book_call *call = calloc(1, sizeof *call);
    if (!call)
        return;
    ours->book_wanted = false;
    if (feed_pace_asked(&ours->book_pace, now)) {
        ours->book_reported = true;
        feed_alert_raise(feed, DB_WARNING, "book-resync", feed->listed[symbol].name,
                         "%s: the order book does not hold: asked for %u times in a row, next in %lld s",
                         feed->listed[symbol].name, ours->book_pace.row,
                         (long long)(ours->book_pace.delay_ms / 1000));
    }
    *call = (struct book_call){.asked.send = send_book, .feed = feed, .symbol = symbol};
    ours->book_asked = feed_ask(feed, &call->asked, true) == 0;
}

void feed_book_holds(struct feed *feed, int symbol)
{
    struct feed_symbol *ours = &feed->symbols[symbol];
    bool synced =
        engine_book(daemon_session_engine(feed->daemon->session), ours->index)->state == BOOK_SYNCED;
    if (!ours->book_reported ||
        (ours->streamed && (!synced || !feed_pace_steady(&ours->book_pace, pace_now_ms(feed)))))
        return;
    ours->book_reported = false;
    feed_alert_end(feed, "book-resync", feed->listed[symbol].name);
}

void feed_need_snapshot(struct feed *feed, int symbol)
{
    feed->symbols[symbol].book_wanted = true;
    feed_book_due(feed, symbol);
}
