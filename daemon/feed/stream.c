/* The stream: frames become events; on the feed's clock they wait while a request is unanswered. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/feed/internal.h"
#include "daemon/log.h"
#include "engine/event.h"
#include "exchange/clock.h"

enum { HELD_BYTES = 1 << 20 }; /* of frames, to begin with */

#define AHEAD_NS (60 * 1000000000LL) /* that a message may be ahead of the venue's clock */

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
    feed->releasing = true; /* a frame may cause the next request */
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

/* The message's age, by the venue's own clock as far as that fits. */
static int64_t latency_us(const struct feed *feed, int64_t event_ns)
{
    if (event_ns == 0)
        return -1;
    bool wall = feed->daemon->config.clock == CLOCK_WALL;
    int64_t venue_ns = feed_clock_ns(feed);
    return feed_measure_late_us(venue_ns, wall ? clock_wall_ns() : venue_ns, event_ns);
}

/* Makes what is due before this message take effect. A timestamp in the future does not move the time. */
static void pass_time(struct feed *feed, int64_t event_ns)
{
    if (feed->daemon->config.clock == CLOCK_WALL && event_ns > feed_clock_ns(feed) + AHEAD_NS)
        return;
    if (event_ns > feed->newest_ns)
        feed->newest_ns = event_ns;
    if (event_ns >= feeds_due_ns(feed->feeds))
        feeds_pass(feed->feeds, event_ns);
}

/* The newest bar came by REST before it was over, by clocks that were wrong: this is the bar. Of a venue that
 * sends bars again, once late trades are known, the first one is none the better for that. */
static bool formed_then(const struct feed *feed, const struct feed_symbol *symbol,
                        const struct market_kline *kline)
{
    struct engine_symbol_view view;
    if (!kline->closed || feed->listed[symbol - feed->symbols].loose_ids)
        return false;
    engine_symbol_view(daemon_session_engine(feed->daemon->session), symbol->index, &view);
    return view.bars > 0 && view.last_bar.open_ns == kline->bar.open_ns &&
           kline->bar.trades > view.last_bar.trades;
}

/* The first bar since a symbol's connection was lost, or came back: bars before it may have closed after
 * REST's answer, and before the subscription. In a market with hours a hole is nothing unusual, so the engine
 * asks for them only after an interruption, which that answer has ended: it continues to here. Frames that
 * were held then are of before. */
static void resume(struct feed *feed, struct feed_symbol *symbol, int64_t open_ns)
{
    struct event event = {.kind = EVENT_SYMBOL_CONNECTION,
                          .symbol_connection = {symbol->index, !symbol->stale}};
    int s = (int)(symbol - feed->symbols);
    struct engine_symbol_view view;
    bool first = symbol->torn;
    symbol->torn = first && feed->frames_taken <= symbol->torn_frames;
    if (!first || symbol->calendar < 0)
        return;
    engine_symbol_view(daemon_session_engine(feed->daemon->session), symbol->index, &view);
    if (view.bars > 0 && open_ns > feed_bar_end(feed, s, view.last_bar.open_ns))
        daemon_session_event(feed->daemon->session, &event);
}

static void tear(const struct feed *feed, struct feed_symbol *symbol)
{
    symbol->torn = true;
    symbol->torn_frames = feed->frames;
}

static void take_event(struct feed *feed, struct event *event)
{
    struct feed_symbol *symbol = &feed->symbols[event->market.symbol];
    int at = event->market.kind < MARKET_CHANNELS ? symbol->streams[event->market.kind] : -1;
    int64_t event_ns = event->market.event_ns, late = latency_us(feed, event_ns);
    feed->last_frame_ms = clock_now_ms();
    feed_measure_message(&feed->measure, feed->last_frame_ms, late);
    if (!symbol->streamed || (event->market.kind < MARKET_CHANNELS && symbol->off[event->market.kind]))
        return; /* on its way when it was removed */
    event->market.symbol = symbol->index;
    if (at >= 0) {
        feed->streams[at].frames++;
        feed->streams[at].last_ms = feed->last_frame_ms;
        feed_measure_message(&feed->streams[at].measure, feed->last_frame_ms, late);
        feed_silence_received(&feed->streams[at].silence, feed->last_frame_ms);
        feed_remember(&feed->streams[at], &event->market);
    }
    if (symbol->recovery.interrupted)
        feed_recover_judge(feed, (int)(symbol - feed->symbols), feed->last_frame_ms);
    if (event->market.kind == MARKET_KLINE && event->market.kline.closed) {
        feed_report_clock(feed, (int)(symbol - feed->symbols));
        resume(feed, symbol, event->market.kline.bar.open_ns);
    }
    if (event->market.kind == MARKET_KLINE && formed_then(feed, symbol, &event->market.kline))
        event->market.kind = MARKET_REVISION;
    pass_time(feed, event_ns);
    feed_halted_before(feed, (int)(symbol - feed->symbols), &event->market);
    daemon_session_event(feed->daemon->session, event);
    if (symbol->recovery.awaited)
        feed_recover_bars(feed, (int)(symbol - feed->symbols));
    if (symbol->book_wanted)
        feed_book_due(feed, (int)(symbol - feed->symbols));
    if (feed->daemon->config.clock == CLOCK_FEED)
        feed_refresh(feed, daemon_session_now(feed->daemon->session));
}

static void take_bad(struct feed *feed, int error, const char *data, size_t len)
{
    if (feed->bad_frames++ == 0)
        feed_alert(feed, DB_WARNING, "bad-frame",
                   "it sent a frame that cannot be read; such frames are counted and dropped");
    feed_measure_bad(&feed->measure, clock_now_ms());
    daemon_log_debug("bad frame (%s): %.*s", strerror(-error), (int)(len < 200 ? len : 200), data);
}

static void take_message(struct feed *feed, const char *data, size_t len, size_t *pos)
{
    struct event event = {.kind = EVENT_MARKET};
    int r = feed->venue->format->parse(feed->parser, data, len, pos, &event.market);
    if (r == 0)
        take_event(feed, &event);
    else if (r < 0)
        take_bad(feed, r, data, len);
}

static void take_frame(struct feed *feed, const char *data, size_t len)
{
    feed->frames_taken++;
    daemon_session_record_frame(feed->daemon->session, feed->place, data, len);
    if (len == 0)
        take_bad(feed, -EBADMSG, data, len);
    for (size_t pos = 0; pos < len;)
        take_message(feed, data, len, &pos);
}

static void on_frame(void *user, const char *data, size_t len)
{
    struct feed *feed = user;
    feed->frames++;
    if (feed->unanswered > 0)
        hold_frame(feed, data, len);
    else
        take_frame(feed, data, len);
}

static void set_connection(struct feed *feed, bool up)
{
    struct event event = {.kind = EVENT_CONNECTION, .connection.up = up};
    snprintf(event.connection.venue, sizeof event.connection.venue, "%s", feed->venue->format->name);
    daemon_session_event(feed->daemon->session, &event);
    for (int s = 0; s < feed->n_symbols; s++) {
        struct event stale = {.kind = EVENT_STALE, .stale = {feed->symbols[s].index, true}};
        feed->symbols[s].stale = !up || !feed->symbols[s].streamed;
        tear(feed, &feed->symbols[s]);
        if (up && !feed->symbols[s].streamed)
            daemon_session_event(feed->daemon->session, &stale);
    }
}

static bool was_open(const struct feed *feed, int symbol, int64_t from_ns, int64_t to_ns)
{
    int calendar = feed->symbols[symbol].calendar;
    return calendar < 0 || feed_calendar_any(&feed->calendars[calendar], from_ns, to_ns);
}

/* Asks for the bars that closed in the meantime. */
static void fill_missed(struct feed *feed, int symbol)
{
    struct engine_symbol_view view;
    int64_t last_closed = feed_bar_before(feed, symbol, feed_over_ns(feed));
    engine_symbol_view(daemon_session_engine(feed->daemon->session), feed->symbols[symbol].index, &view);
    int64_t next = view.bars > 0 ? feed_bar_end(feed, symbol, view.last_bar.open_ns) : 0;
    if (view.bars > 0 && next <= last_closed && feed->symbols[symbol].streamed &&
        was_open(feed, symbol, next, feed_bar_end(feed, symbol, last_closed)))
        feed_fill_gap(feed, symbol, next, last_closed, BARS_INTERRUPTED);
}

/* Symbols that other connections carry do not change. */
static void set_symbol_connection(struct feed *feed, int symbol, bool up)
{
    struct feed_symbol *s = &feed->symbols[symbol];
    struct event event = {.kind = EVENT_SYMBOL_CONNECTION, .symbol_connection = {s->index, up}};
    s->down = s->stale = !up;
    tear(feed, s);
    daemon_session_event(feed->daemon->session, &event);
    feed_recover_judge(feed, symbol, clock_now_ms());
    if (!up)
        return;
    feed_halted_unknown(feed, symbol);
    for (int kind = 0; kind < MARKET_CHANNELS; kind++)
        if (s->streams[kind] >= 0)
            feed_listen_to(feed, (size_t)s->streams[kind], clock_now_ms());
    fill_missed(feed, symbol);
}

void feed_interrupt(struct feed *feed, int symbol)
{
    if (feed->up_since_ms == 0 || feed->symbols[symbol].down || !feed->symbols[symbol].streamed)
        return;
    set_symbol_connection(feed, symbol, false);
    set_symbol_connection(feed, symbol, true);
}

/* Is the symbol beyond the number that the plan takes? */
bool feed_refuses(const struct feed *feed, int symbol)
{
    char name[VENUE_STREAM_NAME_MAX];
    for (int kind = 0; kind < MARKET_CHANNELS && feed->link && feed->venue->stream_refuses; kind++)
        if (feed->symbols[symbol].streams[kind] >= 0 &&
            feed_stream_name(feed, symbol, (enum market_kind)kind, name) == 0)
            return feed->venue->stream_refuses(feed->link, name);
    return false;
}

static bool is_connected(const struct feed *feed, int symbol, const bool up[VENUE_CONNECTIONS_MAX])
{
    if (feed_refuses(feed, symbol))
        return false;
    for (int kind = 0; kind < MARKET_CHANNELS; kind++) {
        int at = feed->symbols[symbol].streams[kind];
        if (at >= 0 && !up[feed_link_of(feed, &feed->streams[at])])
            return false;
    }
    return true;
}

void feed_check_connections(struct feed *feed)
{
    bool up[VENUE_CONNECTIONS_MAX];
    if (!feed->link || feed->up_since_ms == 0)
        return;
    for (int i = 0; i < VENUE_CONNECTIONS_MAX; i++)
        up[i] = feed->venue->stream_connection_up(feed->link, i);
    for (int s = 0; s < feed->n_symbols; s++)
        if (!feed->symbols[s].streamed)
            feed->symbols[s].down = false;
        else if (is_connected(feed, s, up) == feed->symbols[s].down)
            set_symbol_connection(feed, s, feed->symbols[s].down);
}

/* Some of its connections are up: only what the others carry is stale. */
static void check_some(struct feed *feed, bool down)
{
    feed_check_connections(feed);
    if (feed->some_down && !down)
        feed_reached(feed);
    feed->some_down = down;
    feed_judge_reach(feed, clock_now_ms());
    feed_judge_plan(feed);
}

static void gone_up(struct feed *feed, bool some_down)
{
    feed->up_since_ms = clock_now_ms();
    for (int s = 0; s < feed->n_symbols; s++) {
        feed->symbols[s].down = false;
        feed_halted_unknown(feed, s);
    }
    feed_listen(feed, feed->up_since_ms);
    set_connection(feed, true);
    daemon_log_event(LOG_FEED_BACK, LOG_OF(.venue = feed->venue->format->name), "feed: connected to %s",
                     feed_ws_url(feed));
    feed_reached(feed);
    check_some(feed, some_down);
    for (int i = 0; i < feed->n_symbols && feed->was_up; i++)
        if (!feed->symbols[i].down)
            fill_missed(feed, i);
    feed->was_up = true;
    feed_recover_judge_all(feed, feed->up_since_ms);
}

static void gone_down(struct feed *feed)
{
    feed->up_since_ms = 0;
    feed->some_down = false;
    feed->held_len = 0; /* of a book and bars that begin again */
    feed->frames_taken = feed->frames;
    feed->cause[0] = '\0'; /* it was the cause of some connections only */
    set_connection(feed, false);
    feed_judge_reach(feed,
                     clock_now_ms()); /* without a cause another connection is being opened for more names */
    feed_recover_judge_all(feed, clock_now_ms());
}

static void on_link(void *user, const struct venue_status *status)
{
    struct feed *feed = user;
    bool up = status->link == VENUE_UP, final = status->link == VENUE_FINAL;
    /* What one connection is refused, or waits for, does not keep the others from trading. */
    bool some = status->up > 0 && (status->link == VENUE_WAITING || status->link == VENUE_FAILED);
    if (feed->up_since_ms != 0 && (final || status->up == 0))
        gone_down(feed);
    else if (feed->up_since_ms != 0)
        check_some(feed, !up);
    else if (up || some)
        gone_up(feed, !up);
    else if (status->detail[0] && (status->link == VENUE_WAITING || status->link == VENUE_FAILED))
        daemon_log_event(LOG_FEED_LOST, LOG_OF(.venue = feed->venue->format->name), "feed: %s: %s",
                         feed->venue->format->name, status->detail);
    if (final)
        feed_end_for_good(feed, status->detail);
}

/* ---- the list of streams ---- */

/* Its place in the list, which it keeps while it is not subscribed. */
static size_t place_of(const struct feed *feed, int symbol, enum market_kind kind)
{
    size_t at = feed->symbols[symbol].off[kind] ? 0 : feed->n_streams;
    while (at < feed->n_streams && (feed->streams[at].symbol != symbol || feed->streams[at].kind != kind))
        at++;
    return at;
}

bool feed_is_current(const struct feed *feed, size_t at)
{
    const struct stream *stream = &feed->streams[at];
    return feed->symbols[stream->symbol].streams[stream->kind] == (int)at;
}

struct silence_rule feed_stream_rule(const struct feed *feed, const struct stream *stream)
{
    return feed_silence_rule(stream->kind, feed->listed[stream->symbol].loose_ids, &feed->limits);
}

void feed_add_stream(struct feed *feed, int symbol, enum market_kind kind)
{
    const struct daemon_config *config = &feed->daemon->config;
    size_t at = place_of(feed, symbol, kind);
    struct stream *stream = &feed->streams[at];
    *stream = (struct stream){.symbol = symbol, .kind = kind};
    if (kind == MARKET_KLINE)
        snprintf(stream->name, sizeof stream->name, "kline_%s", bar_interval_name(config->interval_ns));
    else
        snprintf(stream->name, sizeof stream->name, "%s", market_kind_name(kind));
    stream->rule = feed_stream_rule(feed, stream);
    feed->symbols[symbol].streams[kind] = (int)at;
    feed->symbols[symbol].off[kind] = false;
    feed->n_streams += at == feed->n_streams;
    feed_listen_to(feed, at, clock_now_ms());
}

int feed_stream_name(const struct feed *feed, int symbol, enum market_kind kind,
                     char ret[VENUE_STREAM_NAME_MAX])
{
    return feed->venue->stream_name(feed->listed[symbol].name, kind, feed->daemon->config.interval_ns, ret);
}

/* A kind that the venue does not have of this symbol is left out. */
int feed_add_streams(struct feed *feed, int symbol)
{
    char name[VENUE_STREAM_NAME_MAX];
    int n = 0;
    for (int kind = 0; kind < MARKET_CHANNELS; kind++)
        if (feed->kinds[kind] && feed_stream_name(feed, symbol, (enum market_kind)kind, name) == 0) {
            feed_add_stream(feed, symbol, (enum market_kind)kind);
            n++;
        }
    return n > 0 ? 0 : -EINVAL;
}

int feed_follow(struct feed *feed, int symbol, const bool only[MARKET_CHANNELS], bool follow)
{
    char names[MARKET_CHANNELS][VENUE_STREAM_NAME_MAX];
    const char *list[MARKET_CHANNELS];
    size_t n = 0;
    int (*call)(struct venue_stream *, const char *const *, size_t) =
        follow ? feed->venue->stream_follow : feed->venue->stream_unfollow;
    for (int kind = 0; kind < MARKET_CHANNELS; kind++)
        if (feed->symbols[symbol].streams[kind] >= 0 && (!only || only[kind]) &&
            feed_stream_name(feed, symbol, (enum market_kind)kind, names[n]) == 0) {
            list[n] = names[n];
            n++;
        }
    return !call ? -EOPNOTSUPP : n > 0 ? call(feed->link, list, n) : 0;
}

/* Room for all symbols that there may ever be: unused pages cost nothing. */
static int list_streams(struct feed *feed)
{
    size_t most = (size_t)SYMBOLS_MAX * MARKET_CHANNELS;
    feed->streams = calloc(most, sizeof *feed->streams);
    if (!feed->streams)
        return -ENOMEM;
    for (int s = 0; s < feed->n_symbols; s++)
        if (!feed->listed[s].gone && feed_add_streams(feed, s) < 0) {
            daemon_refuse("%s: %s has none of the streams that are subscribed", feed->listed[s].name,
                          feed->venue->format->name);
            return -EINVAL;
        }
    return 0;
}

int feed_connect(struct feed *feed)
{
    static const struct venue_stream_handler handler = {.state = on_link, .frame = on_frame};
    char(*names)[VENUE_STREAM_NAME_MAX] = calloc(feed->n_streams + 1, sizeof *names);
    const char **list = calloc(feed->n_streams + 1, sizeof *list);
    size_t n = 0;
    int r = names && list ? 0 : -ENOMEM;
    for (size_t i = 0; i < feed->n_streams && r == 0; i++) {
        if (!feed->symbols[feed->streams[i].symbol].streamed || !feed_is_current(feed, i))
            continue;
        r = feed_stream_name(feed, feed->streams[i].symbol, feed->streams[i].kind, names[n]);
        list[n] = names[n];
        n++;
    }
    struct venue_stream_config stream = {
        .net = feeds_net(feed->feeds),
        .ws_url = feed->config->ws_url[0] ? feed->config->ws_url : NULL,
        .streams = list,
        .n_streams = n,
        .jitter_seed = uv_hrtime(),
        .refused_ms = feed->daemon->config.refused_ms,
        .keys = feed_venue_keys(feed),
        .settings = feed->settings,
        .n_settings = feed->n_settings,
        .ban = feed_ban(feed),
    };
    if (r == 0 && n > 0)
        r = feed->venue->stream_create(&stream, &handler, feed, &feed->link);
    free(names);
    free(list);
    return r;
}

void feed_open_stream(struct feed *feed)
{
    feed->stage = STAGE_STREAM;
    feeds_caught_up(feed->feeds);
    feed_backfill_go(feed);
    if (list_streams(feed) == -EINVAL)
        return; /* already reported */
    int r = feed->venue->format->parser_create(feed->listed, (size_t)feed->n_symbols, &feed->parser);
    for (int c = 0; c < feed->n_calendars && r == 0; c++)
        r = feed_give_days(feed, c);
    if (r == 0)
        r = feed->streams ? feed_connect(feed) : -ENOMEM;
    if (r < 0)
        daemon_refuse("%s: ws_url: %s: %s", feed->venue->format->name, feed_ws_url(feed), strerror(-r));
}
