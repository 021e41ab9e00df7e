#include "exchange/binance/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/binance/rest_parse.h"
#include "exchange/json.h"
#include "exchange/symbol_table.h"

enum {
    LEVELS_MAX = 16384, /* a side of one difference; the venue sends at most a few thousand */
    KIND_OTHER = MARKET_KINDS,
    KIND_UNKNOWN,
};

struct binance_parser {
    struct symbol_table symbols;
    struct book_level bids[LEVELS_MAX], asks[LEVELS_MAX];
};

int binance_parser_create(const struct symbol *symbols, size_t n, struct venue_parser **ret)
{
    struct binance_parser *parser = calloc(1, sizeof *parser);
    if (!parser)
        return -ENOMEM;
    parser->symbols.symbols = symbols;
    int r = binance_parser_grow((struct venue_parser *)parser, n);
    if (r < 0)
        free(parser);
    else
        *ret = (struct venue_parser *)parser;
    return r;
}

int binance_parser_grow(struct venue_parser *venue, size_t n)
{
    return symbol_table_grow(&((struct binance_parser *)venue)->symbols, n);
}

void binance_parser_destroy(struct venue_parser *venue)
{
    struct binance_parser *parser = (struct binance_parser *)venue;
    free(parser);
}

/* "btcusdt@kline_1m" → MARKET_KLINE. */
static int kind_of_stream(struct json_text stream)
{
    const char *at = memchr(stream.data, '@', stream.len);
    if (!at)
        return KIND_OTHER;
    struct json_text kind = {at + 1, stream.len - (size_t)(at + 1 - stream.data)};
    if (json_is(kind, "trade"))
        return MARKET_TRADE;
    if (json_is(kind, "bookTicker"))
        return MARKET_QUOTE;
    if (json_is(kind, "depth") || (kind.len > 6 && memcmp(kind.data, "depth@", 6) == 0)) /* at any pace */
        return MARKET_DEPTH;
    if (json_is(kind, "aggTrade"))
        return MARKET_AGG_TRADE;
    if (kind.len > 6 && memcmp(kind.data, "kline_", 6) == 0)
        return MARKET_KLINE;
    if (json_is(kind, "miniTicker"))
        return MARKET_TICKER;
    return KIND_OTHER;
}

static int kind_of_event(struct json_text type)
{
    if (json_is(type, "trade"))
        return MARKET_TRADE;
    if (json_is(type, "aggTrade"))
        return MARKET_AGG_TRADE;
    if (json_is(type, "depthUpdate"))
        return MARKET_DEPTH;
    if (json_is(type, "kline"))
        return MARKET_KLINE;
    if (json_is(type, "bookTicker")) /* futures' */
        return MARKET_QUOTE;
    if (json_is(type, "24hrMiniTicker"))
        return MARKET_TICKER;
    return KIND_OTHER;
}

static bool read_id(struct json *json, uint64_t *ret)
{
    int64_t id;
    if (!json_int(json, &id) || id < 0)
        return false;
    *ret = (uint64_t)id;
    return true;
}

static bool read_levels(struct json *json, const struct symbol *symbol, struct book_level *levels,
                        uint32_t *ret_n)
{
    uint32_t n = 0;
    if (!json_enter_array(json))
        return false;
    while (json_element(json)) {
        if (n == LEVELS_MAX || !json_enter_array(json))
            return false;
        if (!json_element(json) || !json_amount(json, symbol->price_scale, &levels[n].price) ||
            levels[n].price == 0)
            return false;
        if (!json_element(json) || !json_amount(json, symbol->qty_scale, &levels[n].qty))
            return false;
        while (json_element(json)) /* old replies carry a third, empty field */
            if (!json_skip(json))
                return false;
        n++;
    }
    *ret_n = n;
    return !json->failed;
}

/* The fields of each kind; one bit a field records what was there, so that a missing one is an error. The
 * reader is in the data object; the key was just read. */
static bool read_trade(struct json *json, const struct symbol *symbol, char key, struct market_trade *trade,
                       bool aggregate, uint32_t *seen)
{
    switch (key) {
    case 't':
    case 'a':
        if ((key == 'a') != aggregate)
            return json_skip(json); /* older frames name the two orders in a and b */
        *seen |= 1;
        return json_int(json, &trade->id) && trade->id >= 0;
    case 'p':
        *seen |= 2;
        return json_amount(json, symbol->price_scale, &trade->price);
    case 'q':
        *seen |= 4;
        return json_amount(json, symbol->qty_scale, &trade->qty);
    case 'T':
        *seen |= 8;
        return binance_read_time(json, &trade->ts_ns);
    case 'm':
        *seen |= 16;
        return json_bool(json, &trade->buyer_maker);
    case 'f':
        *seen |= aggregate ? 32 : 0;
        return aggregate ? json_int(json, &trade->first_id) && trade->first_id >= 0 : json_skip(json);
    case 'l':
        *seen |= aggregate ? 64 : 0;
        return aggregate ? json_int(json, &trade->last_id) && trade->last_id >= 0 : json_skip(json);
    default:
        return json_skip(json);
    }
}

static bool read_quote(struct json *json, const struct symbol *symbol, char key, struct market_quote *quote,
                       uint32_t *seen)
{
    switch (key) {
    case 'u':
        *seen |= 1;
        return read_id(json, &quote->update_id);
    case 'b':
        *seen |= 2;
        return json_amount(json, symbol->price_scale, &quote->bid);
    case 'B':
        *seen |= 4;
        return json_amount(json, symbol->qty_scale, &quote->bid_qty);
    case 'a':
        *seen |= 8;
        return json_amount(json, symbol->price_scale, &quote->ask);
    case 'A':
        *seen |= 16;
        return json_amount(json, symbol->qty_scale, &quote->ask_qty);
    default:
        return json_skip(json);
    }
}

static bool read_depth(struct binance_parser *parser, struct json *json, const struct symbol *symbol,
                       char key, struct market_depth *depth, uint32_t *seen)
{
    switch (key) {
    case 'U':
        *seen |= 1;
        return read_id(json, &depth->first_id);
    case 'u':
        *seen |= 2;
        return read_id(json, &depth->last_id);
    case 'b':
        *seen |= 4;
        depth->bids = parser->bids;
        return read_levels(json, symbol, parser->bids, &depth->n_bids);
    case 'a':
        *seen |= 8;
        depth->asks = parser->asks;
        return read_levels(json, symbol, parser->asks, &depth->n_asks);
    default:
        return json_skip(json);
    }
}

static bool read_ticker(struct json *json, const struct symbol *symbol, char key,
                        struct market_ticker *ticker, uint32_t *seen)
{
    switch (key) {
    case 'c':
        *seen |= 1;
        return json_amount(json, symbol->price_scale, &ticker->close);
    case 'o':
        *seen |= 2;
        return json_amount(json, symbol->price_scale, &ticker->open);
    case 'h':
        *seen |= 4;
        return json_amount(json, symbol->price_scale, &ticker->high);
    case 'l':
        *seen |= 8;
        return json_amount(json, symbol->price_scale, &ticker->low);
    case 'v':
        *seen |= 16;
        return json_amount_wide(json, symbol->qty_scale, &ticker->volume);
    default:
        return json_skip(json);
    }
}

static bool read_bar(struct json *json, const struct symbol *symbol, struct market_kline *kline)
{
    struct bar *bar = &kline->bar;
    struct json_text key, text;
    uint32_t seen = 0;
    char interval[8];
    bool ok = json_enter_object(json);
    while (ok && json_member(json, &key)) {
        switch (key.len == 1 ? *key.data : '\0') {
        case 't':
            seen |= 1;
            ok = binance_read_time(json, &bar->open_ns);
            break;
        case 'i':
            seen |= 2;
            ok = json_read_string(json, &text) && json_text_copy(text, interval, sizeof interval) &&
                 bar_interval_parse(interval, &kline->interval_ns) == 0;
            break;
        case 'o':
            seen |= 4;
            ok = json_amount(json, symbol->price_scale, &bar->open);
            break;
        case 'h':
            seen |= 8;
            ok = json_amount(json, symbol->price_scale, &bar->high);
            break;
        case 'l':
            seen |= 16;
            ok = json_amount(json, symbol->price_scale, &bar->low);
            break;
        case 'c':
            seen |= 32;
            ok = json_amount(json, symbol->price_scale, &bar->close);
            break;
        case 'v':
            seen |= 64;
            ok = json_amount_wide(json, symbol->qty_scale, &bar->volume);
            break;
        case 'q':
            seen |= 128;
            ok = json_amount_wide(json, symbol->price_scale + symbol->qty_scale, &bar->quote_volume);
            break;
        case 'n':
            seen |= 256;
            ok = json_int(json, &bar->trades) && bar->trades >= 0;
            break;
        case 'x':
            seen |= 512;
            ok = json_bool(json, &kline->closed);
            break;
        case 'f':
            seen |= 1024;
            ok = json_int(json, &bar->first_trade_id);
            break;
        case 'L':
            seen |= 2048;
            ok = json_int(json, &bar->last_trade_id);
            break;
        default:
            ok = json_skip(json);
        }
    }
    return ok && seen == 4095 && bar->low <= bar->open && bar->open <= bar->high && bar->low <= bar->close &&
           bar->close <= bar->high;
}

/* Reads the data object. 1 for what is no event, -ENOENT for an unknown symbol, -EBADMSG. */
static int read_data(struct binance_parser *parser, struct json *json, int kind, int symbol_index,
                     struct market_event *event)
{
    static const uint32_t wanted[MARKET_KINDS] = {
        [MARKET_TRADE] = 31, [MARKET_AGG_TRADE] = 127, [MARKET_KLINE] = 1,
        [MARKET_QUOTE] = 31, [MARKET_DEPTH] = 15,      [MARKET_TICKER] = 31,
    };
    const struct symbol *symbol = &parser->symbols.symbols[symbol_index];
    struct json_text key, text;
    uint32_t seen = 0;
    uint64_t before = UINT64_MAX; /* futures': the last difference's last id, which this one follows on */
    event->kind = (enum market_kind)kind;
    event->symbol = symbol_index;
    event->event_ns = 0;
    bool ok = json_enter_object(json),
         no_price = false; /* futures': of an event that was no trade in the market */
    while (ok && json_member(json, &key)) {
        char c = key.len == 1 ? *key.data : '\0';
        if (c == 'e') {
            ok = json_skip(json);
        } else if (c == 'E') {
            ok = binance_read_time(json, &event->event_ns);
        } else if (kind == MARKET_TRADE && c == 'X' && json_peek(json) == '"') {
            ok = json_read_string(json, &text);
            no_price = json_is(text, "NA");
        } else if (kind == MARKET_DEPTH && json_is(key, "pu")) {
            ok = read_id(json, &before);
        } else if (c == 's') {
            ok = json_read_string(json, &text);
            if (ok && symbol_table_find(&parser->symbols, text.data, text.len) != symbol_index)
                return -EBADMSG;
        } else {
            switch (kind) {
            case MARKET_TRADE:
            case MARKET_AGG_TRADE:
                ok = read_trade(json, symbol, c, &event->trade, kind == MARKET_AGG_TRADE, &seen);
                break;
            case MARKET_QUOTE:
                ok = read_quote(json, symbol, c, &event->quote, &seen);
                break;
            case MARKET_DEPTH:
                ok = read_depth(parser, json, symbol, c, &event->depth, &seen);
                break;
            case MARKET_TICKER:
                ok = read_ticker(json, symbol, c, &event->ticker, &seen);
                break;
            default: /* MARKET_KLINE */
                if (c == 'k') {
                    seen |= 1;
                    ok = read_bar(json, symbol, &event->kline);
                } else {
                    ok = json_skip(json);
                }
            }
        }
    }
    if (!ok || json->failed || seen != wanted[kind])
        return -EBADMSG;
    if ((kind == MARKET_TRADE || kind == MARKET_AGG_TRADE) && event->trade.price == 0)
        return no_price && event->trade.qty == 0 ? 1 : -EBADMSG;
    if (kind == MARKET_QUOTE && event->quote.bid > event->quote.ask && event->quote.ask > 0)
        return -EBADMSG;
    if (kind == MARKET_AGG_TRADE && event->trade.first_id > event->trade.last_id)
        return -EBADMSG;
    if (kind == MARKET_TRADE)
        event->trade.first_id = event->trade.last_id = event->trade.id;
    if (kind == MARKET_DEPTH && before != UINT64_MAX) /* its U is beyond ids that touched no level */
        event->depth.first_id = before + 1;
    if (kind == MARKET_DEPTH && event->depth.first_id > event->depth.last_id)
        return -EBADMSG;
    return 0;
}

/* The symbol that a stream's name begins with, in lower case there. */
static int symbol_of_stream(const struct binance_parser *parser, struct json_text stream)
{
    char name[SYMBOL_NAME_MAX];
    size_t len = 0;
    while (len < stream.len && stream.data[len] != '@') {
        char c = stream.data[len];
        if (len == sizeof name)
            return -1;
        name[len++] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    }
    return symbol_table_find(&parser->symbols, name, len);
}

/* A raw frame identifies itself by its own fields: a first pass finds the event type and the symbol. Only
 * spot's bookTicker has no type: it is the one with an update id and a best bid's quantity. */
static int read_raw(struct binance_parser *parser, const char *frame, size_t len, struct market_event *ret)
{
    struct json json;
    struct json_text key, type = {0}, name = {0};
    json_init(&json, frame, len);
    bool ok = json_enter_object(&json), update = false, quote = false;
    while (ok && json_member(&json, &key)) {
        update |= json_is(key, "u");
        quote |= json_is(key, "B");
        if (json_is(key, "e") && json_peek(&json) == '"')
            ok = json_read_string(&json, &type);
        else if (json_is(key, "s") && json_peek(&json) == '"')
            ok = json_read_string(&json, &name);
        else
            ok = json_skip(&json);
    }
    if (!ok || !json_done(&json))
        return -EBADMSG;
    int kind = type.data ? kind_of_event(type) : update && quote && name.data ? MARKET_QUOTE : KIND_OTHER;
    if (kind == KIND_OTHER)
        return 1;
    int symbol = name.data ? symbol_table_find(&parser->symbols, name.data, name.len) : -1;
    if (symbol < 0)
        return -ENOENT;
    json_init(&json, frame, len);
    return read_data(parser, &json, kind, symbol, ret);
}

int binance_parse(struct venue_parser *venue, const char *frame, size_t len, struct market_event *ret)
{
    struct binance_parser *parser = (struct binance_parser *)venue;
    struct json json, data = {0};
    struct json_text key, stream = {0};
    json_init(&json, frame, len);
    bool ok = json_enter_object(&json), wrapped = false, read = false;
    int kind = KIND_UNKNOWN, symbol = -1, r = 1;
    while (ok && json_member(&json, &key)) {
        if (json_is(key, "stream")) {
            ok = json_read_string(&json, &stream);
            if (ok) {
                wrapped = true;
                kind = kind_of_stream(stream);
                symbol = symbol_of_stream(parser, stream);
            }
        } else if (json_is(key, "data") && kind < MARKET_KINDS && symbol >= 0 && !read) {
            read = true;
            r = read_data(parser, &json, kind, symbol, ret);
            if (r < 0)
                return r;
        } else if (json_is(key, "data")) {
            data = json;
            ok = json_skip(&json);
        } else if ((json_is(key, "e") || json_is(key, "u")) && !wrapped) {
            return read_raw(parser, frame, len, ret);
        } else {
            ok = json_skip(&json);
        }
    }
    if (!ok || !json_done(&json))
        return -EBADMSG;
    if (read || !wrapped || kind >= MARKET_KINDS)
        return r;
    if (symbol < 0)
        return -ENOENT;
    if (!data.p)
        return -EBADMSG;
    return read_data(parser, &data, kind, symbol, ret);
}
