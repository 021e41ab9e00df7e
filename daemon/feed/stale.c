/* The alerts of streams that are silent beside others: streams that fall silent together are one alert, which
 * names them all, and is over with the silence of the last. */
#include <stdio.h>
#include <string.h>

#include "daemon/feed/internal.h"
#include "daemon/log.h"
#include "exchange/clock.h"

enum {
    NAMES_MAX = 400,         /* bytes of names in an alert; the rest is counted */
    TOGETHER_MS = 60 * 1000, /* after the longest of the limits of a stream */
    NS_PER_MS = 1000 * 1000,
};

static void log_stale(const struct feed *feed, const struct stream *stream, bool stale)
{
    const char *venue = feed->venue->format->name, *symbol = feed->listed[stream->symbol].name;
    const struct log_fields fields = {.venue = venue, .symbol = symbol, .alert = "stale"};
    if (stale)
        daemon_log_event(LOG_STREAM_STALE, &fields, "%s: %s %s is stale: no data for %lld s%s", venue, symbol,
                         stream->name, (long long)((clock_now_ms() - stream->silence.received_ms) / 1000),
                         stream->silence.behind_ms != 0 ? ", and the venue has newer" : "");
    else
        daemon_log_event(LOG_STREAM_BACK, &fields, "%s: %s %s is stale no longer", venue, symbol,
                         stream->name);
}

/* The alert of streams that fell silent a moment ago, or that named this one before; else a new one. */
static int64_t alert_of(struct feed *feed, const struct stream *stream)
{
    int64_t now_ns = daemon_session_now(feed->daemon->session);
    int64_t together_ns = (feed->limits.stale_trade_ms + TOGETHER_MS) * NS_PER_MS;
    if (stream->alert_ns != 0)
        return stream->alert_ns;
    if (feed->stale_alert_ns == 0 || now_ns - feed->stale_alert_ns > together_ns)
        feed->stale_alert_ns = now_ns;
    return feed->stale_alert_ns;
}

void feed_stale_judge(struct feed *feed, struct stream *stream, bool stale)
{
    if (stale == stream->stale)
        return;
    stream->stale = stale;
    stream->stale_news = true;
    if (stale)
        stream->alert_ns = alert_of(feed, stream);
    log_stale(feed, stream, stale);
}

/* Those that are stale, or all that were. How many these are. */
static int name_streams(const struct feed *feed, int64_t alert_ns, bool all, char *text, size_t size)
{
    size_t len = 0;
    int n = 0, left = 0;
    for (size_t i = 0; i < feed->n_streams; i++) {
        const struct stream *stream = &feed->streams[i];
        if (stream->alert_ns != alert_ns || (!stream->stale && !all))
            continue;
        n++;
        if (len >= NAMES_MAX)
            left++;
        else
            len += (size_t)snprintf(text + len, size - len, "%s%s %s", len > 0 ? ", " : "",
                                    feed->listed[stream->symbol].name, stream->name);
    }
    if (left > 0)
        snprintf(text + len, size - len, " and %d more", left);
    return n;
}

static void end_alert(struct feed *feed, int64_t alert_ns, const char *about, const char *text)
{
    daemon_session_alert_over_by(feed->daemon->session, "stale", about, text);
    for (size_t i = 0; i < feed->n_streams; i++)
        if (feed->streams[i].alert_ns == alert_ns)
            feed->streams[i].alert_ns = 0;
    if (feed->stale_alert_ns == alert_ns)
        feed->stale_alert_ns = 0;
}

/* Says what one alert names now: it is one condition, which is raised once. */
static void report(struct feed *feed, int64_t alert_ns)
{
    char about[128], at[CLOCK_TEXT_MAX], names[DB_ALERT_TEXT_MAX], text[sizeof about + sizeof names];
    int n = name_streams(feed, alert_ns, false, names, sizeof names);
    if (n == 0)
        name_streams(feed, alert_ns, true, names, sizeof names);
    for (size_t i = 0; i < feed->n_streams; i++)
        if (feed->streams[i].alert_ns == alert_ns)
            feed->streams[i].stale_news = false;
    snprintf(about, sizeof about, "%s: stale since %s: ", feed->venue->format->name,
             clock_utc_text(alert_ns, at));
    snprintf(text, sizeof text, "%s%s", about, names);
    if (n > 0)
        daemon_session_alert_lasting(feed->daemon->session, DB_WARNING, "stale", about, text);
    else
        end_alert(feed, alert_ns, about, text);
}

void feed_stale_report(struct feed *feed)
{
    for (size_t i = 0; i < feed->n_streams; i++)
        if (feed->streams[i].stale_news)
            report(feed, feed->streams[i].alert_ns);
}
