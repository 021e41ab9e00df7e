/* Asks by REST for a stream that is silent for too long: what it should have brought becomes events, and
 * the answer shows whether the stream or the market is silent. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/feed/internal.h"
#include "daemon/log.h"
#include "engine/event.h"
#include "exchange/clock.h"

enum {
    ASKED_AT_ONCE = 4,
    QUEUE_MAX = 20, /* requests that wait already: others come first */
    BARS_ASKED_MAX = 100,
};

#define SETTLED_NS (3 * 1000000000LL) /* a later event may still be on its way */

struct latest_call {
    struct feed_asked asked;
    struct feed *feed;
    size_t stream;
    bool bars_newer; /* KLINE: of the pages so far */
};

void feed_remember(struct stream *stream, const struct market_event *event)
{
    struct newest *newest = &stream->newest;
    newest->known = true;
    switch (event->kind) {
    case MARKET_TRADE:
    case MARKET_AGG_TRADE:
        if (event->trade.id > newest->id)
            newest->id = event->trade.id;
        if (event->trade.ts_ns > newest->ts_ns)
            newest->ts_ns = event->trade.ts_ns;
        break;
    case MARKET_QUOTE:
        newest->ts_ns = event->event_ns;
        newest->quote = event->quote;
        break;
    case MARKET_TICKER:
        newest->ticker = event->ticker;
        break;
    default:
        break;
    }
}

static void emit(struct feed *feed, const struct stream *stream, const struct market_event *market)
{
    struct event event = {.kind = EVENT_MARKET, .market = *market};
    event.market.symbol = feed->symbols[stream->symbol].index;
    daemon_session_event(feed->daemon->session, &event);
}

/* ---- what is newer in an answer? ---- */

static bool trade_newer(const struct feed *feed, const struct stream *stream,
                        const struct market_event *event)
{
    const struct newest *newest = &stream->newest;
    if (!newest->known)
        return event->trade.ts_ns > stream->since_ns;
    return feed->listed[stream->symbol].loose_ids ? event->trade.ts_ns > newest->ts_ns
                                                  : event->trade.id > newest->id;
}

static enum silence_answer take_trades(struct feed *feed, struct stream *stream,
                                       const struct venue_reply *reply)
{
    int64_t settled_ns = feed_venue_now_ns(feed) - SETTLED_NS;
    bool newer = false;
    for (size_t i = 0; i < reply->latest.n && !newer; i++)
        newer = trade_newer(feed, stream, &reply->latest.list[i]) &&
                reply->latest.list[i].trade.ts_ns <= settled_ns;
    if (!newer)
        return SILENCE_NOTHING;
    struct stream before = *stream; /* several may be of one time */
    for (size_t i = 0; i < reply->latest.n; i++)
        if (trade_newer(feed, &before, &reply->latest.list[i])) {
            emit(feed, stream, &reply->latest.list[i]);
            feed_remember(stream, &reply->latest.list[i]);
        }
    return SILENCE_NEWER;
}

/* Was the symbol's stream of that kind silent since REST was asked for this one? */
static bool newer_than(const struct feed *feed, const struct stream *stream, enum market_kind kind)
{
    int at = feed->symbols[stream->symbol].streams[kind];
    return at >= 0 && feed_silence_newer_than(&stream->silence, &feed->streams[at].silence);
}

static const struct book *book_of(const struct feed *feed, const struct stream *stream)
{
    return engine_book(daemon_session_engine(feed->daemon->session), feed->symbols[stream->symbol].index);
}

/* The answer has no number, and orders are filled from book or quote, whichever has the higher one. What
 * the stream brings next is not older. */
static uint64_t quote_id(const struct feed *feed, const struct stream *stream)
{
    const struct book *book = book_of(feed, stream);
    uint64_t id = stream->newest.quote.update_id;
    bool newer = book->state == BOOK_SYNCED && newer_than(feed, stream, MARKET_DEPTH);
    return newer && book->last_id > id ? book->last_id : id;
}

static bool same_quote(const struct market_quote *a, const struct market_quote *b)
{
    return a->bid == b->bid && a->bid_qty == b->bid_qty && a->ask == b->ask && a->ask_qty == b->ask_qty;
}

/* A first quote does not show that the stream should have brought it. */
static enum silence_answer take_quote(struct feed *feed, struct stream *stream,
                                      const struct market_event *fresh)
{
    struct market_event event = *fresh;
    struct newest *newest = &stream->newest;
    bool first = !newest->known;
    bool newer =
        event.event_ns != 0 ? event.event_ns > newest->ts_ns : !same_quote(&event.quote, &newest->quote);
    if (!newer)
        return SILENCE_NOTHING;
    event.quote.update_id = quote_id(feed, stream);
    emit(feed, stream, &event);
    feed_remember(stream, &event);
    return first ? SILENCE_NOTHING : SILENCE_NEWER;
}

static enum silence_answer take_ticker(struct feed *feed, struct stream *stream,
                                       const struct market_event *event)
{
    const struct market_ticker *known = &stream->newest.ticker, *fresh = &event->ticker;
    bool first = !stream->newest.known;
    bool day = feed->listed[stream->symbol].loose_ids; /* else 24 hours, whose volume time alone changes */
    if (!first && fresh->close == known->close && (!day || fresh->volume == known->volume))
        return SILENCE_NOTHING;
    emit(feed, stream, event);
    feed_remember(stream, event);
    return first ? SILENCE_NOTHING : SILENCE_NEWER;
}

static bool same_best(const struct book *book, const struct venue_reply *reply)
{
    const struct book_level *bid = book_bid(book, 0), *ask = book_ask(book, 0);
    return (reply->book.n_bids > 0) == (bid != NULL) && (reply->book.n_asks > 0) == (ask != NULL) &&
           (!bid || (bid->price == reply->book.bids[0].price && bid->qty == reply->book.bids[0].qty)) &&
           (!ask || (ask->price == reply->book.asks[0].price && ask->qty == reply->book.asks[0].qty));
}

/* A venue that numbers nothing continues the count of its parser, past an older quote. */
static uint64_t book_id(const struct feed *feed, const struct stream *stream, uint64_t known)
{
    int quotes = feed->symbols[stream->symbol].streams[MARKET_QUOTE];
    uint64_t quote = quotes >= 0 ? feed->streams[quotes].newest.quote.update_id : 0;
    return newer_than(feed, stream, MARKET_QUOTE) && quote >= known ? quote + 1 : known;
}

static enum silence_answer take_book(struct feed *feed, struct stream *stream,
                                     const struct venue_reply *reply)
{
    const struct book *book = book_of(feed, stream);
    uint64_t id = reply->book.last_id;
    if (book->state != BOOK_SYNCED) { /* fetch.c asks for it */
        feed_need_snapshot(feed, stream->symbol);
        return SILENCE_UNKNOWN;
    }
    stream->newest.book_ms = clock_now_ms();
    if (id != 0 ? id <= book->last_id : same_best(book, reply))
        return SILENCE_NOTHING;
    id = id != 0 ? id : book_id(feed, stream, book->last_id);
    struct market_event event = {
        .kind = MARKET_BOOK,
        .depth = {id, id, reply->book.bids, reply->book.asks, reply->book.n_bids, reply->book.n_asks},
    };
    emit(feed, stream, &event);
    return SILENCE_NEWER;
}

static void take_bars(struct latest_call *call, struct stream *stream, const struct venue_reply *reply)
{
    struct feed *feed = call->feed;
    struct event event = {.kind = EVENT_BARS,
                          .bars = {.symbol = feed->symbols[stream->symbol].index,
                                   .bars = reply->bars.list,
                                   .n = (uint32_t)reply->bars.n_closed}};
    if (reply->bars.n_closed == 0)
        return;
    for (size_t i = 0; i < reply->bars.n_closed; i++)
        call->bars_newer |= reply->bars.list[i].trades > 0; /* of one without the stream may be silent */
    daemon_session_event(feed->daemon->session, &event);
}

static enum silence_answer take_answer(struct latest_call *call, struct stream *stream,
                                       const struct venue_reply *reply)
{
    struct feed *feed = call->feed;
    if (reply->kind == VENUE_REPLY_BOOK)
        return take_book(feed, stream, reply);
    if (reply->kind == VENUE_REPLY_BARS)
        return call->bars_newer ? SILENCE_NEWER : SILENCE_NOTHING;
    if (stream->kind == MARKET_TRADE || stream->kind == MARKET_AGG_TRADE)
        return take_trades(feed, stream, reply);
    if (reply->latest.n == 0)
        return SILENCE_NOTHING;
    return stream->kind == MARKET_QUOTE ? take_quote(feed, stream, &reply->latest.list[0])
                                        : take_ticker(feed, stream, &reply->latest.list[0]);
}

static void have_latest(void *user, const struct venue_reply *reply)
{
    struct latest_call *call = user;
    struct feed *feed = call->feed;
    struct stream *stream = &feed->streams[call->stream];
    enum silence_answer answer = SILENCE_UNKNOWN;
    bool received = stream->silence.asked_ms == 0; /* since: what the stream says is newer than the answer */
    if (!reply->error && reply->kind == VENUE_REPLY_BARS && !received)
        take_bars(call, stream, reply);
    if (!reply->error && reply->more)
        return;
    if (reply->error)
        daemon_log_warning("feed: %s %s: it could not be asked for: %s", feed->listed[stream->symbol].name,
                           stream->name, reply->text);
    else if (!received)
        answer = take_answer(call, stream, reply);
    feed_silence_answered(&stream->silence, answer, clock_now_ms());
    feed->n_asked_streams--;
    feed_answered(&call->asked);
    free(call);
}

/* ---- asking ---- */

/* Bars that closed since the last known one. */
static int send_missing_bars(struct latest_call *call, const struct stream *stream)
{
    struct feed *feed = call->feed;
    struct engine_symbol_view view;
    int64_t interval = feed->daemon->config.interval_ns, now = feed_over_ns(feed);
    int64_t last = feed_bar_before(feed, stream->symbol, now - SETTLED_NS);
    const struct trading_calendar days = feed_days(feed, stream->symbol);
    engine_symbol_view(daemon_session_engine(feed->daemon->session), feed->symbols[stream->symbol].index,
                       &view);
    int64_t first = view.bars > 0 ? feed_bar_end(feed, stream->symbol, view.last_bar.open_ns) : last;
    if (first < last - BARS_ASKED_MAX * interval)
        first = last - BARS_ASKED_MAX * interval;
    struct venue_bars_request request = {
        .symbol = &feed->listed[stream->symbol],
        .interval_ns = interval,
        .start_ns = first,
        .end_ns = last,
        .now_ns = now,
        .adjustment = feed->symbols[stream->symbol].calendar >= 0 ? VENUE_SPLIT : VENUE_RAW,
        .calendar = &days,
    };
    return first > last ? -EAGAIN : net_requests_bars(feed->rest, &request, have_latest, call, NULL);
}

static int send_latest(struct feed_asked *asked)
{
    struct latest_call *call = (struct latest_call *)asked;
    struct feed *feed = call->feed;
    const struct stream *stream = &feed->streams[call->stream];
    const struct newest *newest = &stream->newest;
    const struct venue_latest_request request = {
        .symbol = &feed->listed[stream->symbol],
        .kind = stream->kind,
        .since_ns = newest->known ? newest->ts_ns : stream->since_ns,
    };
    if (stream->kind == MARKET_KLINE)
        return send_missing_bars(call, stream);
    if (stream->kind == MARKET_DEPTH)
        return net_requests_book(feed->rest, request.symbol, have_latest, call, NULL);
    return net_requests_latest(feed->rest, &request, have_latest, call, NULL);
}

/* Asks for one stream. Where no request is possible, the next one is due as late as if it had been sent. */
static void ask(struct feed *feed, size_t at, int64_t now)
{
    struct latest_call *call = calloc(1, sizeof *call);
    if (!call)
        return;
    *call = (struct latest_call){.asked.send = send_latest, .feed = feed, .stream = at};
    feed_silence_asked(&feed->streams[at].silence, now);
    feed->n_asked_streams++;
    if (feed_ask(feed, &call->asked, false) == 0)
        return;
    feed->n_asked_streams--;
    feed_silence_answered(&feed->streams[at].silence, SILENCE_UNKNOWN, now);
}

/* On the feed's clock an answer's moment would be this machine's. */
static bool may_ask(const struct feed *feed)
{
    return feed->daemon->config.clock == CLOCK_WALL && feed->n_asked_streams < ASKED_AT_ONCE &&
           feed->ban_until_ns == 0 && !feed->final && net_requests_status(feed->rest)->queued < QUEUE_MAX;
}

static bool take_units(struct budget *budget, unsigned n, int64_t now)
{
    if (net_budget_used(budget, now) + n > budget->limit)
        return false;
    while (n-- > 0)
        net_budget_take(budget, now);
    return true;
}

/* Is it the stream to ask for the price of a symbol that has had none for long? */
static bool price_due(const struct feed *feed, size_t at, int64_t now)
{
    static const enum market_kind order[] = {MARKET_QUOTE, MARKET_TRADE, MARKET_AGG_TRADE, MARKET_DEPTH};
    const struct feed_symbol *symbol = &feed->symbols[feed->streams[at].symbol];
    const struct silence *silence = &feed->streams[at].silence;
    int64_t early_ms = feed_silence_early_ms(feed->limits.stale_ms), known_ms = 0;
    int first = -1;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        int other = symbol->streams[order[i]];
        if (other < 0)
            continue;
        first = first < 0 ? other : first;
        if (feed_silence_known_ms(&feed->streams[other].silence) > known_ms)
            known_ms = feed_silence_known_ms(&feed->streams[other].silence);
    }
    return first == (int)at && !silence->asking && now - known_ms >= early_ms &&
           now - silence->asked_ms >= early_ms;
}

void feed_ask_silent(struct feed *feed, int64_t now)
{
    for (size_t i = 0, n = feed->n_streams; i < n && may_ask(feed); i++) {
        size_t at = feed->next_asked++ % n;
        const struct stream *stream = &feed->streams[at];
        if (feed_stream_counts(feed, at) &&
            (feed_silence_ask_due(&stream->rule, &stream->silence, now) || price_due(feed, at, now)) &&
            take_units(&feed->asks, feed->venue->ask_cost[stream->kind], now))
            ask(feed, at, now);
    }
}
