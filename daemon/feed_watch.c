/* Once a second: what is stale and what is silent; and what others may know of the feed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/feed_internal.h"
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
            int at = feed->index[s][kind];
            if (at < 0 || !prices((enum market_kind)kind))
                continue;
            watched = true;
            fresh |= watchdog_age(&feed->watchdog, (size_t)at, now) <= feed->daemon->config.stale_ms;
        }
        bool stale = watched && !fresh;
        if (stale == feed->stale[s])
            continue;
        feed->stale[s] = stale;
        struct event event = {.kind = EVENT_STALE, .stale = {s, stale}};
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
    snprintf(why, sizeof why, "%s %s: no data for %lld s", feed->symbols[feed->streams[at].symbol].name,
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
            if (feed->daemon->config.streams[MARKET_DEPTH] && engine_book(engine, s)->state != BOOK_SYNCED &&
                now - feed->up_since_ms > QUIET_BOOK_MS)
                feed_need_snapshot(feed, s);
    }
    feed_begin_without_venue(feed);
    if (feed->daemon->config.clock == CLOCK_WALL && session_begun(feed->daemon->session)) {
        struct event event = {.kind = EVENT_TIMER};
        session_event(feed->daemon->session, &event);
    }
}

/* Until when requests wait before there is a stream at all, for the venue said so or its limit is near; 0:
 * they do not. Where nothing failed, `detail` says it. */
static int64_t requests_wait(struct feed *feed, int64_t now)
{
    const struct venue_rest_status *rest = feed->venue->rest_status(feed->rest);
    if (feed->link || feed->retry_at_ms != 0 || rest->paused_until_ms <= now)
        return 0;
    if (rest->detail[0])
        snprintf(feed->detail, sizeof feed->detail, "%s", rest->detail);
    else
        snprintf(feed->detail, sizeof feed->detail,
                 "the venue's limit of %" PRId64 " weight a minute is near (%" PRId64
                 " used): requests wait %" PRId64 " s",
                 rest->weight_limit, rest->used_weight < 0 ? 0 : rest->used_weight,
                 (rest->paused_until_ms - now + 999) / 1000);
    return rest->paused_until_ms;
}

static const char *state_name(const struct feed *feed, const struct venue_status *status, int64_t retry_at)
{
    if (feed->retry_at_ms != 0 || (!status && retry_at != 0))
        return "retry";
    if (!status)
        return feed->venue->rest_status(feed->rest)->detail[0] ? "retry" : "connecting";
    if (status->link == VENUE_FAILED)
        return "failed";
    if (status->link == VENUE_WAITING)
        return "retry";
    if (status->link != VENUE_UP || feed->last_frame_ms == 0)
        return "connecting";
    for (int s = 0; s < feed->n_symbols; s++)
        if (feed->stale[s])
            return "stale";
    return "ok";
}

void feed_view(struct feed *feed, struct feed_view *ret)
{
    const struct venue_status *status = feed->link ? feed->venue->stream_status(feed->link) : NULL;
    int64_t now = feed_now_ms();
    int64_t retry_at = feed->retry_at_ms != 0 ? feed->retry_at_ms
                       : status && (status->link == VENUE_WAITING || status->link == VENUE_FAILED)
                           ? status->retry_ms
                           : requests_wait(feed, now);
    *ret = (struct feed_view){
        .state = state_name(feed, status, retry_at),
        .url = feed->daemon->config.ws_url,
        .detail = status     ? status->detail
                  : retry_at ? feed->detail
                             : feed->venue->rest_status(feed->rest)->detail,
        .age_ms = feed->last_frame_ms ? now - feed->last_frame_ms : -1,
        .retry_in_ms = retry_at == 0    ? -1
                       : retry_at > now ? retry_at - now
                                        : 0,
        .connects = status ? status->connects : 0,
        .frames = status ? status->frames : 0,
        .bytes = status ? status->bytes : 0,
        .bad_frames = feed->bad_frames,
        .clock_offset_ms = feed->clock_offset_ns / 1000000,
        .have_offset = feed->have_offset,
        .streams = feed->views,
        .n_streams = feed->n_streams,
    };
    for (size_t i = 0; i < feed->n_streams; i++) {
        const struct stream *stream = &feed->streams[i];
        struct feed_stream_view *view = &feed->views[i];
        view->symbol = feed->symbols[stream->symbol].name;
        memcpy(view->name, stream->name, sizeof view->name);
        view->age_ms = stream->last_ms ? now - stream->last_ms : -1;
        view->limit_ms = feed->watched[i].max_age;
        view->frames = stream->frames;
        view->stale = feed->up_since_ms == 0 || watchdog_stale(&feed->watchdog, i, now);
    }
}

int64_t feed_symbol_age_ms(const struct feed *feed, int symbol)
{
    int64_t newest = 0;
    for (int kind = 0; kind < MARKET_CHANNELS && feed->n_streams > 0; kind++) {
        int at = feed->index[symbol][kind];
        if (at >= 0 && feed->streams[at].last_ms > newest)
            newest = feed->streams[at].last_ms;
    }
    return newest ? feed_now_ms() - newest : -1;
}
