/* The venue's clock, as its replies say it, and how far it is from the one that stamps events: the engine
 * judges by it how late a bar is, and when a session opens and closes, so that neither a wrong clock of this
 * machine, nor one that was set right and that time catches up with, keeps strategies from trading. */
#include <stdio.h>
#include <stdlib.h>

#include "daemon/feed/internal.h"
#include "engine/event.h"
#include "exchange/clock.h"

/* A difference that is news: well below what the engine allows a bar to be late. */
static const int64_t NEWS_NS = 1000000000LL;

void feed_take_time(struct feed *feed, const struct venue_reply *reply)
{
    feed->server_ns = reply->server_ns;
    feed->server_late_ns = reply->elapsed_ms * 1000000 / 2;
    feed->server_boot_ns = clock_boot_ns() - feed->server_late_ns;
    feed->have_offset = true;
    feed_report_clock(feed, -1);
}

int64_t feed_clock_ns(const struct feed *feed)
{
    /* CLOCK_BOOTTIME since the venue sent its time, so that steps of our wall clock do not matter. */
    return feed->have_offset ? feed->server_ns + clock_boot_ns() - feed->server_boot_ns : clock_wall_ns();
}

int64_t feed_known_clock_ns(const struct feed *feed)
{
    return feed->have_offset ? feed_clock_ns(feed) : 0;
}

int64_t feed_venue_now_ns(const struct feed *feed)
{
    if (feed->daemon->config.clock == CLOCK_FEED)
        return daemon_session_now(feed->daemon->session);
    int64_t now = feed_clock_ns(feed);
    return now > feed->newest_ns ? now : feed->newest_ns;
}

/* Venues' clocks are wrong by seconds at most: what differs by more is ours. */
#define DOUBT_NS (60 * INT64_C(1000000000))

int64_t feed_over_ns(const struct feed *feed)
{
    if (feed->daemon->config.clock == CLOCK_FEED)
        return daemon_session_now(feed->daemon->session);
    int64_t now = feed_clock_ns(feed), wall = clock_wall_ns();
    if (now > wall && now - wall < DOUBT_NS)
        now = wall;
    return now > feed->newest_ns ? now : feed->newest_ns;
}

/* So much of the difference as is sure: the reply's way took as long. */
static int64_t sure_ns(const struct feed *feed, int64_t ahead_ns)
{
    int64_t late_ns = feed->server_late_ns;
    return ahead_ns > late_ns ? ahead_ns - late_ns : ahead_ns < -late_ns ? ahead_ns + late_ns : 0;
}

/* On the feed's clock time is the venue's, whatever a former run on the wall's left in the state. */
static int64_t venue_ahead_ns(const struct feed *feed)
{
    const struct session *session = feed->daemon->session;
    return feed->daemon->config.clock == CLOCK_WALL
               ? sure_ns(feed, feed_clock_ns(feed) - daemon_session_now(session))
               : 0;
}

static bool is_news(const struct feed *feed, int symbol, int64_t ahead_ns)
{
    const struct engine *engine = daemon_session_engine(feed->daemon->session);
    int64_t from_ns = feed->daemon->config.clock == CLOCK_WALL ? NEWS_NS : 1;
    int index = feed->symbols[symbol].index;
    struct engine_symbol_view view;
    if (index < 0 || index >= engine_symbols(engine))
        return false;
    engine_symbol_view(engine, index, &view);
    return llabs(view.ahead_ns - ahead_ns) >= from_ns;
}

static void report(struct feed *feed, int64_t ahead_ns)
{
    struct event event = {.kind = EVENT_VENUE_CLOCK, .venue_clock.ahead_ns = ahead_ns};
    snprintf(event.venue_clock.venue, sizeof event.venue_clock.venue, "%s", feed->venue->format->name);
    daemon_session_event(feed->daemon->session, &event);
}

static bool knows_clock(const struct feed *feed)
{
    return daemon_session_started(feed->daemon->session) &&
           (feed->have_offset || feed->daemon->config.clock == CLOCK_FEED);
}

void feed_report_clock(struct feed *feed, int symbol)
{
    int from = symbol < 0 ? 0 : symbol, to = symbol < 0 ? feed->n_symbols : symbol + 1;
    if (!knows_clock(feed))
        return;
    int64_t now_ahead_ns = venue_ahead_ns(feed);
    for (int s = from; s < to; s++)
        if (is_news(feed, s, now_ahead_ns)) {
            report(feed, now_ahead_ns);
            return;
        }
}
