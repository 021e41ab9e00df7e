#include "exchange/alpaca/account/order_parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/alpaca/assets.h"

enum { SCALE = ALPACA_ORDER_SCALE };

static bool is_named(const char *name, struct json_text text)
{
    if (json_text_is(text, name))
        return true;
    const char *slash = strchr(name, '/');
    size_t base = slash ? (size_t)(slash - name) : 0;
    return slash && text.len + 1 == strlen(name) && memcmp(text.data, name, base) == 0 &&
           memcmp(text.data + base, slash + 1, text.len - base) == 0;
}

const struct symbol *alpaca_account_symbol(const struct venue_symbols *symbols, struct json_text name)
{
    for (size_t i = 0; i < symbols->n; i++)
        if (is_named(symbols->list[i].name, name))
            return &symbols->list[i];
    return NULL;
}

static bool copy_whole(struct json_text text, char *ret, size_t size)
{
    return text.len > 0 && json_text_copy(text, ret, size);
}

const char *const alpaca_type_words[ORDER_TYPES] = {
    [ORDER_MARKET] = "market",
    [ORDER_LIMIT] = "limit",
    [ORDER_STOP] = "stop",
    [ORDER_STOP_LIMIT] = "stop_limit",
};

const char *const alpaca_tif_words[ORDER_TIFS] = {
    [ORDER_GTC] = "gtc", [ORDER_IOC] = "ioc", [ORDER_FOK] = "fok",
    [ORDER_DAY] = "day", [ORDER_OPG] = "opg", [ORDER_CLS] = "cls",
};

/* Words that are not here are of orders that live: accepted, pending_new, held, stopped, suspended,
 * done_for_day, calculated, pending_cancel, pending_replace. */
static enum venue_order_state state_of(struct json_text status, int64_t filled)
{
    if (json_is(status, "filled"))
        return VENUE_ORDER_FILLED;
    if (json_is(status, "canceled") || json_is(status, "replaced"))
        return VENUE_ORDER_CANCELED;
    if (json_is(status, "rejected"))
        return VENUE_ORDER_REJECTED;
    if (json_is(status, "expired"))
        return VENUE_ORDER_EXPIRED;
    return filled > 0 ? VENUE_ORDER_PARTIAL : VENUE_ORDER_NEW;
}

static bool side_of(struct json_text word, enum order_side *ret)
{
    *ret = json_is(word, "buy") ? ORDER_BUY : ORDER_SELL;
    return *ret == ORDER_BUY || json_is(word, "sell") || json_is(word, "sell_short");
}

/* -1 is 0: not said. */
static bool rescale(int64_t units, int scale, int64_t *ret)
{
    return decimal_rescale(units < 0 ? 0 : units, SCALE, scale, ret) == 0;
}

static bool take_numbers(const struct alpaca_order *order, struct venue_order *ret)
{
    const struct symbol *symbol = ret->symbol;
    bool by_amount = order->qty < 0;
    if (order->filled_qty < 0 || !side_of(order->side, &ret->side) ||
        !rescale(order->qty, symbol->qty_scale, &ret->qty) ||
        !rescale(order->filled_qty, symbol->qty_scale, &ret->filled) ||
        !rescale(order->limit_price, symbol->price_scale, &ret->price) ||
        !rescale(order->stop_price, symbol->price_scale, &ret->stop_price))
        return false;
    if (by_amount && ret->state == VENUE_ORDER_FILLED)
        ret->qty = ret->filled;
    return by_amount || (ret->qty > 0 && ret->filled <= ret->qty);
}

bool alpaca_account_order(const struct venue_symbols *symbols, const struct alpaca_order *order,
                          struct venue_order *ret)
{
    *ret = (struct venue_order){
        .symbol = alpaca_account_symbol(symbols, order->symbol),
        .state = state_of(order->status, order->filled_qty),
        .type = json_text_among(order->type, alpaca_type_words, ORDER_TYPES),
        .tif = json_text_among(order->time_in_force, alpaca_tif_words, ORDER_TIFS),
        .ts_ns = order->updated_ns,
    };
    side_of(order->side, &ret->side);
    json_text_cut(order->client_id, ret->client_id, sizeof(ret->client_id));
    if (!copy_whole(order->id, ret->id, sizeof(ret->id)) || order->status.len == 0)
        return false;
    if (!ret->symbol) {
        json_text_cut(order->symbol, ret->name, sizeof(ret->name));
        return true;
    }
    memcpy(ret->name, ret->symbol->name, sizeof(ret->name));
    return take_numbers(order, ret);
}

/* What is said of fees: nothing of coins; paper accounts pay none for stocks. */
static void take_fee(struct venue_fill *fill)
{
    fill->fee_said = !alpaca_is_crypto(fill->symbol->name);
    fill->fee_scale = fill->symbol->quote_scale;
    if (fill->fee_said)
        memcpy(fill->fee_asset, fill->symbol->quote, sizeof(fill->fee_asset));
}

/* Numbers of scale 9. */
static bool take_fill(int64_t price, int64_t qty, int64_t cumulative, struct venue_fill *fill)
{
    fill->notional = -1;
    take_fee(fill);
    return rescale(price, fill->symbol->price_scale, &fill->price) &&
           rescale(qty, fill->symbol->qty_scale, &fill->qty) &&
           rescale(cumulative, fill->symbol->qty_scale, &fill->cumulative) && fill->price > 0 &&
           fill->qty > 0 && fill->cumulative >= fill->qty;
}

bool alpaca_account_update(const struct venue_symbols *symbols, const struct alpaca_trading *update,
                           struct venue_order *ret_order, bool *ret_filled, struct venue_fill *ret_fill)
{
    *ret_filled = false;
    if (!alpaca_account_order(symbols, &update->order, ret_order))
        return false;
    ret_order->ts_ns = update->ts_ns;
    if (!ret_order->symbol ||
        (update->event_kind != ORDER_EVENT_FILL && update->event_kind != ORDER_EVENT_PARTIAL_FILL))
        return true;
    *ret_fill = (struct venue_fill){
        .symbol = ret_order->symbol,
        .side = ret_order->side,
        .ts_ns = update->ts_ns,
    };
    memcpy(ret_fill->client_id, ret_order->client_id, sizeof(ret_fill->client_id));
    memcpy(ret_fill->order_id, ret_order->id, sizeof(ret_fill->order_id));
    if (!take_fill(update->price, update->qty, update->order.filled_qty, ret_fill))
        return false;
    if (!copy_whole(update->execution_id, ret_fill->trade_id, sizeof(ret_fill->trade_id)))
        snprintf(ret_fill->trade_id, sizeof(ret_fill->trade_id), "%s-%lld", ret_order->id,
                 (long long)ret_fill->cumulative);
    return *ret_filled = true;
}

int alpaca_parse_order(const struct venue_symbols *symbols, const char *text, size_t len,
                       struct venue_order *ret, struct alpaca_order *ret_raw)
{
    struct reader reader;
    struct alpaca_order order;
    alpaca_reader_init(&reader, false, text, len);
    if (!alpaca_read_order(&reader, &order) || !json_done(&reader.json) ||
        !alpaca_account_order(symbols, &order, ret))
        return -EBADMSG;
    if (ret_raw)
        *ret_raw = order;
    return 0;
}

static bool has_order(const struct venue_lists *lists, const char *id)
{
    for (size_t i = 0; i < lists->n_orders; i++)
        if (strcmp(lists->orders[i].id, id) == 0)
            return true;
    return false;
}

int alpaca_parse_orders(const struct venue_symbols *symbols, const char *text, size_t len,
                        struct venue_lists *lists, size_t *ret_n, int64_t *ret_last_ns)
{
    struct reader reader;
    struct alpaca_order raw;
    *ret_n = 0;
    *ret_last_ns = 0;
    alpaca_reader_init(&reader, false, text, len);
    alpaca_reader_enter_array(&reader);
    while (alpaca_reader_element(&reader)) {
        struct venue_order order;
        if (!alpaca_read_order(&reader, &raw) || !alpaca_account_order(symbols, &raw, &order))
            return -EBADMSG;
        ++*ret_n;
        *ret_last_ns = raw.submitted_ns;
        if (has_order(lists, order.id))
            continue;
        if (!venue_lists_order(lists))
            return -ENOMEM;
        lists->orders[lists->n_orders++] = order;
    }
    return json_done(&reader.json) ? 0 : -EBADMSG;
}

/* A trade activity. */
struct activity {
    struct json_text id, order_id, side;
    int64_t price, qty, cumulative, ts_ns;
};

static bool read_activity(struct reader *reader, struct activity *a)
{
    struct json_text key;
    const struct json_text none = {"", 0};
    *a = (struct activity){none, none, none, -1, -1, -1, 0};
    if (!alpaca_reader_enter_map(reader))
        return false;
    while (alpaca_reader_member(reader, &key)) {
        bool ok = json_is(key, "id")         ? alpaca_reader_text(reader, &a->id)
                  : json_is(key, "order_id") ? alpaca_reader_maybe_text(reader, &a->order_id)
                  : json_is(key, "side")     ? alpaca_reader_maybe_text(reader, &a->side)
                  : json_is(key, "price")    ? alpaca_reader_maybe_amount(reader, SCALE, &a->price)
                  : json_is(key, "qty")      ? alpaca_reader_maybe_amount(reader, SCALE, &a->qty)
                  : json_is(key, "cum_qty")  ? alpaca_reader_maybe_amount(reader, SCALE, &a->cumulative)
                  : json_is(key, "transaction_time") ? alpaca_reader_time(reader, &a->ts_ns)
                                                     : alpaca_reader_skip(reader);
        if (!ok)
            return false;
    }
    return !reader_failed(reader) && a->id.len > 0 && a->id.len < VENUE_TRADE_ID_MAX;
}

/* Of "20190524113406977::8efc7b9a-…" the UUID: the execution's. */
static struct json_text execution_of(struct json_text id)
{
    for (size_t i = id.len; i > 1; i--)
        if (id.data[i - 1] == ':' && i < id.len)
            return (struct json_text){id.data + i, id.len - i};
    return id;
}

static int add_fill(const struct symbol *symbol, const char *order_id, const struct activity *a,
                    struct venue_lists *lists)
{
    struct venue_fill fill = {.symbol = symbol, .ts_ns = a->ts_ns};
    if (!side_of(a->side, &fill.side) || !take_fill(a->price, a->qty, a->cumulative, &fill))
        return -EBADMSG;
    json_text_cut(execution_of(a->id), fill.trade_id, sizeof(fill.trade_id));
    snprintf(fill.order_id, sizeof(fill.order_id), "%s", order_id);
    if (!venue_lists_fill(lists))
        return -ENOMEM;
    lists->fills[lists->n_fills++] = fill;
    return 0;
}

int alpaca_parse_fills(const struct symbol *symbol, const char *order_id, const char *text, size_t len,
                       struct venue_lists *lists, size_t *ret_n, char ret_last[static VENUE_TRADE_ID_MAX])
{
    struct reader reader;
    struct activity a;
    *ret_n = 0;
    alpaca_reader_init(&reader, false, text, len);
    alpaca_reader_enter_array(&reader);
    while (alpaca_reader_element(&reader)) {
        if (!read_activity(&reader, &a))
            return -EBADMSG;
        ++*ret_n;
        json_text_cut(a.id, ret_last, VENUE_TRADE_ID_MAX);
        int r = json_text_is(a.order_id, order_id) ? add_fill(symbol, order_id, &a, lists) : 0;
        if (r < 0)
            return r;
    }
    return json_done(&reader.json) ? 0 : -EBADMSG;
}

static int by_cumulative(const void *a, const void *b)
{
    int64_t x = ((const struct venue_fill *)a)->cumulative, y = ((const struct venue_fill *)b)->cumulative;
    return (x > y) - (x < y);
}

bool alpaca_fills_settle(struct venue_lists *lists, int64_t filled)
{
    size_t kept = 0;
    int64_t sum = 0;
    if (lists->n_fills > 0)
        qsort(lists->fills, lists->n_fills, sizeof(*lists->fills), by_cumulative);
    for (size_t i = 0; i < lists->n_fills; i++) {
        if (kept > 0 && lists->fills[i].cumulative == sum &&
            lists->fills[i].qty == lists->fills[kept - 1].qty)
            continue;
        if (lists->fills[i].cumulative - lists->fills[i].qty != sum)
            return false;
        sum = lists->fills[i].cumulative;
        lists->fills[kept++] = lists->fills[i];
    }
    lists->n_fills = kept;
    return sum >= filled;
}

bool alpaca_parse_error(const char *text, size_t len, int *ret_code, struct json_text *ret_words)
{
    struct reader reader;
    struct json_text key;
    int64_t code = 0;
    ret_words->data = "";
    ret_words->len = 0;
    alpaca_reader_init(&reader, false, text, len);
    alpaca_reader_enter_map(&reader);
    while (alpaca_reader_member(&reader, &key)) {
        bool ok = json_is(key, "code") && alpaca_reader_peek(&reader) == '0'
                      ? alpaca_reader_int(&reader, &code)
                  : json_is(key, "message") ? alpaca_reader_maybe_text(&reader, ret_words)
                                            : alpaca_reader_skip(&reader);
        if (!ok)
            return false;
    }
    *ret_code = code > 0 && code <= INT32_MAX ? (int)code : 0;
    return json_done(&reader.json) && (ret_words->len > 0 || *ret_code > 0);
}
