#include "exchange/binance/rest_call.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "exchange/binance/rest_parse.h"
#include "exchange/json.h"
#include "exchange/market.h"

#define FIELD(key, value, member) \
    { \
        key, BINANCE_##value, offsetof(struct market_event, member) \
    }

static const struct binance_field trade[] = {
    FIELD("id", COUNT, trade.id),
    FIELD("price", TRADED, trade.price),
    FIELD("qty", QTY, trade.qty),
    FIELD("time", MS, trade.ts_ns),
    FIELD("isBuyerMaker", FLAG, trade.buyer_maker),
};
static const struct binance_field aggregate[] = {
    FIELD("a", COUNT, trade.id),      FIELD("p", TRADED, trade.price),     FIELD("q", QTY, trade.qty),
    FIELD("T", TIME, trade.ts_ns),    FIELD("m", FLAG, trade.buyer_maker), FIELD("f", COUNT, trade.first_id),
    FIELD("l", COUNT, trade.last_id),
};
static const struct binance_field quote[] = {
    FIELD("bidPrice", PRICE, quote.bid),
    FIELD("bidQty", QTY, quote.bid_qty),
    FIELD("askPrice", PRICE, quote.ask),
    FIELD("askQty", QTY, quote.ask_qty),
};
static const struct binance_field ticker[] = {
    FIELD("openPrice", PRICE, ticker.open), FIELD("highPrice", PRICE, ticker.high),
    FIELD("lowPrice", PRICE, ticker.low),   FIELD("lastPrice", PRICE, ticker.close),
    FIELD("volume", VOLUME, ticker.volume), FIELD("closeTime", MS, event_ns),
};

#define FIELDS(list) list, sizeof(list) / sizeof(list)[0]

static const struct {
    const struct binance_field *fields; /* all are needed */
    size_t n;
    bool list;
} kinds[MARKET_CHANNELS] = {
    [MARKET_TRADE] = {FIELDS(trade), true},
    [MARKET_AGG_TRADE] = {FIELDS(aggregate), true},
    [MARKET_QUOTE] = {FIELDS(quote), false},
    [MARKET_TICKER] = {FIELDS(ticker), false},
};

static bool read_event(struct json *json, const struct symbol *symbol, struct market_event *event)
{
    const struct binance_field *fields = kinds[event->kind].fields;
    size_t n = kinds[event->kind].n;
    struct json_text key;
    uint32_t seen = 0;
    bool ok = json_enter_object(json);
    while (ok && json_member(json, &key)) {
        size_t i = 0;
        while (i < n && !json_text_is(key, fields[i].key))
            i++;
        ok = i < n ? binance_read_value(json, symbol, fields[i].value, (char *)event + fields[i].at)
                   : json_skip(json);
        seen |= i < n ? 1u << i : 0;
    }
    if (!ok || json->failed || seen != (1u << n) - 1)
        return false;
    if (event->kind == MARKET_TRADE)
        event->trade.first_id = event->trade.last_id = event->trade.id;
    if (kinds[event->kind].list)
        event->event_ns = event->trade.ts_ns;
    return !kinds[event->kind].list || event->trade.last_id >= event->trade.first_id;
}

/* For a symbol that never traded the venue sends zeros. */
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
    if ((unsigned)kind >= MARKET_CHANNELS || !kinds[kind].fields || cap == 0)
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
