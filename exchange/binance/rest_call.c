#include "exchange/binance/rest_call.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/binance/rest_parse.h"
#include "exchange/market.h"
#include "exchange/text.h"

/* The venue's weights, as published in 2026. */
enum {
    WEIGHT_TIME = 1,
    WEIGHT_INFO = 20,
    WEIGHT_KLINES = 2,
    WEIGHT_TRADES = 25,
    WEIGHT_AGG_TRADES = 4,
    WEIGHT_TICKER = 2,      /* of one symbol */
    LEVELS_A_WEIGHT = 20,   /* of depth */
    NAMES_IN_URL_MAX = 100, /* more are looked for in the whole list */
    MS_NS = 1000000,
};

int binance_call_weight(const struct venue_call *call)
{
    switch (call->kind) {
    case VENUE_REPLY_SYMBOLS:
        return WEIGHT_INFO;
    case VENUE_REPLY_BARS:
        return WEIGHT_KLINES;
    case VENUE_REPLY_BOOK:
        return ((const struct binance_call *)call)->depth / LEVELS_A_WEIGHT;
    case VENUE_REPLY_LATEST:
        return call->latest == MARKET_TRADE       ? WEIGHT_TRADES
               : call->latest == MARKET_AGG_TRADE ? WEIGHT_AGG_TRADES
                                                  : WEIGHT_TICKER;
    case VENUE_REPLY_TRADES:
        return WEIGHT_AGG_TRADES;
    default:
        return WEIGHT_TIME;
    }
}

static const struct binance_rest *rest_of(const struct venue_call *call)
{
    return (const struct binance_rest *)call->rest;
}

static void add_names(struct text *text, const struct venue_call *call)
{
    text_lit(text, "?symbols=%5B");
    for (size_t i = 0; i < call->n_wanted; i++) {
        text_str(text, i > 0 ? "%2C%22" : "%22");
        text_url(text, call->wanted[i].name);
        text_lit(text, "%22");
    }
    text_lit(text, "%5D");
}

static size_t page_size(const struct venue_call *call)
{
    size_t max = call->bars.max;
    return max > 0 && max < BINANCE_KLINES_MAX ? max : BINANCE_KLINES_MAX;
}

static void add_latest(struct text *text, const struct venue_call *call)
{
    bool trades = call->latest == MARKET_TRADE || call->latest == MARKET_AGG_TRADE;
    text_str(text, call->latest == MARKET_TRADE       ? "trades?symbol="
                   : call->latest == MARKET_AGG_TRADE ? "aggTrades?symbol="
                   : call->latest == MARKET_QUOTE     ? "ticker/bookTicker?symbol="
                                                      : "ticker/24hr?symbol=");
    text_url(text, call->symbol.name);
    if (trades)
        text_format(text, "&limit=%d", VENUE_LATEST_MAX);
}

static size_t trades_page(const struct venue_call *call)
{
    return call->max > 0 && call->max < BINANCE_TRADES_MAX ? call->max : BINANCE_TRADES_MAX;
}

/* The first page by the time, in whole milliseconds around the range; others by the id,
 * since trades may have the same time. */
static void add_trades(struct text *text, const struct venue_call *call)
{
    text_lit(text, "aggTrades?symbol=");
    text_url(text, call->symbol.name);
    if (call->next_id >= 0)
        text_format(text, "&fromId=%" PRId64, call->next_id);
    else
        text_format(text, "&startTime=%" PRId64 "&endTime=%" PRId64, call->from_ns / MS_NS,
                    (call->to_ns + MS_NS - 1) / MS_NS);
    text_format(text, "&limit=%zu", trades_page(call));
}

char *binance_call_url(const struct venue_call *call, bool whole)
{
    struct text text = {0};
    if (whole)
        text_str(&text, call->rest->url);
    text_lit(&text, "/api/v3/");
    switch (call->kind) {
    case VENUE_REPLY_TIME:
        text_lit(&text, "time");
        break;
    case VENUE_REPLY_SYMBOLS:
        text_lit(&text, "exchangeInfo");
        if (!((const struct binance_call *)call)->whole_list && call->n_wanted <= NAMES_IN_URL_MAX)
            add_names(&text, call);
        else if (rest_of(call)->variant->lists_briefly) /* without the permissions: most of the text */
            text_lit(&text, "?showPermissionSets=false");
        break;
    case VENUE_REPLY_BARS:
        text_lit(&text, "klines?symbol=");
        text_url(&text, call->symbol.name);
        text_format(&text, "&interval=%s&startTime=%" PRId64 "&endTime=%" PRId64 "&limit=%zu",
                    call->bars.interval_ns == BAR_MONTH_NS ? BAR_MONTH_REST
                                                           : bar_interval_name(call->bars.interval_ns),
                    call->bars.start_ns / MS_NS, call->bars.end_ns / MS_NS, page_size(call));
        break;
    case VENUE_REPLY_BOOK:
        text_lit(&text, "depth?symbol=");
        text_url(&text, call->symbol.name);
        text_format(&text, "&limit=%d", ((const struct binance_call *)call)->depth);
        break;
    case VENUE_REPLY_LATEST:
        add_latest(&text, call);
        break;
    case VENUE_REPLY_TRADES:
        add_trades(&text, call);
        break;
    default: /* kinds that it does not have */
        text.failed = true;
        break;
    }
    return text_take(&text);
}

void binance_call_title(const struct venue_call *call, char ret[static VENUE_DETAIL_MAX])
{
    static const char *const names[] = {
        [VENUE_REPLY_TIME] = "time",  [VENUE_REPLY_SYMBOLS] = "exchangeInfo", [VENUE_REPLY_BARS] = "klines",
        [VENUE_REPLY_BOOK] = "depth", [VENUE_REPLY_TRADES] = "aggTrades",
    };
    bool latest = call->kind == VENUE_REPLY_LATEST;
    bool of_symbol = call->kind == VENUE_REPLY_BARS || call->kind == VENUE_REPLY_BOOK ||
                     call->kind == VENUE_REPLY_TRADES || latest;
    snprintf(ret, VENUE_DETAIL_MAX, of_symbol ? "%s %s" : "%s",
             latest ? market_kind_name(call->latest) : names[call->kind], call->symbol.name);
}

static int take_symbols(struct venue_call *call, const char *body, size_t len, struct venue_reply *reply)
{
    struct binance_info info;
    int r =
        binance_parse_wanted(body, len, rest_of(call)->variant->name, call->wanted, call->n_wanted, &info);
    if (r < 0)
        return r;
    if (info.weight_per_minute > 0)
        call->rest->status.weight_limit = info.weight_per_minute;
    net_requests_fill_symbols(call, reply);
    return 0;
}

static int take_bars(struct venue_call *call, const char *body, size_t len, struct venue_reply *reply,
                     void **storage)
{
    struct venue_bars_request *rest = &call->bars;
    size_t asked = page_size(call), n, closed;
    struct bar *bars = malloc(asked * sizeof(*bars));
    if (!bars)
        return -ENOMEM;
    int r = binance_parse_klines(body, len, &call->symbol, rest->interval_ns, rest->now_ns, bars, asked, &n,
                                 &closed);
    if (r == 0 && n > 0 && bars[0].open_ns > rest->end_ns)
        n = closed = 0; /* before the listing the venue answers with the first bars that there are */
    if (r == 0 && n > 0 && (bars[0].open_ns < rest->start_ns || bars[n - 1].open_ns > rest->end_ns))
        r = -EBADMSG; /* not what was requested: the pages might never end */
    if (r < 0) {
        free(bars);
        return r == -E2BIG ? -EBADMSG : r;
    }
    *storage = bars;
    reply->bars.list = bars;
    reply->bars.n = n;
    reply->bars.n_closed = closed;
    const int64_t next_ns = n > 0 ? bar_end_time(bars[n - 1].open_ns, rest->interval_ns) : 0;
    if (n == asked && (rest->max == 0 || n < rest->max) && next_ns <= rest->end_ns) {
        rest->start_ns = next_ns;
        if (rest->max > 0)
            rest->max -= n;
        reply->more = true;
    }
    return 0;
}

static int take_book(struct venue_call *call, const char *body, size_t len, struct venue_reply *reply,
                     void **storage)
{
    struct book_level *levels = malloc(2 * BINANCE_DEPTH_LIMIT * sizeof(*levels));
    if (!levels)
        return -ENOMEM;
    reply->book.bids = levels;
    reply->book.asks = levels + BINANCE_DEPTH_LIMIT;
    int r = binance_parse_depth(body, len, &call->symbol, levels, &reply->book.n_bids,
                                levels + BINANCE_DEPTH_LIMIT, &reply->book.n_asks, BINANCE_DEPTH_LIMIT,
                                &reply->book.last_id);
    if (r < 0) {
        free(levels);
        return r == -E2BIG ? -EBADMSG : r;
    }
    *storage = levels;
    return 0;
}

static int take_latest(struct venue_call *call, const char *body, size_t len, struct venue_reply *reply,
                       void **storage)
{
    struct market_event *events = malloc(VENUE_LATEST_MAX * sizeof(*events));
    if (!events)
        return -ENOMEM;
    int r = binance_parse_latest(body, len, &call->symbol, call->latest, events, VENUE_LATEST_MAX,
                                 &reply->latest.n);
    if (r < 0) {
        free(events);
        return r;
    }
    *storage = events;
    reply->latest.list = events;
    return 0;
}

/* Of the range alone. */
static int take_trades(struct venue_call *call, const char *body, size_t len, struct venue_reply *reply,
                       void **storage)
{
    size_t asked = trades_page(call), n, kept = 0;
    struct market_event *events = malloc(asked * sizeof(*events));
    if (!events)
        return -ENOMEM;
    int r = binance_parse_latest(body, len, &call->symbol, MARKET_AGG_TRADE, events, asked, &n);
    if (r == 0 && n > 0 && events[0].trade.id < call->next_id)
        r = -EBADMSG; /* not what was requested: the pages might never end */
    if (r < 0) {
        free(events);
        return r;
    }
    reply->more = n == asked && call->max == 0 && events[n - 1].trade.ts_ns < call->to_ns;
    if (n > 0)
        call->next_id = events[n - 1].trade.id + 1;
    for (size_t i = 0; i < n; i++)
        if (events[i].trade.ts_ns >= call->from_ns && events[i].trade.ts_ns < call->to_ns)
            events[kept++] = events[i];
    *storage = events;
    reply->latest.list = events;
    reply->latest.n = kept;
    return 0;
}

int binance_call_take(struct venue_call *call, const char *body, size_t len, struct venue_reply *reply,
                      void **storage)
{
    switch (call->kind) {
    case VENUE_REPLY_TIME:
        return binance_parse_time(body, len, &reply->server_ns);
    case VENUE_REPLY_SYMBOLS:
        return take_symbols(call, body, len, reply);
    case VENUE_REPLY_BARS:
        return take_bars(call, body, len, reply, storage);
    case VENUE_REPLY_BOOK:
        return take_book(call, body, len, reply, storage);
    case VENUE_REPLY_LATEST:
        return take_latest(call, body, len, reply, storage);
    case VENUE_REPLY_TRADES:
        return take_trades(call, body, len, reply, storage);
    default:
        return -EBADMSG;
    }
}
