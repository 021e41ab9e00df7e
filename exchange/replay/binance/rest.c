#include "exchange/replay/binance/protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/json.h"
#include "exchange/replay/binance/limits.h"
#include "exchange/replay/keyed.h"
#include "exchange/replay/render.h"
#include "exchange/replay/retime.h"

#define NS_PER_MS 1000000LL

enum {
    OK = 200,
    BAD_REQUEST = 400,
    NOT_FOUND = 404,
    KLINES_MAX = 1000,
    AGGREGATES_MAX = 1000,
    DEPTH_MAX = 5000,
    AVERAGE_MINUTES = 5,
};

struct call {
    const struct limits *limits;
    struct replay_source *source;
    struct tape *tape;
    const struct replay_request *request;
    struct text *body;
    int weight;
    int64_t unit_ns; /* of the times of trades, and of the clock, in replies */
    int64_t skew_ns; /* of the clock in replies */
};

void replay_rest_error(struct text *body, int code, const char *msg)
{
    text_clear(body);
    text_lit(body, "{\"code\":");
    text_int(body, code);
    text_lit(body, ",\"msg\":\"");
    text_str(body, msg);
    text_lit(body, "\"}");
}

static const char *arg(const struct call *c, const char *name)
{
    return replay_request_arg(c->request, name);
}

/* A parameter of digits; *ret keeps its value when it was not sent. False after an error was written. */
static bool arg_int(struct call *c, const char *name, int64_t max, int64_t *ret)
{
    const char *text = arg(c, name);
    char msg[128];
    if (!text)
        return true;
    size_t len = strlen(text);
    if (len == 0 || len > 18 || strspn(text, "0123456789") != len) {
        snprintf(msg, sizeof(msg),
                 "Illegal characters found in parameter '%s'; legal range is '^[0-9]{1,20}$'.", name);
        replay_rest_error(c->body, -1100, msg);
        return false;
    }
    *ret = strtoll(text, NULL, 10);
    if (*ret > max)
        *ret = max;
    return true;
}

static bool arg_limit(struct call *c, int64_t max, int64_t usual, int64_t *ret)
{
    *ret = usual;
    if (!arg_int(c, "limit", max, ret))
        return false;
    if (*ret == 0) {
        replay_rest_error(c->body, -1130, "Data sent for parameter 'limit' is not valid.");
        return false;
    }
    return true;
}

static int bad_symbol(struct call *c)
{
    replay_rest_error(c->body, -1121, "Invalid symbol.");
    return BAD_REQUEST;
}

static int need_symbol(struct call *c)
{
    const char *text = arg(c, "symbol");
    if (!text || !*text) {
        replay_rest_error(c->body, -1102,
                          "Mandatory parameter 'symbol' was not sent, was empty/null, or malformed.");
        return -1;
    }
    int symbol = replay_tape_symbol_find(c->tape, text, strlen(text));
    /* The venue knows symbols in upper case only. */
    if (symbol < 0 || c->tape->symbols[symbol].delisted || strcmp(c->tape->symbols[symbol].name, text) != 0) {
        bad_symbol(c);
        return -1;
    }
    return symbol;
}

static int get_ping(struct call *c)
{
    text_lit(c->body, "{}");
    return OK;
}

static int get_time(struct call *c)
{
    text_lit(c->body, "{\"serverTime\":");
    text_int(c->body, (c->tape->now_ns + c->skew_ns) / c->unit_ns);
    text_lit(c->body, "}");
    return OK;
}

/* Marks the symbols of ?symbol= or ?symbols=["A","B"], all without either. False after an error was written.
 */
static bool mark_symbols(struct call *c, bool *marked, bool *ret_one)
{
    const char *one = arg(c, "symbol"), *list = arg(c, "symbols");
    *ret_one = one != NULL;
    for (int i = 0; i < c->tape->n_symbols; i++)
        marked[i] = !one && !list && !c->tape->symbols[i].delisted;
    if (one) {
        int symbol = need_symbol(c);
        if (symbol < 0)
            return false;
        marked[symbol] = true;
    } else if (list) {
        struct json json;
        struct json_text name;
        json_init(&json, list, strlen(list));
        json_enter_array(&json);
        while (json_element(&json)) {
            int symbol =
                json_read_string(&json, &name) ? replay_tape_symbol_find(c->tape, name.data, name.len) : -1;
            if (symbol < 0 || c->tape->symbols[symbol].delisted) {
                bad_symbol(c);
                return false;
            }
            marked[symbol] = true;
        }
        if (!json_done(&json)) {
            replay_rest_error(
                c->body, -1100,
                "Illegal characters found in parameter 'symbols'; legal range is a JSON array.");
            return false;
        }
    }
    return true;
}

static int get_exchange_info(struct call *c)
{
    bool marked[TAPE_SYMBOLS_MAX], one;
    if (!mark_symbols(c, marked, &one))
        return BAD_REQUEST;
    replay_exchange_info_write(c->body, c->tape, marked, c->limits);
    return OK;
}

static int get_klines(struct call *c)
{
    int symbol = need_symbol(c);
    const char *name = arg(c, "interval");
    int64_t limit, start_ms = -1, end_ms = -1;
    if (symbol < 0)
        return BAD_REQUEST;
    if (!name || !*name) {
        replay_rest_error(c->body, -1102,
                          "Mandatory parameter 'interval' was not sent, was empty/null, or malformed.");
        return BAD_REQUEST;
    }
    int interval = replay_candle_interval_find(name, strlen(name));
    if (interval < 0) {
        replay_rest_error(c->body, -1120, "Invalid interval.");
        return BAD_REQUEST;
    }
    if (!arg_limit(c, KLINES_MAX, 500, &limit) ||
        !arg_int(c, "startTime", INT64_MAX / NS_PER_MS, &start_ms) ||
        !arg_int(c, "endTime", INT64_MAX / NS_PER_MS, &end_ms))
        return BAD_REQUEST;
    struct candle *candles = calloc((size_t)limit, sizeof(*candles));
    if (!candles) {
        c->body->failed = true;
        return OK;
    }
    size_t n = replay_candles_query(&c->tape->symbols[symbol].candles, interval,
                                    start_ms < 0 ? -1 : start_ms * NS_PER_MS,
                                    end_ms < 0 ? -1 : end_ms * NS_PER_MS, (size_t)limit, candles);
    text_lit(c->body, "[");
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            text_lit(c->body, ",");
        replay_render_kline_row(c->body, interval, &candles[i]);
    }
    text_lit(c->body, "]");
    free(candles);
    return OK;
}

static void write_side(struct text *body, const struct replay_ladder *side, int64_t limit)
{
    size_t n = side->n < (size_t)limit ? side->n : (size_t)limit;
    replay_render_levels(body, side->n > 0 ? &side->levels[side->n - 1] : NULL, n, -1);
}

static int get_depth(struct call *c)
{
    int symbol = need_symbol(c);
    int64_t limit;
    struct source_book book;
    static const struct replay_ladder empty;
    if (symbol < 0 || !arg_limit(c, DEPTH_MAX, 100, &limit))
        return BAD_REQUEST;
    c->weight = limit <= 100 ? 5 : limit <= 500 ? 25 : limit <= 1000 ? 50 : 250;
    if (!c->source->ops->book(c->source, symbol, &book))
        book = (struct source_book){&empty, &empty, 0};
    text_lit(c->body, "{\"lastUpdateId\":");
    text_int(c->body, (int64_t)book.last_id);
    text_lit(c->body, ",\"bids\":");
    write_side(c->body, book.bids, limit);
    text_lit(c->body, ",\"asks\":");
    write_side(c->body, book.asks, limit);
    text_lit(c->body, "}");
    return OK;
}

static int get_trades(struct call *c)
{
    int symbol = need_symbol(c);
    int64_t limit;
    if (symbol < 0 || !arg_limit(c, TAPE_TRADES_KEPT, 500, &limit))
        return BAD_REQUEST;
    const struct tape_symbol *sym = &c->tape->symbols[symbol];
    uint64_t n = sym->n_trades < (uint64_t)limit ? sym->n_trades : (uint64_t)limit;
    text_lit(c->body, "[");
    for (uint64_t i = sym->n_trades - n; i < sym->n_trades; i++) {
        const struct tape_trade *t = &sym->trades[i % TAPE_TRADES_KEPT];
        text_str(c->body, i > sym->n_trades - n ? ",{\"id\":" : "{\"id\":");
        text_int(c->body, t->id);
        text_lit(c->body, ",\"price\":");
        text_e8(c->body, t->price);
        text_lit(c->body, ",\"qty\":");
        text_e8(c->body, t->qty);
        text_lit(c->body, ",\"quoteQty\":");
        text_sum(c->body, (int128_t)t->price * t->qty, 16);
        text_lit(c->body, ",\"time\":");
        text_int(c->body, t->ts_ns / c->unit_ns);
        text_str(c->body, t->buyer_maker ? ",\"isBuyerMaker\":true" : ",\"isBuyerMaker\":false");
        text_lit(c->body, ",\"isBestMatch\":true}");
    }
    text_lit(c->body, "]");
    return OK;
}

/* A time of the request in ms or, where it is so late, in µs. */
static bool arg_time(struct call *c, const char *name, int64_t *ret_ns)
{
    int64_t time = -1;
    *ret_ns = -1;
    if (!arg_int(c, name, INT64_MAX, &time))
        return false;
    if (time < 0 || replay_retime_ns(time, ret_ns))
        return true;
    replay_rest_error(c->body, -1130, "Data sent for a time is not valid.");
    return false;
}

static void write_aggregate(struct text *out, int64_t unit_ns, const struct tape_aggregate *aggregate)
{
    text_lit(out, "{\"a\":");
    text_int(out, aggregate->id);
    text_lit(out, ",\"p\":");
    text_e8(out, aggregate->price);
    text_lit(out, ",\"q\":");
    text_e8(out, aggregate->qty);
    text_lit(out, ",\"f\":");
    text_int(out, aggregate->first_id);
    text_lit(out, ",\"l\":");
    text_int(out, aggregate->last_id);
    text_lit(out, ",\"T\":");
    text_int(out, aggregate->ts_ns / unit_ns);
    text_str(out, aggregate->buyer_maker ? ",\"m\":true,\"M\":true}" : ",\"m\":false,\"M\":true}");
}

/* From an id or a time on the first ones, else the last ones: of those that are kept. */
static int get_agg_trades(struct call *c)
{
    int symbol = need_symbol(c);
    int64_t limit, id = -1, start_ns, end_ns;
    if (symbol < 0 || !arg_limit(c, AGGREGATES_MAX, 500, &limit) || !arg_int(c, "fromId", INT64_MAX, &id) ||
        !arg_time(c, "startTime", &start_ns) || !arg_time(c, "endTime", &end_ns))
        return BAD_REQUEST;
    if (id >= 0 && (start_ns >= 0 || end_ns >= 0)) {
        replay_rest_error(c->body, -1128, "Combination of optional parameters invalid.");
        return BAD_REQUEST;
    }
    const struct tape_symbol *sym = &c->tape->symbols[symbol];
    uint64_t first = replay_tape_aggregates_first(sym), end = sym->n_aggregates, most = (uint64_t)limit;
    if (end_ns >= 0)
        end = replay_tape_aggregates_from(sym, true, end_ns + 1);
    if (id >= 0 || start_ns >= 0)
        first = id >= 0 ? replay_tape_aggregates_from(sym, false, id)
                        : replay_tape_aggregates_from(sym, true, start_ns);
    else if (end - first > most)
        first = end - most;
    if (end > first && end - first > most)
        end = first + most;
    text_lit(c->body, "[");
    for (uint64_t i = first; i < end; i++) {
        if (i > first)
            text_lit(c->body, ",");
        write_aggregate(c->body, c->unit_ns, replay_tape_aggregate(sym, i));
    }
    text_lit(c->body, "]");
    return OK;
}

static void write_quote(struct text *out, const struct tape_symbol *sym)
{
    keyed_e8(out, "bidPrice", sym->bid);
    keyed_e8(out, "bidQty", sym->bid_qty);
    keyed_e8(out, "askPrice", sym->ask);
    keyed_e8(out, "askQty", sym->ask_qty);
}

static void write_price(struct call *c, int symbol)
{
    struct candle day;
    keyed_e8(c->body, "price", replay_tape_day(c->tape, symbol, &day) ? day.close : 0);
}

static void write_book_ticker(struct call *c, int symbol)
{
    write_quote(c->body, &c->tape->symbols[symbol]);
}

static void write_day(struct call *c, int symbol)
{
    struct text *out = c->body;
    struct candle day = {.first_id = -1, .last_id = -1};
    replay_tape_day(c->tape, symbol, &day);
    int64_t change = day.close - day.open;
    keyed_e8(out, "priceChange", change);
    keyed(out, "priceChangePercent");
    char percent[DECIMAL_TEXT_MAX];
    decimal_format(day.open ? (int128_t)change * 100000 / day.open : 0, 3, percent);
    text_lit(out, "\"");
    text_str(out, percent);
    text_lit(out, "\"");
    keyed_e8(out, "weightedAvgPrice", day.volume > 0 ? (int64_t)(day.quote_volume / day.volume) : 0);
    keyed_e8(out, "lastPrice", day.close);
    write_quote(out, &c->tape->symbols[symbol]);
    keyed_e8(out, "openPrice", day.open);
    keyed_e8(out, "highPrice", day.high);
    keyed_e8(out, "lowPrice", day.low);
    keyed(out, "volume");
    text_sum(out, day.volume, 8);
    keyed(out, "quoteVolume");
    text_sum(out, day.quote_volume, 16);
    keyed(out, "openTime");
    text_int(out, day.open_ns / NS_PER_MS);
    keyed(out, "closeTime");
    text_int(out, c->tape->now_ns / NS_PER_MS);
    keyed(out, "firstId");
    text_int(out, day.first_id);
    keyed(out, "lastId");
    text_int(out, day.last_id);
    keyed(out, "count");
    text_int(out, day.trades);
}

/* Of the minutes that hold the last five. */
static int get_average(struct call *c)
{
    struct candle minutes[AVERAGE_MINUTES], all = {0}, day;
    const int symbol = need_symbol(c);
    if (symbol < 0)
        return BAD_REQUEST;
    const struct tape_symbol *sym = &c->tape->symbols[symbol];
    const size_t n = replay_candles_query(&sym->candles, replay_candle_interval_find("1m", 2), -1, -1,
                                          AVERAGE_MINUTES, minutes);
    for (size_t i = 0; i < n; i++) {
        all.volume += minutes[i].volume;
        all.quote_volume += minutes[i].quote_volume;
    }
    const int64_t last = replay_tape_day(c->tape, symbol, &day) ? day.close : 0,
                  ns = sym->n_trades > 0 ? sym->trades[(sym->n_trades - 1) % TAPE_TRADES_KEPT].ts_ns
                                         : c->tape->now_ns;
    text_lit(c->body, "{\"mins\":");
    text_int(c->body, AVERAGE_MINUTES);
    keyed_e8(c->body, "price", all.volume > 0 ? (int64_t)(all.quote_volume / all.volume) : last);
    keyed_int(c->body, "closeTime", ns / c->unit_ns);
    text_lit(c->body, "}");
    return OK;
}

/* One object for ?symbol=, else an array. */
static int for_symbols(struct call *c, void (*write)(struct call *c, int symbol))
{
    bool marked[TAPE_SYMBOLS_MAX], one, first = true;
    if (!mark_symbols(c, marked, &one))
        return BAD_REQUEST;
    if (!one)
        text_lit(c->body, "[");
    for (int i = 0; i < c->tape->n_symbols; i++) {
        if (!marked[i])
            continue;
        text_str(c->body, first ? "{\"symbol\":\"" : ",{\"symbol\":\"");
        text_str(c->body, c->tape->symbols[i].name);
        text_lit(c->body, "\"");
        write(c, i);
        text_lit(c->body, "}");
        first = false;
    }
    if (!one)
        text_lit(c->body, "]");
    return OK;
}

/* The venue's charge for a list: by its length for summaries of the day, else twice that of one symbol. */
static int get_ticker_24hr(struct call *c)
{
    const char *list = arg(c, "symbols");
    int n = 1;
    for (const char *p = list; p && *p; p++)
        n += *p == ',';
    if (!arg(c, "symbol"))
        c->weight = !list || n > 100 ? 80 : n > 20 ? 40 : 2;
    return for_symbols(c, write_day);
}

static int get_ticker_price(struct call *c)
{
    c->weight = arg(c, "symbol") ? 2 : 4;
    return for_symbols(c, write_price);
}

static int get_ticker_book(struct call *c)
{
    c->weight = arg(c, "symbol") ? 2 : 4;
    return for_symbols(c, write_book_ticker);
}

int replay_rest_answer(struct replay_source *source, int64_t skew_ns, const struct limits *limits,
                       const struct replay_request *request, struct text *body, int *ret_weight)
{
    static const struct {
        const char *path;
        int weight;
        int (*answer)(struct call *c);
    } paths[] = {
        {"/api/v3/ping", 1, get_ping},
        {"/api/v3/time", 1, get_time},
        {"/api/v3/exchangeInfo", 20, get_exchange_info},
        {"/api/v3/klines", 2, get_klines},
        {"/api/v3/depth", 5, get_depth},
        {"/api/v3/aggTrades", 4, get_agg_trades},
        {"/api/v3/trades", 25, get_trades},
        {"/api/v3/avgPrice", 2, get_average},
        {"/api/v3/ticker/24hr", 2, get_ticker_24hr},
        {"/api/v3/ticker/price", 2, get_ticker_price},
        {"/api/v3/ticker/bookTicker", 2, get_ticker_book},
    };
    const char *unit = request->headers[REPLAY_HEADER_TIME_UNIT];
    struct call call = {
        .source = source,
        .tape = source->tape,
        .request = request,
        .body = body,
        .unit_ns = unit && strcasecmp(unit, "MICROSECOND") == 0 ? 1000 : NS_PER_MS,
        .skew_ns = skew_ns,
        .limits = limits,
    };
    text_clear(body);
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        if (strcmp(request->path, paths[i].path) != 0)
            continue;
        call.weight = paths[i].weight;
        int status = paths[i].answer(&call);
        *ret_weight = replay_limits_weigh(limits, request->path, call.weight);
        return status;
    }
    *ret_weight = 1;
    replay_rest_error(body, -1000, "Path not found.");
    return NOT_FOUND;
}
