/* The status object's "feed" and "venues". */
#include "daemon/feed/feeds.h"
#include "daemon/status_internal.h"

enum { STATUS_STREAMS_MAX = 1024 }; /* told one by one; of more the sums say enough */

/* Below 0: not known. */
static json_t *figure(double value)
{
    return value < 0 ? json_null() : json_real(value);
}

static json_t *count(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *time_or_null(int64_t ns)
{
    return ns ? json_integer(ns) : json_null();
}

static void add_rates(json_t *object, const struct feed_rates *rates)
{
    json_object_set_new(object, "messages_per_second", json_real(rates->per_second));
    json_object_set_new(object, "latency_p50_ms", figure(rates->latency_p50_ms));
    json_object_set_new(object, "latency_p99_ms", figure(rates->latency_p99_ms));
}

/* Returns how many there are. */
static size_t add_streams(json_t *array, const struct engine *engine, struct feed *feed)
{
    size_t n = 0;
    for (size_t i = 0; engine && i < feed_streams(feed); i++) {
        struct feed_stream_view view;
        struct feed_rates rates;
        if (!feed_stream_view(feed, i, &view))
            continue;
        n++;
        if (json_array_size(array) >= STATUS_STREAMS_MAX)
            continue;
        json_t *object = json_object();
        json_object_set_new(object, "symbol", json_string(engine_symbol(engine, view.symbol)->name));
        json_object_set_new(object, "stream", json_string(view.name));
        json_object_set_new(object, "age_ms", daemon_status_age(view.age_ms));
        json_object_set_new(object, "limit_ms", json_integer(view.limit_ms));
        json_object_set_new(object, "frames", count(view.frames));
        json_object_set_new(object, "stale", json_boolean(view.stale));
        json_object_set_new(object, "state", json_string(view.state));
        json_object_set_new(object, "asked_ms", daemon_status_age(view.asked_ms));
        json_object_set_new(object, "venue", json_string(feed_venue(feed)->format->name));
        feed_stream_rates(feed, i, &rates);
        add_rates(object, &rates);
        json_array_append_new(array, object);
    }
    return n;
}

json_t *daemon_status_feed(const struct daemon *daemon)
{
    struct feed_view view;
    json_t *streams = json_array(), *object = json_object();
    size_t n_streams = 0;
    feeds_view(daemon->feeds, &view);
    for (size_t i = 0; i < feeds_count(daemon->feeds); i++)
        n_streams += add_streams(streams, daemon_session_engine(daemon->session), feeds_at(daemon->feeds, i));
    json_object_set_new(object, "state", json_string(view.state));
    json_object_set_new(object, "venue", json_string(view.venue));
    json_object_set_new(object, "url", json_string(view.url));
    json_object_set_new(object, "detail", json_string(view.detail));
    json_object_set_new(object, "age_ms", daemon_status_age(view.age_ms));
    json_object_set_new(object, "retry_in_ms", daemon_status_age(view.retry_in_ms));
    json_object_set_new(object, "connects", count(view.connects));
    json_object_set_new(object, "frames", count(view.frames));
    json_object_set_new(object, "bytes", count(view.bytes));
    json_object_set_new(object, "bad_frames", count(view.bad_frames));
    json_object_set_new(object, "clock_offset_ms",
                        view.have_offset ? json_integer(view.clock_offset_ms) : json_null());
    json_object_set_new(object, "streams", streams);
    json_object_set_new(object, "streams_total", count(n_streams));
    return object;
}

static void add_connection(json_t *object, const struct feed_view *view)
{
    json_object_set_new(object, "state", json_string(view->state));
    json_object_set_new(object, "detail", json_string(view->detail));
    json_object_set_new(object, "url", json_string(view->url));
    json_object_set_new(object, "rest_url", json_string(view->rest_url));
    json_object_set_new(object, "age_ms", daemon_status_age(view->age_ms));
    json_object_set_new(object, "retry_in_ms", daemon_status_age(view->retry_in_ms));
    json_object_set_new(object, "connections", count(view->connections));
    json_object_set_new(object, "connections_up", count(view->connections_up));
    json_object_set_new(object, "connects", count(view->connects));
    json_object_set_new(object, "renewals", count(view->renewals));
    json_object_set_new(object, "doubled", count(view->doubled));
    json_object_set_new(object, "connect_budget", count(view->connect_budget));
    json_object_set_new(object, "connect_budget_used", count(view->connect_budget_used));
    json_object_set_new(object, "sent", count(view->sent));
}

static void add_data(json_t *object, const struct feed_view *view)
{
    json_object_set_new(object, "frames", count(view->frames));
    json_object_set_new(object, "bytes", count(view->bytes));
    json_object_set_new(object, "bad_frames", count(view->bad_frames));
    json_object_set_new(object, "bad_per_minute", count(view->bad_per_minute));
    add_rates(object, &view->rates);
    json_object_set_new(object, "clock_offset_ms",
                        view->have_offset ? json_integer(view->clock_offset_ms) : json_null());
}

static void add_requests(json_t *object, const struct feed_view *view)
{
    json_object_set_new(object, "requests", count(view->requests));
    json_object_set_new(object, "requests_failed", count(view->requests_failed));
    json_object_set_new(object, "requests_waiting", count(view->requests_waiting));
    json_object_set_new(object, "weight_used",
                        view->used_weight < 0 ? json_null() : json_integer(view->used_weight));
    json_object_set_new(object, "weight_limit", time_or_null(view->weight_limit));
    json_object_set_new(object, "banned_until_ns", time_or_null(view->banned_until_ns));
}

static void add_market(json_t *object, const struct feed_view *view)
{
    json_object_set_new(object, "calendar", view->calendar ? json_string(view->calendar) : json_null());
    json_object_set_new(object, "market", json_string(view->market));
    json_object_set_new(object, "market_next_ns", time_or_null(view->market_next_ns));
    json_object_set_new(object, "market_open_ns", time_or_null(view->market_open_ns));
    json_object_set_new(object, "market_half", json_boolean(view->market_half));
    json_object_set_new(object, "symbols", json_integer(view->symbols));
}

json_t *daemon_status_venues(const struct daemon *daemon)
{
    json_t *array = json_array();
    for (size_t i = 0; i < feeds_count(daemon->feeds); i++) {
        struct feed *feed = feeds_at(daemon->feeds, i);
        struct feed_view view;
        json_t *object = json_object();
        feed_view(feed, &view);
        json_object_set_new(object, "venue", json_string(feed_venue(feed)->format->name));
        json_object_set_new(object, "title", json_string(feed_venue(feed)->title));
        add_connection(object, &view);
        add_data(object, &view);
        add_requests(object, &view);
        add_market(object, &view);
        json_array_append_new(array, object);
    }
    return array;
}
