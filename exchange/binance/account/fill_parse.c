/* Fills: those of a new order, and of myTrades. */
#include "exchange/binance/account/order_parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of fills, in both kinds of answers. */
struct fill_texts {
    struct json_text price, qty, quote, commission, asset, trade_id, order_id, symbol, time, buyer, maker;
};

static bool read_fill(struct json *json, struct fill_texts *ret)
{
    struct json_text key, other;
    const struct {
        const char *name;
        struct json_text *at;
    } names[] = {
        {"price", &ret->price},           {"qty", &ret->qty},
        {"quoteQty", &ret->quote},        {"commission", &ret->commission},
        {"commissionAsset", &ret->asset}, {"tradeId", &ret->trade_id},
        {"id", &ret->trade_id},           {"orderId", &ret->order_id},
        {"symbol", &ret->symbol},         {"time", &ret->time},
        {"isBuyer", &ret->buyer},         {"isMaker", &ret->maker},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        *names[i].at = (struct json_text){"", 0};
    json_enter_object(json);
    while (json_member(json, &key)) {
        struct json_text *at = &other;
        for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
            if (json_text_is(key, names[i].name))
                at = names[i].at;
        if (!binance_read_text(json, at))
            return false;
    }
    return !json->failed;
}

static bool make_fill(const struct fill_texts *texts, const struct venue_symbols *symbols,
                      const struct symbol *symbol, struct venue_fill *ret)
{
    ret->symbol = symbol;
    ret->notional = -1;
    ret->fee_said = true;
    if (texts->trade_id.len == 0 || !json_text_copy(texts->trade_id, ret->trade_id, sizeof(ret->trade_id)) ||
        !json_text_copy(texts->asset, ret->fee_asset, sizeof(ret->fee_asset)) ||
        !binance_text_amount(texts->price, symbol->price_scale, &ret->price) ||
        !binance_text_amount(texts->qty, symbol->qty_scale, &ret->qty) || ret->qty == 0 ||
        !binance_text_of_asset(symbols, ret->fee_asset, texts->commission, &ret->fee_scale, &ret->fee) ||
        (ret->fee > 0 && texts->asset.len == 0))
        return false;
    if (!binance_text_amount(texts->quote, symbol->quote_scale, &ret->notional))
        ret->notional = -1;
    return true;
}

/* All of them took from the book: the order was new. */
int binance_parse_fills(struct json json, const struct venue_symbols *symbols, struct venue_lists *ret)
{
    const struct venue_order *order = &ret->orders[0];
    int64_t cumulative = 0;
    json_enter_array(&json);
    while (json_element(&json)) {
        struct fill_texts texts;
        struct venue_fill *fill = venue_lists_fill(ret);
        if (!fill)
            return -ENOMEM;
        if (!read_fill(&json, &texts) || !make_fill(&texts, symbols, order->symbol, fill) ||
            __builtin_add_overflow(cumulative, fill->qty, &cumulative))
            return -EBADMSG;
        memcpy(fill->client_id, order->client_id, sizeof(fill->client_id));
        memcpy(fill->order_id, order->id, sizeof(fill->order_id));
        fill->side = order->side;
        fill->cumulative = cumulative;
        fill->ts_ns = order->ts_ns;
        ret->n_fills++;
    }
    return json.failed || (ret->n_fills > 0 && cumulative != order->filled) ? -EBADMSG : 0;
}

/* Ids of trades are numbers: without leading zeros, so that the longer one is the later one. */
static int by_trade(const void *a, const void *b)
{
    const struct venue_fill *x = a, *y = b;
    size_t x_len = strlen(x->trade_id), y_len = strlen(y->trade_id);
    return x_len != y_len ? (x_len > y_len) - (x_len < y_len) : strcmp(x->trade_id, y->trade_id);
}

static int parse_trade(struct json *json, const struct venue_symbols *symbols, const struct symbol *symbol,
                       const char *order_id, struct venue_lists *ret)
{
    struct fill_texts texts;
    bool buyer;
    struct venue_fill *fill = venue_lists_fill(ret);
    if (!fill)
        return -ENOMEM;
    if (!read_fill(json, &texts) || !make_fill(&texts, symbols, symbol, fill) ||
        !json_text_is(texts.symbol, symbol->name) || !json_text_is(texts.order_id, order_id) ||
        !json_text_copy(texts.order_id, fill->order_id, sizeof(fill->order_id)) ||
        !binance_text_flag(texts.buyer, &buyer) || !binance_text_flag(texts.maker, &fill->maker) ||
        !binance_text_time(texts.time, &fill->ts_ns))
        return -EBADMSG;
    fill->side = buyer ? ORDER_BUY : ORDER_SELL;
    ret->n_fills++;
    return 0;
}

int binance_parse_trades(struct json json, const struct venue_symbols *symbols, const struct symbol *symbol,
                         const char *order_id, struct venue_lists *ret)
{
    int64_t cumulative = 0;
    json_enter_array(&json);
    while (json_element(&json)) {
        int r = parse_trade(&json, symbols, symbol, order_id, ret);
        if (r < 0)
            return r;
    }
    if (json.failed)
        return -EBADMSG;
    if (ret->n_fills > 0)
        qsort(ret->fills, ret->n_fills, sizeof(*ret->fills), by_trade);
    for (size_t i = 0; i < ret->n_fills; i++) {
        if ((i > 0 && by_trade(&ret->fills[i - 1], &ret->fills[i]) == 0) ||
            __builtin_add_overflow(cumulative, ret->fills[i].qty, &cumulative))
            return -EBADMSG;
        ret->fills[i].cumulative = cumulative;
    }
    return 0;
}
