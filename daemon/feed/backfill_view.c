/* How far the backfill is: the status and the log. */
#include <inttypes.h>

#include "daemon/feed/backfill.h"
#include "daemon/log.h"
#include "exchange/clock.h"

enum { SAID_MS = 3600 * 1000 };

bool feed_backfill_goes_on(const struct feed *feed, int symbol)
{
    const struct feed_symbol *ours = &feed->symbols[symbol];
    return ours->past && !ours->past->done && !ours->past->refused && ours->streamed &&
           !feed->listed[symbol].gone;
}

static int64_t bars_left(const struct feed *feed)
{
    int64_t left_ns = 0;
    for (int s = 0; s < feed->n_symbols; s++) {
        const struct backfill *past = feed->symbols[s].past;
        if (!feed_backfill_goes_on(feed, s))
            continue;
        if (past->loaded)
            left_ns += feed_covered_lacked_ns(&past->covered, past->from_ns, past->end_ns);
        else if (past->end_ns > past->from_ns) /* what the database has is not looked at yet */
            left_ns += past->end_ns - past->from_ns;
    }
    return left_ns / feed->daemon->config.interval_ns;
}

void feed_backfill_say_progress(struct feed *feed)
{
    int64_t now_ms = clock_now_ms();
    if (feed->past.said_ms == 0)
        daemon_log_info("history: %s: up to %" PRId64 " bars are fetched beside the stream, the newest first",
                        feed->venue->format->name, bars_left(feed));
    else if (now_ms - feed->past.said_ms >= SAID_MS)
        daemon_log_info("history: %s: %" PRIu64 " bars are fetched, up to %" PRId64 " are not yet",
                        feed->venue->format->name, feed->past.bars, bars_left(feed));
    else
        return;
    feed->past.said_ms = now_ms;
}

void feed_backfill_say_end(struct feed *feed)
{
    if (feed->past.said_ms > 0)
        daemon_log_info("history: %s: all that is wanted is there; %" PRIu64 " bars were fetched",
                        feed->venue->format->name, feed->past.bars);
    feed->past.said_ms = 0;
}

/* Why older bars do not come just now; "": they do. */
static const char *waits_for(const struct feed *feed)
{
    const struct venue_rest_status *rest = net_requests_status(feed->rest);
    const struct feed_past *own = &feed->past;
    if (feed->stage != STAGE_STREAM)
        return "the stream has not started";
    if (daemon_session_storing(feed->daemon->session) != STORING_OK)
        return "the database stores nothing now";
    if (own->why[0])
        return own->why;
    if (rest->paused_until_ms > clock_now_ms())
        return rest->detail[0] ? rest->detail : "the venue's limit is near";
    return own->call && rest->failures > own->failures ? rest->detail : "";
}

void feed_backfill_view(const struct feed *feed, struct feed_view *ret)
{
    int64_t left = bars_left(feed);
    bool streams = feed->stage == STAGE_STREAM;
    bool stored =
        streams && db_writer_committed(daemon_session_writer(feed->daemon->session)) >= feed->past.ticket;
    bool off = feed->daemon->config.history_ns == 0, done = left == 0 && stored;
    const char *why = off || done ? "" : waits_for(feed);
    ret->history = off ? "off" : done ? "done" : why[0] ? "waits" : "fetches";
    ret->history_detail = why;
    ret->history_bars = (int64_t)feed->past.bars;
    ret->history_left = left;
}
