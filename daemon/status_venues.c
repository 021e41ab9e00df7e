/* The status object's "feed" and "venues". */
#include "daemon/feed/feeds.h"
#include "daemon/status_internal.h"
#include "record/json.h"

enum { STATUS_STREAMS_MAX = 1024 }; /* listed one by one; beyond that the sums are enough */

RECORD_SHOWN_OBJECT(feed_object, feed_view, RECORD_SHOWN_FEED);
RECORD_SHOWN_OBJECT(venue_object, feed_view, RECORD_SHOWN_VENUE);
RECORD_SHOWN_OBJECT(stream_object, feed_stream_view, RECORD_SHOWN_STREAM);

/* Returns how many there are. */
static size_t add_streams(json_t *array, const struct engine *engine, struct feed *feed)
{
    size_t n = 0;
    for (size_t i = 0; engine && i < feed_streams(feed); i++) {
        struct feed_stream_view view;
        if (!feed_stream_view(feed, i, &view))
            continue;
        n++;
        if (json_array_size(array) >= STATUS_STREAMS_MAX)
            continue;
        view.symbol = engine_symbol(engine, view.index)->name;
        feed_stream_rates(feed, i, &view);
        json_array_append_new(array, stream_object(&view));
    }
    return n;
}

json_t *daemon_status_feed(const struct daemon *daemon)
{
    struct feed_view view;
    json_t *streams = json_array();
    size_t n_streams = 0;
    feeds_view(daemon->feeds, &view);
    for (size_t i = 0; i < feeds_count(daemon->feeds); i++)
        n_streams += add_streams(streams, daemon_session_engine(daemon->session), feeds_at(daemon->feeds, i));
    json_t *object = feed_object(&view);
    json_object_set_new(object, "streams", streams);
    json_object_set_new(object, "streams_total", json_integer((json_int_t)n_streams));
    return object;
}

json_t *daemon_status_venues(const struct daemon *daemon)
{
    json_t *array = json_array();
    for (size_t i = 0; i < feeds_count(daemon->feeds); i++) {
        struct feed_view view;
        feed_view(feeds_at(daemon->feeds, i), &view);
        json_array_append_new(array, venue_object(&view));
    }
    return array;
}
