/* The example venue's messages. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/market.h"
#include "exchange/symbol_table.h"
#include "tests/exchange/skeleton/skeleton.h"

static const struct fee_tier tiers[] = {{"regular", {1000, 2000}, "everyone"}};

static const char *const words[MARKET_CHANNELS] = {
    [MARKET_TRADE] = "trade", [MARKET_QUOTE] = "quote", [MARKET_KLINE] = "bar"};

int skeleton_stream_name(const char *symbol, enum market_kind kind, int64_t interval_ns,
                         char ret[VENUE_STREAM_NAME_MAX])
{
    if (kind >= MARKET_CHANNELS || !words[kind] ||
        (kind == MARKET_KLINE && interval_ns != SKELETON_MINUTE_NS))
        return -EINVAL;
    if (strlen(symbol) >= SYMBOL_NAME_MAX)
        return -ENAMETOOLONG;
    snprintf(ret, VENUE_STREAM_NAME_MAX, "%s:%s", words[kind], symbol);
    return 0;
}

bool skeleton_read(struct json *json, const char *kinds, ...)
{
    va_list to;
    bool ok = true;
    va_start(to, kinds);
    for (; *kinds && ok; kinds++) {
        void *ret = va_arg(to, void *);
        ok = json_element(json) && (*kinds == 'i'   ? json_int(json, ret) && *(int64_t *)ret >= 0
                                    : *kinds == 'a' ? json_amount(json, SKELETON_SCALE, ret)
                                    : *kinds == 'w' ? json_amount_wide(json, SKELETON_SCALE, ret)
                                    : *kinds == 'b' ? json_bool(json, ret)
                                                    : json_read_string(json, ret));
    }
    va_end(to);
    return ok;
}

bool skeleton_error(const char *text, size_t len, struct json_text *ret)
{
    struct json json;
    struct json_text word;
    json_init(&json, text, len);
    return json_enter_array(&json) && skeleton_read(&json, "tt", &word, ret) && json_is(word, "error");
}

bool skeleton_bar(struct json *json, struct bar *ret)
{
    *ret = (struct bar){.first_trade_id = -1, .last_trade_id = -1};
    return json_enter_array(json) &&
           skeleton_read(json, "iaaaawi", &ret->open_ns, &ret->open, &ret->high, &ret->low, &ret->close,
                         &ret->volume, &ret->trades) &&
           !json_element(json) && ret->low > 0 && ret->low <= ret->open && ret->low <= ret->close &&
           ret->open <= ret->high && ret->close <= ret->high;
}

static bool read_event(struct json *json, struct json_text word, struct market_event *ret)
{
    if (json_text_is(word, words[MARKET_TRADE])) {
        struct market_trade *trade = &ret->trade;
        ret->kind = MARKET_TRADE;
        *trade = (struct market_trade){.ts_ns = ret->event_ns};
        bool ok = skeleton_read(json, "iaab", &trade->id, &trade->price, &trade->qty, &trade->buyer_maker);
        trade->first_id = trade->last_id = trade->id;
        return ok && trade->price > 0 && trade->qty > 0;
    }
    if (json_text_is(word, words[MARKET_QUOTE])) {
        struct market_quote *quote = &ret->quote;
        ret->kind = MARKET_QUOTE;
        return skeleton_read(json, "iaaaa", &quote->update_id, &quote->bid, &quote->bid_qty, &quote->ask,
                             &quote->ask_qty);
    }
    ret->kind = MARKET_KLINE;
    ret->kline.interval_ns = SKELETON_MINUTE_NS;
    return json_text_is(word, words[MARKET_KLINE]) && skeleton_read(json, "b", &ret->kline.closed) &&
           json_element(json) && skeleton_bar(json, &ret->kline.bar);
}

bool skeleton_message(struct json *json, struct json_text *ret_symbol, struct market_event *ret)
{
    struct json_text word;
    return json_enter_array(json) && skeleton_read(json, "tti", &word, ret_symbol, &ret->event_ns) &&
           read_event(json, word, ret) && !json_element(json) && !json->failed;
}

/* [[NAME, BASE, QUOTE, TICK, STEP], ...] */
static int list_parse(const char *text, size_t len, struct venue_symbol *wanted, size_t n)
{
    struct json json;
    json_init(&json, text, len);
    json_enter_array(&json);
    while (json_element(&json)) {
        struct symbol s = {.price_scale = 8, .qty_scale = 8, .quote_scale = 8, .venue = "skeleton"};
        struct json_text name, base, quote;
        s.trading = json_enter_array(&json) &&
                    skeleton_read(&json, "tttaa", &name, &base, &quote, &s.filters.tick, &s.filters.step);
        if (!s.trading || json_element(&json) || !json_text_copy(name, s.name, sizeof s.name) ||
            !json_text_copy(base, s.base, sizeof s.base) || !json_text_copy(quote, s.quote, sizeof s.quote))
            return -EBADMSG;
        struct venue_symbol *want = venue_symbol_offer(wanted, n, s.name);
        if (want) {
            want->found = true;
            want->symbol = s;
        }
    }
    return json_done(&json) ? 0 : -EBADMSG;
}

struct venue_parser {
    struct symbol_table symbols;
};

static int parser_grow(struct venue_parser *parser, size_t n)
{
    return symbol_table_grow(&parser->symbols, n);
}

static void parser_destroy(struct venue_parser *parser)
{
    free(parser);
}

static int parser_create(const struct symbol *symbols, size_t n, struct venue_parser **ret)
{
    struct venue_parser *parser = calloc(1, sizeof *parser);
    if (!parser)
        return -ENOMEM;
    parser->symbols.symbols = symbols;
    int r = parser_grow(parser, n);
    if (r < 0)
        free(parser);
    else
        *ret = parser;
    return r;
}

static int parse(struct venue_parser *parser, const char *frame, size_t len, size_t *pos,
                 struct market_event *ret)
{
    struct json json;
    struct json_text name;
    *pos = len; /* a frame is one message */
    json_init(&json, frame, len);
    if (!skeleton_message(&json, &name, ret) || !json_done(&json))
        return -EBADMSG;
    ret->symbol = symbol_table_find(&parser->symbols, name.data, name.len);
    return ret->symbol < 0 ? -ENOENT : 0;
}

const struct venue_format skeleton_format = {
    .name = "skeleton",
    .fees = &(const struct fee_schedule){"skeleton", tiers, 1},
    .list_parse = list_parse,
    .parser_create = parser_create,
    .parser_grow = parser_grow,
    .parse = parse,
    .parser_destroy = parser_destroy,
};
