#include "exchange/binance/account/order_parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/binance/rest_parse.h"
#include "exchange/utf8.h"

/* ---- Parts. ---- */

void binance_copy_words(struct json_text text, char *ret, size_t size)
{
    json_text_cut(text, ret, size);
    utf8_clean(ret);
}

bool binance_read_text(struct json *json, struct json_text *ret)
{
    char kind = json_peek(json);
    const char *start = json->p;
    if (kind == '"')
        return json_read_string(json, ret);
    if (!json_skip(json))
        return false;
    *ret = kind == '0' || kind == 't' ? (struct json_text){start, (size_t)(json->p - start)}
                                      : (struct json_text){"", 0};
    return true;
}

bool binance_text_state(struct json_text text, enum venue_order_state *ret)
{
    static const struct {
        const char *name;
        enum venue_order_state state;
    } states[] = {
        {"NEW", VENUE_ORDER_NEW},
        {"PENDING_NEW", VENUE_ORDER_NEW}, /* of an order list: waits for the first of it */
        {"PARTIALLY_FILLED", VENUE_ORDER_PARTIAL},
        {"FILLED", VENUE_ORDER_FILLED},
        {"CANCELED", VENUE_ORDER_CANCELED},
        {"PENDING_CANCEL", VENUE_ORDER_NEW}, /* "currently unused" */
        {"REJECTED", VENUE_ORDER_REJECTED},
        {"EXPIRED", VENUE_ORDER_EXPIRED},
        {"EXPIRED_IN_MATCH", VENUE_ORDER_EXPIRED},
    };
    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
        if (json_text_is(text, states[i].name)) {
            *ret = states[i].state;
            return true;
        }
    return false;
}

enum order_type binance_text_type(struct json_text text)
{
    static const struct {
        const char *name;
        enum order_type type;
    } types[] = {
        {"MARKET", ORDER_MARKET},
        {"LIMIT", ORDER_LIMIT},
        {"LIMIT_MAKER", ORDER_LIMIT},
        {"STOP_LOSS", ORDER_STOP},
        {"STOP_LOSS_LIMIT", ORDER_STOP_LIMIT},
        {"TAKE_PROFIT", ORDER_TAKE_PROFIT},
        {"TAKE_PROFIT_LIMIT", ORDER_TAKE_PROFIT_LIMIT},
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (json_text_is(text, types[i].name))
            return types[i].type;
    return ORDER_TYPES;
}

enum order_tif binance_text_tif(struct json_text text)
{
    for (int i = ORDER_GTC; i <= ORDER_FOK; i++)
        if (json_text_is(text, order_tif_name((enum order_tif)i)))
            return (enum order_tif)i;
    return ORDER_TIFS;
}

bool binance_text_flag(struct json_text text, bool *ret)
{
    *ret = json_text_is(text, "true");
    return *ret || json_text_is(text, "false");
}

bool binance_text_side(struct json_text text, enum order_side *ret)
{
    if (!json_text_is(text, "BUY") && !json_text_is(text, "SELL"))
        return false;
    *ret = json_text_is(text, "BUY") ? ORDER_BUY : ORDER_SELL;
    return true;
}

bool binance_text_amount(struct json_text text, int scale, int64_t *ret)
{
    int64_t units;
    if (decimal_parse(text.data, text.len, scale, &units) < 0 || units < 0)
        return false;
    *ret = units;
    return true;
}

/* ---- An order. ---- */

enum order_part {
    PART_SYMBOL,
    PART_ORDER_ID,
    PART_CLIENT_ID,
    PART_CANCELLED_ID, /* of a cancel: the order's own; then PART_CLIENT_ID is the cancel's */
    PART_PRICE,
    PART_QTY,
    PART_FILLED,
    PART_STATE,
    PART_TIF,
    PART_TYPE,
    PART_SIDE,
    PART_STOP,
    PART_TRAILING,
    PART_EXPIRY,
    PART_TRANSACTED,
    PART_UPDATED,
    PARTS,
};

static const char *const part_names[PARTS] = {
    [PART_SYMBOL] = "symbol",
    [PART_ORDER_ID] = "orderId",
    [PART_CLIENT_ID] = "clientOrderId",
    [PART_CANCELLED_ID] = "origClientOrderId",
    [PART_PRICE] = "price",
    [PART_QTY] = "origQty",
    [PART_FILLED] = "executedQty",
    [PART_STATE] = "status",
    [PART_TIF] = "timeInForce",
    [PART_TYPE] = "type",
    [PART_SIDE] = "side",
    [PART_STOP] = "stopPrice",
    [PART_TRAILING] = "trailingDelta",
    [PART_EXPIRY] = "expiryReason",
    [PART_TRANSACTED] = "transactTime",
    [PART_UPDATED] = "updateTime",
};

static int part_of(struct json_text key)
{
    for (int i = 0; i < PARTS; i++)
        if (json_text_is(key, part_names[i]))
            return i;
    return PARTS;
}

bool binance_text_time(struct json_text text, int64_t *ret_ns)
{
    struct json json;
    *ret_ns = 0;
    if (text.len == 0)
        return true;
    json_init(&json, text.data, text.len);
    return binance_read_time(&json, ret_ns) && json_done(&json);
}

static bool amounts(const struct json_text *parts, struct venue_order *order)
{
    const struct symbol *symbol = order->symbol;
    const struct json_text stop = parts[PART_STOP];
    if (!symbol)
        return true;
    return binance_text_amount(parts[PART_QTY], symbol->qty_scale, &order->qty) &&
           binance_text_amount(parts[PART_FILLED], symbol->qty_scale, &order->filled) &&
           binance_text_amount(parts[PART_PRICE], symbol->price_scale, &order->price) &&
           (stop.len == 0 || binance_text_amount(stop, symbol->price_scale, &order->stop_price));
}

static bool make_order(const struct json_text *parts, const struct venue_symbols *symbols,
                       struct venue_order *ret)
{
    const bool cancel = parts[PART_CANCELLED_ID].len > 0;
    struct venue_order order = {.symbol = venue_symbols_find(symbols, parts[PART_SYMBOL])};
    if (parts[PART_SYMBOL].len == 0 || parts[PART_ORDER_ID].len == 0 ||
        !json_text_copy(parts[cancel ? PART_CANCELLED_ID : PART_CLIENT_ID], order.client_id,
                        sizeof(order.client_id)) ||
        !json_text_copy(parts[PART_ORDER_ID], order.id, sizeof(order.id)) ||
        !binance_text_state(parts[PART_STATE], &order.state) ||
        !binance_text_side(parts[PART_SIDE], &order.side) || !amounts(parts, &order) ||
        !binance_text_time(parts[parts[PART_UPDATED].len > 0 ? PART_UPDATED : PART_TRANSACTED], &order.ts_ns))
        return false;
    binance_copy_words(parts[PART_SYMBOL], order.name, sizeof(order.name));
    binance_copy_words(parts[PART_EXPIRY], order.reason, sizeof(order.reason));
    order.type = parts[PART_TRAILING].len > 0 ? ORDER_TYPES : binance_text_type(parts[PART_TYPE]);
    order.tif = binance_text_tif(parts[PART_TIF]);
    *ret = order;
    return true;
}

static bool read_order(struct json *json, const struct venue_symbols *symbols, struct venue_order *ret,
                       struct json *ret_fills)
{
    struct json_text key, parts[PARTS + 1];
    for (int i = 0; i <= PARTS; i++)
        parts[i] = (struct json_text){"", 0};
    json_enter_object(json);
    while (json_member(json, &key)) {
        if (ret_fills && json_text_is(key, "fills") && json_peek(json) == '[')
            *ret_fills = *json;
        if (!binance_read_text(json, &parts[part_of(key)]))
            return false;
    }
    return !json->failed && make_order(parts, symbols, ret);
}

int binance_parse_order(struct json json, const struct venue_symbols *symbols, struct venue_lists *ret)
{
    struct json fills = {.failed = true};
    int r = 0;
    ret->orders = calloc(1, sizeof(*ret->orders));
    if (!ret->orders)
        return -ENOMEM;
    if (!read_order(&json, symbols, &ret->orders[0], &fills))
        return -EBADMSG;
    ret->n_orders = 1;
    ret->ts_ns = ret->orders[0].ts_ns;
    if (!fills.failed && ret->orders[0].symbol)
        r = binance_parse_fills(fills, symbols, ret);
    return r;
}

int binance_parse_open(struct json json, const struct venue_symbols *symbols, struct venue_lists *ret)
{
    json_enter_array(&json);
    while (json_element(&json)) {
        if (!venue_lists_order(ret))
            return -ENOMEM;
        if (!read_order(&json, symbols, &ret->orders[ret->n_orders], NULL))
            return -EBADMSG;
        ret->n_orders++;
    }
    return json.failed ? -EBADMSG : 0;
}
