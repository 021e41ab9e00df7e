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
    feed_report_clock(feed);
}

int64_t feed_clock_ns(const struct feed *feed)
{
    /* CLOCK_BOOTTIME since the venue sent its time, so that steps of our wall clock do not matter. */
    return feed->have_offset ? feed->server_ns + clock_boot_ns() - feed->server_boot_ns : clock_wall_ns();
}

int64_t feed_venue_now_ns(const struct feed *feed)
{
    if (feed->daemon->config.clock == CLOCK_FEED)
        return daemon_session_now(feed->daemon->session);
    int64_t now = feed_clock_ns(feed);
    return now > feed->newest_ns ? now : feed->newest_ns;
}

/* So much of the difference as is sure: the reply's way took as long. */
static int64_t sure_ns(const struct feed *feed, int64_t ahead_ns)
{
    int64_t late_ns = feed->server_late_ns;
    return ahead_ns > late_ns ? ahead_ns - late_ns : ahead_ns < -late_ns ? ahead_ns + late_ns : 0;
}

void feed_report_clock(struct feed *feed)
{
    struct session *session = feed->daemon->session;
    const struct engine *engine = daemon_session_engine(session);
    if (!feed->have_offset || feed->daemon->config.clock != CLOCK_WALL || !daemon_session_started(session))
        return;
    struct event event = {.kind = EVENT_VENUE_CLOCK,
                          .venue_clock.ahead_ns =
                              sure_ns(feed, feed_clock_ns(feed) - daemon_session_now(session))};
    snprintf(event.venue_clock.venue, sizeof event.venue_clock.venue, "%s", feed->venue->format->name);
    for (int s = 0; s < feed->n_symbols; s++) {
        struct engine_symbol_view view;
        if (feed->symbols[s].index < 0 || feed->symbols[s].index >= engine_symbols(engine))
            continue;
        engine_symbol_view(engine, feed->symbols[s].index, &view);
        if (llabs(view.ahead_ns - event.venue_clock.ahead_ns) >= NEWS_NS) {
            daemon_session_event(session, &event);
            return;
        }
    }
}
