/* What others may know of a feed, and of all. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/feed/internal.h"

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
        if (feed->symbols[s].stale)
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
        .url = feed_ws_url(feed),
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
    };
}

const struct venue *feed_venue(const struct feed *feed)
{
    return feed->venue;
}

size_t feed_streams(const struct feed *feed)
{
    return feed->n_streams;
}

void feed_stream_view(const struct feed *feed, size_t i, struct feed_stream_view *ret)
{
    const struct stream *stream = &feed->streams[i];
    int64_t now = feed_now_ms();
    *ret = (struct feed_stream_view){
        .symbol = feed->symbols[stream->symbol].index,
        .name = stream->name,
        .age_ms = stream->last_ms ? now - stream->last_ms : -1,
        .limit_ms = feed->watched[i].max_age,
        .frames = stream->frames,
        .stale = feed->up_since_ms == 0 || watchdog_stale(&feed->watchdog, i, now),
    };
}

/* From the best to the worst. */
static const char *const states[] = {"ok", "connecting", "stale", "retry", "failed"};

static size_t rank(const char *state)
{
    size_t at = 0;
    while (at + 1 < sizeof states / sizeof *states && strcmp(states[at], state) != 0)
        at++;
    return at;
}

void feeds_view(const struct feeds *feeds, struct feed_view *ret)
{
    struct feed_view view;
    feed_view(feeds_at(feeds, 0), ret);
    for (size_t i = 1; i < feeds_count(feeds); i++) {
        feed_view(feeds_at(feeds, i), &view);
        if (rank(view.state) > rank(ret->state)) {
            ret->state = view.state;
            ret->detail = view.detail;
            ret->retry_in_ms = view.retry_in_ms;
        }
        if (view.age_ms > ret->age_ms)
            ret->age_ms = view.age_ms;
        ret->connects += view.connects;
        ret->frames += view.frames;
        ret->bytes += view.bytes;
        ret->bad_frames += view.bad_frames;
    }
}
