#include "exchange/binance/rest_call.h"

#include <errno.h>
#include <string.h>

#include "exchange/json.h"
#include "exchange/market.h"

#define MS_NS  1000000LL
#define MS_MAX 4102444800000LL /* 2100-01-01 */

static bool read_ms(struct json *json, int64_t *ret_ns)
{
    int64_t ms;
    if (!json_int(json, &ms) || ms < 0 || ms > MS_MAX)
        return false;
    *ret_ns = ms * MS_NS;
    return true;
}

static bool is(struct json_text text, const char *word)
{
    return text.len == strlen(word) && memcmp(text.data, word, text.len) == 0;
}

/* One field of each; a bit a field says what was there. */

static bool trade_field(struct json *json, const struct symbol *symbol, struct json_text key,
                        struct market_event *event, uint32_t *seen)
{
    struct market_trade *trade = &event->trade;
    bool aggregate = event->kind == MARKET_AGG_TRADE;
    if (is(key, aggregate ? "a" : "id")) {
        *seen |= 1;
        return json_int(json, &trade->id) && trade->id >= 0;
    }
    if (is(key, aggregate ? "p" : "price")) {
        *seen |= 2;
        return json_amount(json, symbol->price_scale, &trade->price) && trade->price > 0;
    }
    if (is(key, aggregate ? "q" : "qty")) {
        *seen |= 4;
        return json_amount(json, symbol->qty_scale, &trade->qty);
    }
    if (is(key, aggregate ? "T" : "time")) {
        *seen |= 8;
        return read_ms(json, &trade->ts_ns);
    }
    if (is(key, aggregate ? "m" : "isBuyerMaker")) {
        *seen |= 16;
        return json_bool(json, &trade->buyer_maker);
    }
    if (aggregate && json_is(key, "f")) {
        *seen |= 32;
        return json_int(json, &trade->first_id) && trade->first_id >= 0;
    }
    if (aggregate && json_is(key, "l")) {
        *seen |= 64;
        return json_int(json, &trade->last_id) && trade->last_id >= trade->first_id;
    }
    return json_skip(json);
}

static bool quote_field(struct json *json, const struct symbol *symbol, struct json_text key,
                        struct market_event *event, uint32_t *seen)
{
    struct market_quote *quote = &event->quote;
    if (json_is(key, "bidPrice")) {
        *seen |= 1;
        return json_amount(json, symbol->price_scale, &quote->bid);
    }
    if (json_is(key, "bidQty")) {
        *seen |= 2;
        return json_amount(json, symbol->qty_scale, &quote->bid_qty);
    }
    if (json_is(key, "askPrice")) {
        *seen |= 4;
        return json_amount(json, symbol->price_scale, &quote->ask);
    }
    if (json_is(key, "askQty")) {
        *seen |= 8;
        return json_amount(json, symbol->qty_scale, &quote->ask_qty);
    }
    return json_skip(json);
}

static bool ticker_field(struct json *json, const struct symbol *symbol, struct json_text key,
                         struct market_event *event, uint32_t *seen)
{
    struct market_ticker *ticker = &event->ticker;
    if (json_is(key, "openPrice")) {
        *seen |= 1;
        return json_amount(json, symbol->price_scale, &ticker->open);
    }
    if (json_is(key, "highPrice")) {
        *seen |= 2;
        return json_amount(json, symbol->price_scale, &ticker->high);
    }
    if (json_is(key, "lowPrice")) {
        *seen |= 4;
        return json_amount(json, symbol->price_scale, &ticker->low);
    }
    if (json_is(key, "lastPrice")) {
        *seen |= 8;
        return json_amount(json, symbol->price_scale, &ticker->close);
    }
    if (json_is(key, "volume")) {
        *seen |= 16;
        return json_amount_wide(json, symbol->qty_scale, &ticker->volume);
    }
    if (json_is(key, "closeTime")) {
        *seen |= 32;
        return read_ms(json, &event->event_ns);
    }
    return json_skip(json);
}

static const struct {
    bool (*field)(struct json *json, const struct symbol *symbol, struct json_text key,
                  struct market_event *event, uint32_t *seen);
    uint32_t wanted;
    bool list;
} kinds[MARKET_CHANNELS] = {
    [MARKET_TRADE] = {trade_field, 31, true},
    [MARKET_AGG_TRADE] = {trade_field, 127, true},
    [MARKET_QUOTE] = {quote_field, 15, false},
    [MARKET_TICKER] = {ticker_field, 63, false},
};

static bool read_event(struct json *json, const struct symbol *symbol, struct market_event *event)
{
    struct json_text key;
    uint32_t seen = 0;
    bool ok = json_enter_object(json);
    while (ok && json_member(json, &key))
        ok = kinds[event->kind].field(json, symbol, key, event, &seen);
    if (!ok || json->failed || seen != kinds[event->kind].wanted)
        return false;
    if (event->kind == MARKET_TRADE)
        event->trade.first_id = event->trade.last_id = event->trade.id;
    if (kinds[event->kind].list)
        event->event_ns = event->trade.ts_ns;
    return true;
}

/* Of a symbol that never traded the venue tells zeros. */
static bool says_nothing(const struct market_event *event)
{
    return (event->kind == MARKET_QUOTE && event->quote.bid == 0 && event->quote.ask == 0) ||
           (event->kind == MARKET_TICKER && event->ticker.close == 0);
}

int binance_parse_latest(const char *text, size_t len, const struct symbol *symbol, enum market_kind kind,
                         struct market_event *ret, size_t cap, size_t *ret_n)
{
    struct json json;
    size_t n = 0;
    if ((unsigned)kind >= MARKET_CHANNELS || !kinds[kind].field || cap == 0)
        return -EBADMSG;
    json_init(&json, text, len);
    if (!kinds[kind].list) {
        ret[0] = (struct market_event){.kind = kind};
        if (!read_event(&json, symbol, &ret[0]))
            return -EBADMSG;
        if (kind == MARKET_QUOTE && ret[0].quote.bid > ret[0].quote.ask && ret[0].quote.ask > 0)
            return -EBADMSG;
        n = !says_nothing(&ret[0]);
    } else if (json_enter_array(&json)) {
        while (json_element(&json)) {
            if (n == cap)
                return -EBADMSG;
            ret[n] = (struct market_event){.kind = kind};
            if (!read_event(&json, symbol, &ret[n]) || (n > 0 && ret[n].trade.id <= ret[n - 1].trade.id))
                return -EBADMSG;
            n++;
        }
    }
    if (!json_done(&json))
        return -EBADMSG;
    *ret_n = n;
    return 0;
}
