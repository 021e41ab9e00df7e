#include "daemon/feed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/log.h"
#include "exchange/binance/venue.h"
#include "exchange/net/backoff.h"
#include "exchange/net/context.h"
#include "exchange/net/watchdog.h"
#include "exchange/venue.h"

enum {
    TICK_MS = 1000,
    RETRY_MIN_MS = 1000,
    RETRY_MAX_MS = 60000,
    HELD_BYTES = 1 << 20,      /* of frames, to begin with */
    QUIET_BOOK_MS = 5000,      /* without a difference for so long a book is asked for all the same */
    SILENCE_DOUBLINGS_MAX = 5, /* a venue that stays silent is reconnected ever more rarely */
    STREAMS_MAX = SYMBOLS_MAX * MARKET_KINDS,
};

enum stage { STAGE_TIME, STAGE_SYMBOLS, STAGE_HISTORY, STAGE_STREAM };

struct stream {
    int symbol;
    enum market_kind kind;
    char name[FEED_STREAM_NAME_MAX];
    uint64_t frames;
    int64_t last_ms; /* 0: nothing yet */
};

/* A request that the venue has not answered; all of a feed's stand in a list, so that none is lost at the
 * end. */
struct asked {
    struct asked *next, **at;
    void *owned; /* freed with it */
};

/* Bars asked for: history, or a gap. */
struct bars_call {
    struct asked asked;
    struct feed *feed;
    int symbol;
    bool history, gap;
    int64_t from_ns, to_ns, found_ns;
    struct bar *bars;
    size_t n;
};

struct feed {
    struct daemon *daemon;
    const struct venue *venue;
    struct net_context *net;
    struct venue_rest *rest;
    struct venue_stream *link;
    struct venue_parser *parser;
    struct symbol *symbols;
    int n_symbols;
    enum stage stage;
    int history_left;
    struct asked *asked;

    /* On the feed's clock nothing may depend on how long a reply takes: from the question to the answer the
     * stream is not read, and what was read already is held. */
    int unanswered;
    bool releasing;
    char *held; /* frames, each after its length */
    size_t held_len, held_cap;

    struct stream streams[STREAMS_MAX];
    struct watchdog_stream watched[STREAMS_MAX];
    struct feed_stream_view views[STREAMS_MAX];
    int16_t index[SYMBOLS_MAX][MARKET_KINDS]; /* of a symbol's stream of a kind, or -1 */
    size_t n_streams;
    struct watchdog watchdog;
    bool stale[SYMBOLS_MAX], book_asked[SYMBOLS_MAX];

    uv_timer_t tick, retry;
    struct backoff backoff;
    int64_t retry_at_ms;              /* 0: not waiting */
    int64_t up_since_ms;              /* 0: down */
    int64_t last_frame_ms, newest_ns; /* newest_ns: the latest event time seen */
    bool was_up;
    int silences; /* reconnections for silence since data last came */
    uint64_t bad_frames;
    int64_t server_ns, clock_offset_ns;
    bool have_offset;
    char detail[VENUE_DETAIL_MAX + 64];

    void (*stopped)(void *user);
    void *stopped_user;
    int open_handles;
};

static int64_t now_ms(void)
{
    return (int64_t)(uv_hrtime() / 1000000);
}

static int64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* The venue's time, as well as it is known: our clock and its offset, but not before the newest event. */
static int64_t venue_now_ns(const struct feed *feed)
{
    if (feed->daemon->config.clock == CLOCK_FEED)
        return session_now(feed->daemon->session);
    int64_t now = wall_ns() + feed->clock_offset_ns;
    return now > feed->newest_ns ? now : feed->newest_ns;
}

int feed_create(struct daemon *daemon, struct feed **ret, char *err, size_t err_size)
{
    const struct config *config = &daemon->config;
    struct feed *feed = calloc(1, sizeof *feed);
    char reason[NET_ERROR_MAX] = "";
    if (!feed) {
        snprintf(err, err_size, "out of memory");
        return -ENOMEM;
    }
    feed->daemon = daemon;
    feed->venue = &binance_venue;
    backoff_init(&feed->backoff, RETRY_MIN_MS, RETRY_MAX_MS, uv_hrtime());
    struct net_config net = {.loop = daemon->loop, .ca_file = config->ca_file[0] ? config->ca_file : NULL};
    int r = net_context_create(&net, &feed->net, reason);
    if (r < 0) {
        snprintf(err, err_size, "%s", reason);
        free(feed);
        return r;
    }
    struct venue_rest_config rest = {
        .net = feed->net,
        .rest_url = config->rest_url[0] ? config->rest_url : NULL,
        .jitter_seed = uv_hrtime(),
    };
    r = feed->venue->rest_create(&rest, &feed->rest);
    if (r < 0) {
        snprintf(err, err_size, "[market] rest_url: %s: %s", config->rest_url, strerror(-r));
        net_context_stop(feed->net, NULL, NULL);
        uv_run(daemon->loop, UV_RUN_DEFAULT);
        free(feed);
        return r;
    }
    uv_timer_init(daemon->loop, &feed->tick);
    uv_timer_init(daemon->loop, &feed->retry);
    feed->tick.data = feed->retry.data = feed;
    *ret = feed;
    return 0;
}

static void ask(struct feed *feed, struct asked *asked)
{
    asked->next = feed->asked;
    asked->at = &feed->asked;
    if (asked->next)
        asked->next->at = &asked->next;
    feed->asked = asked;
}

static void answered(struct asked *asked)
{
    *asked->at = asked->next;
    if (asked->next)
        asked->next->at = asked->at;
}

static void hold_stream(struct feed *feed)
{
    if (feed->daemon->config.clock == CLOCK_FEED && feed->link && feed->unanswered++ == 0)
        feed->venue->stream_pause(feed->link, true);
}

static void take_frame(struct feed *feed, const char *data, size_t len);

static void release_stream(struct feed *feed)
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

/* Bars. */

static void bars_call_end(struct bars_call *call)
{
    struct feed *feed = call->feed;
    struct event event = {.kind = EVENT_BARS, .bars = {call->symbol, call->bars, (uint32_t)call->n}};
    session_event(feed->daemon->session, &event);
    if (call->gap) {
        struct db_gap gap = {
            .symbol = call->symbol,
            .interval_ns = feed->daemon->config.interval_ns,
            .from_open_ns = call->from_ns,
            .to_open_ns = call->to_ns,
            .found_ns = call->found_ns,
        };
        int64_t wanted = (call->to_ns - call->from_ns) / gap.interval_ns + 1;
        gap.filled_ns = (int64_t)call->n >= wanted ? session_now(feed->daemon->session) : 0;
        db_writer_put_gap(session_writer(feed->daemon->session), &gap);
        log_info("%s: %zu of %lld missing bars fetched", feed->symbols[call->symbol].name, call->n,
                 (long long)wanted);
    }
    free(call->bars);
    free(call);
}

static void open_stream(struct feed *feed);

static void history_done(struct feed *feed)
{
    if (--feed->history_left == 0)
        open_stream(feed);
}

static void have_bars(void *user, const struct venue_reply *reply)
{
    struct bars_call *call = user;
    struct feed *feed = call->feed;
    if (reply->error) {
        char text[256];
        snprintf(text, sizeof text, "%s: bars could not be fetched: %s", feed->symbols[call->symbol].name,
                 reply->text);
        log_warning("%s", text);
        session_alert(feed->daemon->session, DB_WARNING, "bars-missing", text);
    } else if (reply->bars.n_closed > 0) {
        struct bar *grown = realloc(call->bars, (call->n + reply->bars.n_closed) * sizeof *grown);
        if (grown) {
            memcpy(grown + call->n, reply->bars.list, reply->bars.n_closed * sizeof *grown);
            call->bars = call->asked.owned = grown;
            call->n += reply->bars.n_closed;
        }
    }
    if (!reply->error && reply->more)
        return;
    bool history = call->history;
    answered(&call->asked);
    bars_call_end(call);
    if (history)
        history_done(feed);
    else
        release_stream(feed);
}

static int ask_bars(struct feed *feed, int symbol, int64_t from_ns, int64_t to_ns, bool history, bool gap)
{
    struct bars_call *call = calloc(1, sizeof *call);
    if (!call)
        return -ENOMEM;
    *call = (struct bars_call){.feed = feed,
                               .symbol = symbol,
                               .history = history,
                               .gap = gap,
                               .from_ns = from_ns,
                               .to_ns = to_ns,
                               .found_ns = session_now(feed->daemon->session)};
    struct venue_bars_request request = {
        .symbol = &feed->symbols[symbol],
        .interval_ns = feed->daemon->config.interval_ns,
        .start_ns = from_ns,
        .end_ns = to_ns,
        .now_ns = venue_now_ns(feed),
    };
    int r = feed->venue->rest_bars(feed->rest, &request, have_bars, call, NULL);
    if (r < 0)
        free(call);
    else
        ask(feed, &call->asked);
    if (r == 0 && !history)
        hold_stream(feed);
    return r;
}

void feed_need_bars(struct feed *feed, int symbol, int64_t from_open_ns, int64_t to_open_ns)
{
    int64_t interval = feed->daemon->config.interval_ns;
    int64_t most = (int64_t)(feed->daemon->config.history > 0 ? feed->daemon->config.history : 1) * interval;
    int64_t from = to_open_ns - most + interval > from_open_ns ? to_open_ns - most + interval : from_open_ns;
    struct db_gap gap = {.symbol = symbol,
                         .interval_ns = interval,
                         .from_open_ns = from_open_ns,
                         .to_open_ns = to_open_ns,
                         .found_ns = session_now(feed->daemon->session)};
    db_writer_put_gap(session_writer(feed->daemon->session), &gap);
    if (ask_bars(feed, symbol, from, to_open_ns, false, true) < 0)
        log_error("%s: missing bars could not be asked for: out of memory", feed->symbols[symbol].name);
}

/* Books. */

struct book_call {
    struct asked asked;
    struct feed *feed;
    int symbol;
};

static void have_book(void *user, const struct venue_reply *reply)
{
    struct book_call *call = user;
    struct feed *feed = call->feed;
    int symbol = call->symbol;
    answered(&call->asked);
    free(call);
    feed->book_asked[symbol] = false;
    if (reply->error) {
        log_warning("%s: order book: %s", feed->symbols[symbol].name, reply->text);
        release_stream(feed);
        return;
    }
    struct event event = {
        .kind = EVENT_SNAPSHOT,
        .snapshot = {symbol, reply->book.last_id, reply->book.bids, reply->book.asks, reply->book.n_bids,
                     reply->book.n_asks},
    };
    session_event(feed->daemon->session, &event);
    release_stream(feed);
}

void feed_need_snapshot(struct feed *feed, int symbol)
{
    struct book_call *call = feed->book_asked[symbol] ? NULL : calloc(1, sizeof *call);
    if (!call)
        return;
    *call = (struct book_call){.feed = feed, .symbol = symbol};
    if (feed->venue->rest_book(feed->rest, &feed->symbols[symbol], have_book, call, NULL) < 0) {
        free(call);
        return;
    }
    feed->book_asked[symbol] = true;
    ask(feed, &call->asked);
    hold_stream(feed);
}

/* The stream. */

static void take_frame(struct feed *feed, const char *data, size_t len)
{
    struct event event = {.kind = EVENT_MARKET};
    int r = feed->venue->parse(feed->parser, data, len, &event.market);
    if (r == 0) {
        int at = feed->index[event.market.symbol][event.market.kind];
        feed->last_frame_ms = now_ms();
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
    struct event event = {.kind = EVENT_CONNECTION, .up = up};
    session_event(feed->daemon->session, &event);
    for (int s = 0; s < feed->n_symbols; s++)
        feed->stale[s] = !up;
}

static void gone_up(struct feed *feed)
{
    feed->up_since_ms = now_ms();
    watchdog_restart(&feed->watchdog, feed->up_since_ms);
    set_connection(feed, true);
    log_info("feed: connected to %s", feed->daemon->config.ws_url);
    if (feed->was_up) {
        /* What closed meanwhile is history by now. */
        const struct engine *engine = session_engine(feed->daemon->session);
        int64_t interval = feed->daemon->config.interval_ns, now = venue_now_ns(feed);
        for (int s = 0; s < feed->n_symbols; s++) {
            struct engine_symbol_view view;
            engine_symbol_view(engine, s, &view);
            int64_t last_closed = bar_open_time(now, interval) - interval;
            if (view.bars > 0 && view.last_bar.open_ns < last_closed)
                feed_need_bars(feed, s, view.last_bar.open_ns + interval, last_closed);
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

static bool prices(enum market_kind kind)
{
    return kind == MARKET_TRADE || kind == MARKET_AGG_TRADE || kind == MARKET_QUOTE || kind == MARKET_DEPTH;
}

static void list_streams(struct feed *feed)
{
    const struct config *config = &feed->daemon->config;
    memset(feed->index, -1, sizeof feed->index);
    for (int s = 0; s < feed->n_symbols; s++) {
        for (int kind = 0; kind < MARKET_KINDS; kind++) {
            if (!config->streams[kind])
                continue;
            struct stream *stream = &feed->streams[feed->n_streams];
            stream->symbol = s;
            stream->kind = (enum market_kind)kind;
            if (kind == MARKET_KLINE)
                snprintf(stream->name, sizeof stream->name, "kline_%s",
                         bar_interval_name(config->interval_ns));
            else
                snprintf(stream->name, sizeof stream->name, "%s", market_kind_name((enum market_kind)kind));
            bool rare = kind == MARKET_TRADE || kind == MARKET_AGG_TRADE;
            feed->watched[feed->n_streams].max_age = rare ? config->stale_trade_ms : config->stale_ms;
            feed->index[s][kind] = (int16_t)feed->n_streams++;
        }
    }
    watchdog_init(&feed->watchdog, feed->watched, feed->n_streams, now_ms());
}

static void open_stream(struct feed *feed)
{
    static const struct venue_stream_handler handler = {.state = on_link, .frame = on_frame};
    const struct config *config = &feed->daemon->config;
    static char names[STREAMS_MAX][VENUE_STREAM_NAME_MAX];
    static const char *list[STREAMS_MAX];
    feed->stage = STAGE_STREAM;
    list_streams(feed);
    int r = feed->venue->parser_create(feed->symbols, (size_t)feed->n_symbols, &feed->parser);
    for (size_t i = 0; i < feed->n_streams && r == 0; i++) {
        r = feed->venue->stream_name(feed->symbols[feed->streams[i].symbol].name, feed->streams[i].kind,
                                     config->interval_ns, names[i]);
        list[i] = names[i];
    }
    struct venue_stream_config stream = {
        .net = feed->net,
        .ws_url = config->ws_url[0] ? config->ws_url : NULL,
        .streams = list,
        .n_streams = feed->n_streams,
        .jitter_seed = uv_hrtime(),
    };
    if (r == 0)
        r = feed->venue->stream_create(&stream, &handler, feed, &feed->link);
    if (r < 0)
        daemon_fail("[market] ws_url: %s: %s", config->ws_url, strerror(-r));
}

/* The way up: time, symbols, history, stream. */

static void begin_stage(struct feed *feed);

static void on_retry(uv_timer_t *timer)
{
    struct feed *feed = timer->data;
    feed->retry_at_ms = 0;
    begin_stage(feed);
}

static void try_again(struct feed *feed, const char *what, const char *why)
{
    int64_t delay = backoff_next(&feed->backoff);
    snprintf(feed->detail, sizeof feed->detail, "%s: %s", what, why);
    log_warning("feed: %s; trying again in %.1f s", feed->detail, (double)delay / 1000);
    feed->retry_at_ms = now_ms() + delay;
    uv_timer_start(&feed->retry, on_retry, (uint64_t)delay, 0);
}

static void have_time(void *user, const struct venue_reply *reply)
{
    struct feed *feed = user;
    if (reply->error) {
        try_again(feed, "time", reply->text);
        return;
    }
    feed->server_ns = reply->server_ns;
    feed->clock_offset_ns = reply->server_ns - (wall_ns() - reply->elapsed_ms * 1000000 / 2);
    feed->have_offset = true;
    feed->stage = STAGE_SYMBOLS;
    begin_stage(feed);
}

static void ask_history(struct feed *feed)
{
    const struct config *config = &feed->daemon->config;
    int64_t open = bar_open_time(venue_now_ns(feed), config->interval_ns);
    feed->stage = STAGE_HISTORY;
    feed->history_left = feed->n_symbols + 1;
    for (int s = 0; s < feed->n_symbols; s++)
        if (config->history == 0 ||
            ask_bars(feed, s, open - config->history * config->interval_ns, open, true, false) < 0)
            feed->history_left--;
    history_done(feed);
}

static void have_symbols(void *user, const struct venue_reply *reply)
{
    struct feed *feed = user;
    struct daemon *daemon = feed->daemon;
    char err[SESSION_ERROR_MAX];
    if (reply->error) {
        try_again(feed, "symbols", reply->text);
        return;
    }
    for (size_t i = 0; i < reply->symbols.n; i++) {
        const struct venue_symbol *symbol = &reply->symbols.list[i];
        if (symbol->found)
            continue;
        daemon_fail("[market] symbols: %s: %s does not list it%s%s%s", symbol->name, feed->venue->name,
                    symbol->nearest[0] ? ": did you mean " : "", symbol->nearest,
                    symbol->nearest[0] ? "?" : "");
        return;
    }
    feed->symbols = calloc(reply->symbols.n, sizeof *feed->symbols);
    if (!feed->symbols) {
        daemon_fail("out of memory");
        return;
    }
    feed->n_symbols = (int)reply->symbols.n;
    for (size_t i = 0; i < reply->symbols.n; i++)
        feed->symbols[i] = reply->symbols.list[i].symbol;
    int64_t first = daemon->config.clock == CLOCK_FEED ? feed->server_ns : wall_ns();
    if (session_begin(daemon->session, feed->symbols, feed->n_symbols, first, err, sizeof err) < 0) {
        daemon_fail("%s", err);
        return;
    }
    backoff_reset(&feed->backoff);
    feed->detail[0] = '\0';
    ask_history(feed);
}

static void begin_stage(struct feed *feed)
{
    const char *names[SYMBOLS_MAX];
    int r = 0;
    if (feed->stage == STAGE_TIME) {
        r = feed->venue->rest_time(feed->rest, have_time, feed, NULL);
    } else if (feed->stage == STAGE_SYMBOLS) {
        for (int s = 0; s < feed->daemon->config.n_symbols; s++)
            names[s] = feed->daemon->config.symbols[s];
        r = feed->venue->rest_symbols(feed->rest, names, (size_t)feed->daemon->config.n_symbols, have_symbols,
                                      feed, NULL);
    }
    if (r < 0)
        try_again(feed, "request", strerror(-r));
}

/* Once a second: what is stale, what is silent. */

static void judge_symbols(struct feed *feed, int64_t now)
{
    for (int s = 0; s < feed->n_symbols; s++) {
        bool fresh = false, watched = false;
        for (int kind = 0; kind < MARKET_KINDS; kind++) {
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

static void on_tick(uv_timer_t *timer)
{
    struct feed *feed = timer->data;
    int64_t now = now_ms();
    if (feed->up_since_ms != 0) {
        judge_symbols(feed, now);
        judge_silence(feed, now);
        const struct engine *engine = session_engine(feed->daemon->session);
        for (int s = 0; s < feed->n_symbols; s++)
            if (feed->daemon->config.streams[MARKET_DEPTH] && engine_book(engine, s)->state != BOOK_SYNCED &&
                now - feed->up_since_ms > QUIET_BOOK_MS)
                feed_need_snapshot(feed, s);
    }
    if (feed->daemon->config.clock == CLOCK_WALL && session_begun(feed->daemon->session)) {
        struct event event = {.kind = EVENT_TIMER};
        session_event(feed->daemon->session, &event);
    }
}

void feed_start(struct feed *feed)
{
    uv_timer_start(&feed->tick, on_tick, TICK_MS, TICK_MS);
    begin_stage(feed);
}

/* Views. */

static const char *state_name(const struct feed *feed, const struct venue_status *status)
{
    if (feed->retry_at_ms != 0)
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
    int64_t now = now_ms();
    int64_t retry_at = feed->retry_at_ms != 0 ? feed->retry_at_ms
                       : status && (status->link == VENUE_WAITING || status->link == VENUE_FAILED)
                           ? status->retry_ms
                           : 0;
    *ret = (struct feed_view){
        .state = state_name(feed, status),
        .url = feed->daemon->config.ws_url,
        .detail = status              ? status->detail
                  : feed->retry_at_ms ? feed->detail
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
    for (int kind = 0; kind < MARKET_KINDS && feed->n_streams > 0; kind++) {
        int at = feed->index[symbol][kind];
        if (at >= 0 && feed->streams[at].last_ms > newest)
            newest = feed->streams[at].last_ms;
    }
    return newest ? now_ms() - newest : -1;
}

/* The end. */

static void part_closed(struct feed *feed)
{
    if (--feed->open_handles > 0)
        return;
    void (*stopped)(void *) = feed->stopped;
    void *user = feed->stopped_user;
    free(feed);
    stopped(user);
}

static void timer_closed(uv_handle_t *handle)
{
    part_closed(handle->data);
}

static void net_stopped(void *user)
{
    part_closed(user);
}

void feed_stop(struct feed *feed, void (*done)(void *user), void *user)
{
    feed->stopped = done;
    feed->stopped_user = user;
    feed->open_handles = 3;
    feed->venue->stream_destroy(feed->link);
    feed->venue->rest_destroy(feed->rest);
    while (feed->asked) {
        struct asked *asked = feed->asked; /* the first member of what was asked */
        answered(asked);
        free(asked->owned);
        free(asked);
    }
    feed->venue->parser_destroy(feed->parser);
    free(feed->held);
    free(feed->symbols);
    feed->symbols = NULL;
    feed->n_symbols = 0;
    feed->n_streams = 0;
    uv_close((uv_handle_t *)&feed->tick, timer_closed);
    uv_close((uv_handle_t *)&feed->retry, timer_closed);
    net_context_stop(feed->net, net_stopped, feed);
}
