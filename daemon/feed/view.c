/* What other parts of the daemon may know of a feed, and of all. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "daemon/feed/internal.h"
#include "exchange/clock.h"

/* Until when requests wait before there is a stream at all, because the venue said so or its limit is near;
 * 0: they do not. Where nothing failed, `detail` says why. */
static int64_t requests_wait(struct feed *feed, int64_t now)
{
    const struct venue_rest_status *rest = net_requests_status(feed->rest);
    if (feed->link || feed->retry_at_ms != 0 || rest->paused_until_ms <= now)
        return 0;
    if (rest->detail[0])
        snprintf(feed->detail, sizeof feed->detail, "%s", rest->detail);
    else if (feed->ban_until_ns > clock_wall_ns())
        snprintf(feed->detail, sizeof feed->detail,
                 "the venue has banned this address: requests wait %" PRId64 " s",
                 (rest->paused_until_ms - now + 999) / 1000);
    else
        snprintf(feed->detail, sizeof feed->detail,
                 "the venue's limit of %" PRId64 " weight a minute is near (%" PRId64
                 " used): requests wait %" PRId64 " s",
                 rest->weight_limit, rest->used_weight < 0 ? 0 : rest->used_weight,
                 (rest->paused_until_ms - now + 999) / 1000);
    return rest->paused_until_ms;
}

static int streamed(const struct feed *feed)
{
    int n = 0;
    for (int s = 0; s < feed->n_symbols; s++)
        n += feed->symbols[s].streamed;
    return n;
}

static const char *state_name(const struct feed *feed, const struct venue_status *status, int64_t retry_at)
{
    if (feed->final)
        return "failed";
    if (feed->retry_at_ms != 0 || (!status && retry_at != 0))
        return "retry";
    if (feed->stage == STAGE_STREAM && streamed(feed) == 0)
        return "ok"; /* idle */
    if (!status)
        return net_requests_status(feed->rest)->detail[0] ? "retry" : "connecting";
    if (status->link == VENUE_FAILED || status->link == VENUE_FINAL)
        return "failed";
    if (status->link == VENUE_WAITING)
        return "retry";
    if (status->link == VENUE_UP && feed_closed(feed))
        return "closed";
    if (status->link != VENUE_UP || feed->last_frame_ms == 0)
        return "connecting";
    for (int s = 0; s < feed->n_symbols; s++)
        if (feed->symbols[s].streamed && feed->symbols[s].stale)
            return "stale";
    return "ok";
}

static void view_link(const struct venue_status *status, struct feed_view *ret)
{
    ret->connects = status->connects;
    ret->reconnects = status->reconnects;
    ret->connects_failed = status->failures;
    ret->frames = status->frames;
    ret->bytes = status->bytes;
    ret->renewals = status->renewals;
    ret->doubled = status->doubled;
    ret->sent = status->sent;
    ret->connections = status->connections;
    ret->up = status->up;
    ret->budget = status->budget;
    ret->budget_used = status->budget_used;
}

static void view_market(const struct feed *feed, struct feed_view *ret)
{
    ret->market = "always";
    ret->symbols = streamed(feed);
    if (feed->n_calendars == 0)
        return;
    const struct calendar *calendar = &feed->calendars[0];
    ret->calendar = calendar->name;
    ret->market = market_phase_name(calendar->now.phase);
    ret->market_next_ns = calendar->now.next_ns;
    ret->market_open_ns = calendar->now.open_ns;
    ret->market_half = calendar->now.half;
}

/* Copies the members that both structs have. */
#define TAKE_RATES(ret, seen) \
    ((ret)->per_second = (seen)->per_second, \
     (ret)->latency_p50_ms = (seen)->have_latency ? (seen)->latency_p50_ms : NAN, \
     (ret)->latency_p99_ms = (seen)->have_latency ? (seen)->latency_p99_ms : NAN)

void feed_view(struct feed *feed, struct feed_view *ret)
{
    const struct venue_status *status = feed->link ? feed->venue->stream_status(feed->link) : NULL;
    const struct venue_rest_status *rest = net_requests_status(feed->rest);
    struct measured seen;
    int64_t now = clock_now_ms();
    int64_t retry_at = feed->retry_at_ms != 0 ? feed->retry_at_ms
                       : status && (status->link == VENUE_WAITING || status->link == VENUE_FAILED)
                           ? status->retry_ms
                           : requests_wait(feed, now);
    feed_measure_look(&feed->measure, now, &seen);
    *ret = (struct feed_view){
        .state = state_name(feed, status, retry_at),
        .venue = feed->venue->format->name,
        .title = feed->venue->title,
        .url = feed_ws_url(feed),
        .rest_url = feed_rest_url(feed),
        .detail = feed->final ? feed->detail
                  : status    ? status->detail
                  : retry_at  ? feed->detail
                              : rest->detail,
        .age_ms = feed->last_frame_ms ? now - feed->last_frame_ms : -1,
        .retry_in_ms = retry_at == 0 || feed->final ? -1
                       : retry_at > now             ? retry_at - now
                                                    : 0,
        .bad_frames = feed->bad_frames,
        .bad_per_minute = seen.bad,
        .clock_offset_ms = feed->have_offset && feed->daemon->config.clock == CLOCK_WALL
                               ? (double)((feed_clock_ns(feed) - clock_wall_ns()) / 1000000)
                               : NAN,
        .requests = rest->requests,
        .requests_failed = rest->failures,
        .requests_waiting = rest->queued,
        .weight_used = rest->used_weight,
        .weight_limit = rest->weight_limit,
        .banned_until_ns = feed->ban_until_ns > clock_wall_ns() ? feed->ban_until_ns : 0,
    };
    if (status)
        view_link(status, ret);
    view_market(feed, ret);
    feed_backfill_view(feed, ret);
    feed_recover_view(feed, ret);
    TAKE_RATES(ret, &seen);
}

const struct venue *feed_venue(const struct feed *feed)
{
    return feed->venue;
}

size_t feed_streams(const struct feed *feed)
{
    return feed->n_streams;
}

bool feed_stream_view(const struct feed *feed, size_t i, struct feed_stream_view *ret)
{
    const struct stream *stream = &feed->streams[i];
    const struct feed_symbol *symbol = &feed->symbols[stream->symbol];
    int64_t now = clock_now_ms();
    *ret = (struct feed_stream_view){
        .index = symbol->index,
        .venue = feed->venue->format->name,
        .stream = stream->name,
        .age_ms = stream->last_ms ? now - stream->last_ms : -1,
        .limit_ms = feed_silence_limit(&stream->rule, &stream->silence),
        .frames = stream->frames,
        .asked_ms = stream->silence.asked_ms ? now - stream->silence.asked_ms : -1,
    };
    enum silence_state state = feed_silence_state(&stream->rule, &stream->silence, now);
    bool down = feed->up_since_ms == 0 || symbol->down;
    ret->state = !down && !feed_stream_counts(feed, i) ? "closed"
                 : down || state == SILENCE_STALE      ? "stale"
                 : state == SILENCE_QUIET              ? "quiet"
                                                       : "ok";
    ret->stale = strcmp(ret->state, "stale") == 0;

    return symbol->streamed && feed_is_current(feed, i);
}

void feed_stream_rates(struct feed *feed, size_t i, struct feed_stream_view *ret)
{
    struct measured seen;
    feed_measure_look(&feed->streams[i].measure, clock_now_ms(), &seen);
    TAKE_RATES(ret, &seen);
}

/* From the best to the worst. */
static const char *const states[] = {"closed", "ok", "connecting", "stale", "retry", "failed"};

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
    if (feeds_count(feeds) == 0) { /* the daemon stops, and its feeds with it */
        *ret = (struct feed_view){.state = "connecting",
                                  .venue = "",
                                  .title = "",
                                  .url = "",
                                  .rest_url = "",
                                  .detail = "stopping",
                                  .age_ms = -1,
                                  .retry_in_ms = -1,
                                  .clock_offset_ms = NAN,
                                  .weight_used = -1,
                                  .latency_p50_ms = NAN,
                                  .latency_p99_ms = NAN,
                                  .market = "always"};
        return;
    }
    feed_view(feeds_at(feeds, 0), ret);
    for (size_t i = 1; i < feeds_count(feeds); i++) {
        feed_view(feeds_at(feeds, i), &view);
        bool both = rank(view.state) > 0 && rank(ret->state) > 0; /* of a closed market age says nothing */
        if ((both && view.age_ms > ret->age_ms) || rank(ret->state) == 0)
            ret->age_ms = view.age_ms;
        if (rank(view.state) > rank(ret->state)) {
            ret->state = view.state;
            ret->venue = view.venue;
            ret->url = view.url;
            ret->rest_url = view.rest_url;
            ret->detail = view.detail;
            ret->retry_in_ms = view.retry_in_ms;
        }
        ret->connects += view.connects;
        ret->reconnects += view.reconnects;
        ret->frames += view.frames;
        ret->bytes += view.bytes;
        ret->bad_frames += view.bad_frames;
    }
}
