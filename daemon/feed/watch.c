/* Once a second: what is stale and what is silent. */
#include <stdio.h>
#include <string.h>

#include "daemon/feed/internal.h"
#include "daemon/log.h"
#include "exchange/clock.h"

enum {
    QUIET_BOOK_MS = 5000,      /* without a difference for so long a book is asked for all the same */
    SILENCE_DOUBLINGS_MAX = 5, /* a venue that stays silent is reconnected ever more rarely */
    BAD_A_MINUTE = 10,         /* frames that cannot be read, or … */
    BAD_PERCENT = 1,           /* … of all, of at least so many: */
    BAD_OF = 100,
};

static bool prices(enum market_kind kind)
{
    return kind == MARKET_TRADE || kind == MARKET_AGG_TRADE || kind == MARKET_QUOTE || kind == MARKET_DEPTH;
}

static void judge_symbols(struct feed *feed, int64_t now)
{
    for (int s = 0; s < feed->n_symbols; s++) {
        bool fresh = false, watched = false;
        if (!feed->symbols[s].streamed)
            continue;
        for (int kind = 0; kind < MARKET_CHANNELS; kind++) {
            int at = feed->symbols[s].streams[kind];
            if (at < 0 || !prices((enum market_kind)kind))
                continue;
            watched = true;
            fresh |= watchdog_age(&feed->watchdog, (size_t)at, now) <= feed->daemon->config.stale_ms;
        }
        bool stale = watched && !fresh && feed_symbol_open(feed, s);
        if (stale == feed->symbols[s].stale)
            continue;
        feed->symbols[s].stale = stale;
        struct event event = {.kind = EVENT_STALE, .stale = {feed->symbols[s].index, stale}};
        session_event(feed->daemon->session, &event);
    }
}

/* Is silence of it a sign? A share that nobody trades is none: of those that trade in sessions the newest
 * data of all of them counts. */
static bool alarming(const struct feed *feed, size_t at, int64_t now)
{
    int symbol = feed->streams[at].symbol;
    if (!feed->symbols[symbol].streamed || feed->listed[symbol].gone || !feed_symbol_open(feed, symbol))
        return false;
    return feed->symbols[symbol].calendar < 0 || now - feed->last_frame_ms > feed->watched[at].max_age;
}

static void judge_silence(struct feed *feed, int64_t now)
{
    int doublings = feed->silences < SILENCE_DOUBLINGS_MAX ? feed->silences : SILENCE_DOUBLINGS_MAX;
    for (size_t at = 0; at < feed->n_streams; at++) {
        int64_t silent = watchdog_age(&feed->watchdog, at, now);
        if (!watchdog_stale(&feed->watchdog, at, now) || silent < feed->watched[at].max_age << doublings ||
            !alarming(feed, at, now))
            continue;
        char why[VENUE_DETAIL_MAX];
        snprintf(why, sizeof why, "%s %s: no data for %lld s", feed->listed[feed->streams[at].symbol].name,
                 feed->streams[at].name, (long long)(silent / 1000));
        feed->silences++;
        log_warning("feed: %s: reconnecting", why);
        session_alert(feed->daemon->session, DB_WARNING, "stale", why);
        watchdog_restart(&feed->watchdog, now);
        feed->venue->stream_reconnect(feed->link, why);
        return;
    }
}

/* One is told of once; so many that something is wrong are told of each time that it begins. */
static void judge_bad(struct feed *feed, int64_t now)
{
    struct measured seen;
    measure_look(&feed->measure, now, &seen);
    uint64_t all = seen.messages + seen.bad;
    bool many = seen.bad >= BAD_A_MINUTE || (all >= BAD_OF && seen.bad * 100 >= all * BAD_PERCENT);
    if (many && !feed->told_bad)
        feed_tell(feed, DB_WARNING, "bad-frames",
                  "%llu of the last minute's %llu messages could not be read, and were dropped",
                  (unsigned long long)seen.bad, (unsigned long long)all);
    feed->told_bad = many;
}

static void fetch_books(struct feed *feed, int64_t now)
{
    const struct engine *engine = session_engine(feed->daemon->session);
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
    db_writer_put_ban(session_writer(feed->daemon->session), &row);
}

void feed_tick(uv_timer_t *timer)
{
    struct feed *feed = timer->data;
    int64_t now = clock_now_ms();
    bool wall = feed->daemon->config.clock == CLOCK_WALL;
    if (wall && feed->stage > STAGE_ACTIONS) /* before, what is due first is not known yet */
        feed_pass(feed, feed_clock_ns(feed));
    if (wall && feed->stage == STAGE_STREAM)
        feed_refresh(feed, feed_clock_ns(feed));
    if (feed->unanswered > 0) { /* nothing is read: silence is of our own making */
        watchdog_restart(&feed->watchdog, now);
    } else if (feed->up_since_ms != 0) {
        judge_symbols(feed, now);
        judge_silence(feed, now);
        fetch_books(feed, now);
    }
    judge_bad(feed, now);
    end_ban(feed);
    feed_list_late(feed, now);
    feed_begin_without_venue(feed);
    if (wall && session_begun(feed->daemon->session) && feeds_at(feed->feeds, 0) == feed) {
        struct event event = {.kind = EVENT_TIMER};
        session_event(feed->daemon->session, &event);
    }
}
