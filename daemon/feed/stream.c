/* The stream: frames become events; on the feed's clock they wait while a question is open. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/feed/internal.h"
#include "daemon/log.h"

enum { HELD_BYTES = 1 << 20 }; /* of frames, to begin with */

bool feed_hold(struct feed *feed)
{
    if (feed->daemon->config.clock != CLOCK_FEED || !feed->link)
        return false;
    if (feed->unanswered++ == 0)
        feed->venue->stream_pause(feed->link, true);
    return true;
}

static void take_frame(struct feed *feed, const char *data, size_t len);

void feed_release(struct feed *feed)
{
    if (feed->unanswered == 0 || --feed->unanswered > 0 || feed->releasing)
        return;
    size_t at = 0;
    feed->releasing = true; /* a frame may ask the next question */
    while (feed->unanswered == 0 && at < feed->held_len) {
        size_t len;
        memcpy(&len, feed->held + at, sizeof len);
        take_frame(feed, feed->held + at + sizeof len, len);
        at += sizeof len + len;
    }
    feed->releasing = false;
    feed->held_len -= at;
    if (at > 0)
        memmove(feed->held, feed->held + at, feed->held_len);
    if (feed->unanswered == 0)
        feed->venue->stream_pause(feed->link, false);
}

static void hold_frame(struct feed *feed, const char *data, size_t len)
{
    size_t need = feed->held_len + sizeof len + len;
    if (need > feed->held_cap) {
        size_t cap = need < HELD_BYTES ? HELD_BYTES : 2 * need;
        char *grown = realloc(feed->held, cap);
        if (!grown) {
            daemon_fail("out of memory");
            return;
        }
        feed->held = grown;
        feed->held_cap = cap;
    }
    memcpy(feed->held + feed->held_len, &len, sizeof len);
    memcpy(feed->held + feed->held_len + sizeof len, data, len);
    feed->held_len = need;
}

static void take_message(struct feed *feed, const char *data, size_t len, size_t *pos)
{
    struct event event = {.kind = EVENT_MARKET};
    int r = feed->venue->format->parse(feed->parser, data, len, pos, &event.market);
    if (r == 0) {
        const struct feed_symbol *symbol = &feed->symbols[event.market.symbol];
        int at = event.market.kind < MARKET_CHANNELS ? symbol->streams[event.market.kind] : -1;
        event.market.symbol = symbol->index;
        feed->last_frame_ms = feed_now_ms();
        feed->silences = 0;
        if (event.market.event_ns > feed->newest_ns)
            feed->newest_ns = event.market.event_ns;
        if (at >= 0) {
            feed->streams[at].frames++;
            feed->streams[at].last_ms = feed->last_frame_ms;
            watchdog_touch(&feed->watchdog, (size_t)at, feed->last_frame_ms);
        }
        session_event(feed->daemon->session, &event);
    } else if (r < 0) {
        if (feed->bad_frames++ == 0)
            session_alert(feed->daemon->session, DB_WARNING, "bad-frame",
                          "the venue sent a frame that cannot be read; such frames are counted and dropped");
        log_debug("bad frame (%s): %.*s", strerror(-r), (int)(len < 200 ? len : 200), data);
    }
}

static void take_frame(struct feed *feed, const char *data, size_t len)
{
    session_frame(feed->daemon->session, data, len);
    for (size_t pos = 0; pos < len;)
        take_message(feed, data, len, &pos);
}

static void on_frame(void *user, const char *data, size_t len)
{
    struct feed *feed = user;
    if (feed->unanswered > 0)
        hold_frame(feed, data, len);
    else
        take_frame(feed, data, len);
}

static void set_connection(struct feed *feed, bool up)
{
    struct event event = {.kind = EVENT_CONNECTION, .connection.up = up};
    session_event(feed->daemon->session, &event);
    for (int s = 0; s < feed->n_symbols; s++)
        feed->symbols[s].stale = !up;
}

static void gone_up(struct feed *feed)
{
    feed->up_since_ms = feed_now_ms();
    watchdog_restart(&feed->watchdog, feed->up_since_ms);
    set_connection(feed, true);
    log_info("feed: connected to %s", feed_ws_url(feed));
    if (feed->was_up) {
        /* What closed meanwhile is history by now. */
        const struct engine *engine = session_engine(feed->daemon->session);
        int64_t interval = feed->daemon->config.interval_ns, now = feed_venue_now_ns(feed);
        for (int s = 0; s < feed->n_symbols; s++) {
            struct engine_symbol_view view;
            engine_symbol_view(engine, feed->symbols[s].index, &view);
            int64_t last_closed = bar_open_time(now, interval) - interval;
            if (view.bars > 0 && view.last_bar.open_ns < last_closed)
                feed_fill_gap(feed, s, view.last_bar.open_ns + interval, last_closed, BARS_INTERRUPTED);
        }
    }
    feed->was_up = true;
}

static void on_link(void *user, const struct venue_status *status)
{
    struct feed *feed = user;
    bool up = status->link == VENUE_UP;
    if (up && feed->up_since_ms == 0) {
        gone_up(feed);
    } else if (!up && feed->up_since_ms != 0) {
        char text[VENUE_DETAIL_MAX + 32];
        feed->up_since_ms = 0;
        feed->held_len = 0; /* of a book and bars that are begun anew */
        set_connection(feed, false);
        snprintf(text, sizeof text, "feed lost: %s", status->detail);
        log_warning("%s", text);
        session_alert(feed->daemon->session, DB_WARNING, "feed", text);
    } else if (status->link == VENUE_WAITING || status->link == VENUE_FAILED) {
        log_warning("feed: %s", status->detail);
    }
}

static void add_stream(struct feed *feed, int symbol, enum market_kind kind)
{
    const struct config *config = &feed->daemon->config;
    struct stream *stream = &feed->streams[feed->n_streams];
    bool rare = kind == MARKET_TRADE || kind == MARKET_AGG_TRADE;
    stream->symbol = symbol;
    stream->kind = kind;
    if (kind == MARKET_KLINE)
        snprintf(stream->name, sizeof stream->name, "kline_%s", bar_interval_name(config->interval_ns));
    else
        snprintf(stream->name, sizeof stream->name, "%s", market_kind_name(kind));
    feed->watched[feed->n_streams].max_age = rare ? config->stale_trade_ms : config->stale_ms;
    feed->symbols[symbol].streams[kind] = (int)feed->n_streams++;
}

static int list_streams(struct feed *feed)
{
    size_t most = (size_t)feed->n_symbols * MARKET_CHANNELS;
    feed->streams = calloc(most, sizeof *feed->streams);
    feed->watched = calloc(most, sizeof *feed->watched);
    if (!feed->streams || !feed->watched)
        return -ENOMEM;
    for (int s = 0; s < feed->n_symbols; s++)
        for (int kind = 0; kind < MARKET_CHANNELS; kind++) {
            feed->symbols[s].streams[kind] = -1;
            if (feed->kinds[kind])
                add_stream(feed, s, (enum market_kind)kind);
        }
    watchdog_init(&feed->watchdog, feed->watched, feed->n_streams, feed_now_ms());
    return 0;
}

static int connect_stream(struct feed *feed, char (*names)[VENUE_STREAM_NAME_MAX], const char **list)
{
    static const struct venue_stream_handler handler = {.state = on_link, .frame = on_frame};
    const struct config *config = &feed->daemon->config;
    int r = 0;
    for (size_t i = 0; i < feed->n_streams && r == 0; i++) {
        r = feed->venue->stream_name(feed->listed[feed->streams[i].symbol].name, feed->streams[i].kind,
                                     config->interval_ns, names[i]);
        list[i] = names[i];
    }
    struct venue_stream_config stream = {
        .net = feeds_net(feed->feeds),
        .ws_url = feed->config->ws_url[0] ? feed->config->ws_url : NULL,
        .streams = list,
        .n_streams = feed->n_streams,
        .jitter_seed = uv_hrtime(),
    };
    return r < 0 ? r : feed->venue->stream_create(&stream, &handler, feed, &feed->link);
}

void feed_open_stream(struct feed *feed)
{
    feed->stage = STAGE_STREAM;
    session_caught_up(feed->daemon->session);
    int r = list_streams(feed);
    if (r == 0)
        r = feed->venue->format->parser_create(feed->listed, (size_t)feed->n_symbols, &feed->parser);
    char(*names)[VENUE_STREAM_NAME_MAX] = calloc(feed->n_streams + 1, sizeof *names);
    const char **list = calloc(feed->n_streams + 1, sizeof *list);
    if (r == 0)
        r = names && list ? connect_stream(feed, names, list) : -ENOMEM;
    free(names);
    free(list);
    if (r < 0)
        daemon_fail("%s ws_url: %s: %s", feed->venue->format->name, feed_ws_url(feed), strerror(-r));
}
