/* A venue that is not reached, or not by all of its connections: one alert, with the newest cause, from the
 * first failure until it is reached. And symbols that the plan does not take: one alert, which names them. */
#include <stdio.h>
#include <string.h>

#include "daemon/feed/internal.h"

enum { REACH_MS = 5000 }; /* a venue that sends nothing at all for so long is not reached either */

/* "" while nothing has failed. */
static const char *newest_cause(const struct feed *feed, int64_t now)
{
    if (feed->link)
        return feed->venue->stream_status(feed->link)->detail;
    if (feed->answered)
        return feed->retry_at_ms != 0 ? feed->detail : "";
    const char *detail = net_requests_status(feed->rest)->detail;
    return !detail[0] && now - feed->started_ms >= REACH_MS ? "it has not answered yet" : detail;
}

/* "no route" and "time: no route (5 attempts)" are the same cause. */
static bool is_same(const char *known, const char *cause)
{
    return known[0] && (strstr(known, cause) || strstr(cause, known));
}

void feed_reached(struct feed *feed)
{
    feed->cause[0] = '\0';
    feed_alert_end(feed, "feed", "");
}

static void report(struct feed *feed)
{
    const struct venue_status *status = feed->link ? feed->venue->stream_status(feed->link) : NULL;
    if (status && feed->up_since_ms != 0)
        feed_alert_raise(feed, DB_WARNING, "feed", "", "%u of %u connections are up: %s", status->up,
                         status->connections, feed->cause);
    else
        feed_alert_raise(feed, DB_WARNING, "feed", "", feed->was_up ? "feed lost: %s" : "not reached yet: %s",
                         feed->cause);
}

void feed_judge_reach(struct feed *feed, int64_t now)
{
    bool idle = feed->stage == STAGE_STREAM && !feed->link;
    if (feed->final || (feed->up_since_ms != 0 && !feed->some_down))
        return;
    const char *cause = newest_cause(feed, now);
    if (idle)
        feed_reached(feed);
    if (idle || !cause[0] || is_same(feed->cause, cause) ||
        is_same(feed->silent, cause)) /* an alert has it */
        return;
    snprintf(feed->cause, sizeof feed->cause, "%s", cause);
    report(feed);
}

static void list_refused(const struct feed *feed, char names[static FEED_REFUSED_MAX])
{
    size_t len = 0;
    int n = 0;
    names[0] = '\0';
    for (int s = 0; s < feed->n_symbols; s++)
        if (feed->symbols[s].streamed && feed_refuses(feed, s) && n++ < FEED_REFUSED_NAMED)
            len += (size_t)snprintf(names + len, FEED_REFUSED_MAX - len, "%s%s", n > 1 ? ", " : "",
                                    feed->listed[s].name);
    if (n > FEED_REFUSED_NAMED)
        snprintf(names + len, FEED_REFUSED_MAX - len, " and %d more", n - FEED_REFUSED_NAMED);
}

void feed_judge_plan(struct feed *feed)
{
    char names[FEED_REFUSED_MAX];
    list_refused(feed, names);
    if (strcmp(names, feed->refused) == 0)
        return;
    feed_alert_end(feed, "symbol-limit", "");
    if (names[0])
        feed_alert_raise(feed, DB_ERROR, "symbol-limit", "", "not subscribed: %s: %s", names,
                         feed->venue->stream_status(feed->link)->detail);
    memcpy(feed->refused, names, sizeof names);
}
