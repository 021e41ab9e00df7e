/* Once a second: what is stale and what is silent. */
#include <stdio.h>
#include <string.h>

#include "daemon/feed/internal.h"
#include "daemon/log.h"

enum {
    QUIET_BOOK_MS = 5000,      /* without a difference for so long a book is asked for all the same */
    SILENCE_DOUBLINGS_MAX = 5, /* a venue that stays silent is reconnected ever more rarely */
};

static bool prices(enum market_kind kind)
{
    return kind == MARKET_TRADE || kind == MARKET_AGG_TRADE || kind == MARKET_QUOTE || kind == MARKET_DEPTH;
}

static void judge_symbols(struct feed *feed, int64_t now)
{
    for (int s = 0; s < feed->n_symbols; s++) {
        bool fresh = false, watched = false;
        for (int kind = 0; kind < MARKET_CHANNELS; kind++) {
            int at = feed->symbols[s].streams[kind];
            if (at < 0 || !prices((enum market_kind)kind))
                continue;
            watched = true;
            fresh |= watchdog_age(&feed->watchdog, (size_t)at, now) <= feed->daemon->config.stale_ms;
        }
        bool stale = watched && !fresh;
        if (stale == feed->symbols[s].stale)
            continue;
        feed->symbols[s].stale = stale;
        struct event event = {.kind = EVENT_STALE, .stale = {feed->symbols[s].index, stale}};
        session_event(feed->daemon->session, &event);
    }
}

static void judge_silence(struct feed *feed, int64_t now)
{
    size_t at;
    if (watchdog_check(&feed->watchdog, now, &at, 1) == 0)
        return;
    int64_t silent = watchdog_age(&feed->watchdog, at, now);
    int doublings = feed->silences < SILENCE_DOUBLINGS_MAX ? feed->silences : SILENCE_DOUBLINGS_MAX;
    if (silent < feed->watched[at].max_age << doublings)
        return;
    char why[VENUE_DETAIL_MAX];
    snprintf(why, sizeof why, "%s %s: no data for %lld s", feed->listed[feed->streams[at].symbol].name,
             feed->streams[at].name, (long long)(silent / 1000));
    feed->silences++;
    log_warning("feed: %s: reconnecting", why);
    session_alert(feed->daemon->session, DB_WARNING, "stale", why);
    watchdog_restart(&feed->watchdog, now);
    feed->venue->stream_reconnect(feed->link, why);
}

void feed_tick(uv_timer_t *timer)
{
    struct feed *feed = timer->data;
    int64_t now = feed_now_ms();
    if (feed->up_since_ms != 0) {
        judge_symbols(feed, now);
        judge_silence(feed, now);
        const struct engine *engine = session_engine(feed->daemon->session);
        for (int s = 0; s < feed->n_symbols; s++)
            if (feed->kinds[MARKET_DEPTH] &&
                engine_book(engine, feed->symbols[s].index)->state != BOOK_SYNCED &&
                now - feed->up_since_ms > QUIET_BOOK_MS)
                feed_need_snapshot(feed, s);
    }
    feed_begin_without_venue(feed);
    if (feed->daemon->config.clock == CLOCK_WALL && session_begun(feed->daemon->session)) {
        struct event event = {.kind = EVENT_TIMER};
        session_event(feed->daemon->session, &event);
    }
}
