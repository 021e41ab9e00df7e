#include "exchange/binance/account/event_parse.h"

#include <errno.h>
#include <string.h>

/* ---- Messages. ---- */

static int64_t wait_of(int64_t retry_after_ms, int64_t server_ms, int64_t now_ms)
{
    int64_t from_ms = server_ms > 0 ? server_ms : now_ms;
    return retry_after_ms <= 0 ? -1 : retry_after_ms > from_ms ? retry_after_ms - from_ms : 0;
}

/* "data":{"serverTime":1659142907531,"retryAfter":1659146400000} */
static bool read_data(struct json *json, int64_t now_ms, int64_t *ret_wait_ms)
{
    struct json_text key;
    int64_t retry_after_ms = 0, server_ms = 0;
    if (json_peek(json) != '{')
        return json_skip(json);
    json_enter_object(json);
    while (json_member(json, &key)) {
        bool number = json_peek(json) == '0';
        if (!(number && json_is(key, "retryAfter")   ? json_int(json, &retry_after_ms)
              : number && json_is(key, "serverTime") ? json_int(json, &server_ms)
                                                     : json_skip(json)))
            return false;
    }
    *ret_wait_ms = wait_of(retry_after_ms, server_ms, now_ms);
    return !json->failed;
}

static bool read_error(struct json *json, int64_t now_ms, struct binance_message *message)
{
    struct json_text key;
    if (json_peek(json) != '{')
        return json_skip(json);
    json_enter_object(json);
    while (json_member(json, &key)) {
        char next = json_peek(json);
        if (!(json_is(key, "code") && next == '0'  ? json_int(json, &message->refusal.code)
              : json_is(key, "msg") && next == '"' ? json_read_string(json, &message->refusal.msg)
              : json_is(key, "data")               ? read_data(json, now_ms, &message->wait_ms)
                                                   : json_skip(json)))
            return false;
    }
    return !json->failed;
}

/* Is its "e" that? */
static bool event_is(struct json json, const char *type)
{
    struct json_text key, text;
    if (json_peek(&json) != '{')
        return false;
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        if (json_is(key, "e") && json_peek(&json) == '"')
            return json_read_string(&json, &text) && json_text_is(text, type);
        if (!json_skip(&json))
            return false;
    }
    return false;
}

int binance_message_read(const char *text, size_t len, int64_t now_ms, struct binance_message *ret)
{
    struct binance_message message = {.wait_ms = -1, .refusal.msg = {"", 0}};
    struct json json;
    struct json_text key;
    bool has_id = false, has_event = false, has_error = false;
    int64_t status = 0;
    json_init(&json, text, len);
    bool shutdown = event_is(json, "serverShutdown");
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        char next = json_peek(&json);
        bool ok;
        if (json_is(key, "id") && next == '0') {
            ok = has_id = json_int(&json, &message.id);
        } else if (json_is(key, "status") && next == '0') {
            ok = json_int(&json, &status) && status >= 0 && status < 1000;
        } else if (json_is(key, "error")) {
            has_error = next == '{';
            ok = read_error(&json, now_ms, &message);
        } else {
            if (json_is(key, "result")) {
                message.has_result = true;
                message.result = json;
            } else if (json_is(key, "event") && next == '{') {
                has_event = true;
                message.event = json;
            }
            ok = json_skip(&json);
        }
        if (!ok)
            return -EBADMSG;
    }
    if (!json_done(&json))
        return -EBADMSG;
    message.refusal.status = (int)status;
    message.result.depth = message.event.depth = 0;
    shutdown |= has_event && event_is(message.event, "serverShutdown");
    message.kind = shutdown    ? BINANCE_MESSAGE_SHUTDOWN
                   : has_event ? BINANCE_MESSAGE_EVENT
                   : has_id    ? BINANCE_MESSAGE_ANSWER
                   : has_error ? BINANCE_MESSAGE_REFUSED
                               : BINANCE_MESSAGE_OTHER;
    *ret = message;
    return 0;
}

/* ---- Events. ---- */

/* Of executionReport, by their letters. */
enum report_part {
    PART_SYMBOL,
    PART_CLIENT_ID,
    PART_CANCELLED_ID, /* x is CANCELED: the order's own; then PART_CLIENT_ID is the cancel's */
    PART_SIDE,
    PART_TYPE,
    PART_TIF,
    PART_QTY,
    PART_PRICE,
    PART_STOP,
    PART_EXECUTION,
    PART_STATE,
    PART_REJECT,
    PART_EXPIRY,
    PART_ORDER_ID,
    PART_LAST_QTY,
    PART_FILLED,
    PART_LAST_PRICE,
    PART_COMMISSION,
    PART_COMMISSION_ASSET,
    PART_TIME,
    PART_TRADE_ID,
    PART_MAKER,
    PART_LAST_QUOTE,
    PART_TRAILING,
    PARTS,
};

static const char *const part_names[PARTS] = {
    [PART_SYMBOL] = "s",
    [PART_CLIENT_ID] = "c",
    [PART_CANCELLED_ID] = "C",
    [PART_SIDE] = "S",
    [PART_TYPE] = "o",
    [PART_TIF] = "f",
    [PART_QTY] = "q",
    [PART_PRICE] = "p",
    [PART_STOP] = "P",
    [PART_EXECUTION] = "x",
    [PART_STATE] = "X",
    [PART_REJECT] = "r",
    [PART_EXPIRY] = "eR",
    [PART_ORDER_ID] = "i",
    [PART_LAST_QTY] = "l",
    [PART_FILLED] = "z",
    [PART_LAST_PRICE] = "L",
    [PART_COMMISSION] = "n",
    [PART_COMMISSION_ASSET] = "N",
    [PART_TIME] = "T",
    [PART_TRADE_ID] = "t",
    [PART_MAKER] = "m",
    [PART_LAST_QUOTE] = "Y",
    [PART_TRAILING] = "d",
};

static int part_of(struct json_text key)
{
    for (int i = 0; i < PARTS; i++)
        if (json_text_is(key, part_names[i]))
            return i;
    return PARTS;
}

static bool make_order(const struct json_text *parts, const struct venue_symbols *symbols,
                       struct venue_order *ret)
{
    const bool cancel = json_text_is(parts[PART_EXECUTION], "CANCELED") && parts[PART_CANCELLED_ID].len > 0;
    const struct symbol *symbol = venue_symbols_find(symbols, parts[PART_SYMBOL]);
    struct venue_order order = {.symbol = symbol};
    if (parts[PART_SYMBOL].len == 0 || parts[PART_ORDER_ID].len == 0 || parts[PART_EXECUTION].len == 0 ||
        !json_text_copy(parts[cancel ? PART_CANCELLED_ID : PART_CLIENT_ID], order.client_id,
                        sizeof(order.client_id)) ||
        !json_text_copy(parts[PART_ORDER_ID], order.id, sizeof(order.id)) ||
        !binance_text_state(parts[PART_STATE], &order.state) ||
        !binance_text_side(parts[PART_SIDE], &order.side) ||
        !binance_text_time(parts[PART_TIME], &order.ts_ns))
        return false;
    if (symbol && (!binance_text_amount(parts[PART_QTY], symbol->qty_scale, &order.qty) ||
                   !binance_text_amount(parts[PART_FILLED], symbol->qty_scale, &order.filled) ||
                   !binance_text_amount(parts[PART_PRICE], symbol->price_scale, &order.price) ||
                   !binance_text_amount(parts[PART_STOP], symbol->price_scale, &order.stop_price)))
        return false;
    binance_copy_words(parts[PART_SYMBOL], order.name, sizeof(order.name));
    if (parts[PART_EXPIRY].len > 0)
        binance_copy_words(parts[PART_EXPIRY], order.reason, sizeof(order.reason));
    else if (!json_text_is(parts[PART_REJECT], "NONE"))
        binance_copy_words(parts[PART_REJECT], order.reason, sizeof(order.reason));
    order.type = parts[PART_TRAILING].len > 0 ? ORDER_TYPES : binance_text_type(parts[PART_TYPE]);
    order.tif = binance_text_tif(parts[PART_TIF]);
    *ret = order;
    return true;
}

static bool make_fill(const struct json_text *parts, const struct venue_symbols *symbols,
                      const struct venue_order *order, struct venue_fill *ret)
{
    const struct symbol *symbol = order->symbol;
    struct venue_fill fill = {
        .symbol = symbol,
        .side = order->side,
        .cumulative = order->filled,
        .notional = -1,
        .fee_said = true,
        .ts_ns = order->ts_ns,
    };
    memcpy(fill.client_id, order->client_id, sizeof(fill.client_id));
    memcpy(fill.order_id, order->id, sizeof(fill.order_id));
    if (parts[PART_TRADE_ID].len == 0 || parts[PART_TRADE_ID].data[0] == '-' ||
        !json_text_copy(parts[PART_TRADE_ID], fill.trade_id, sizeof(fill.trade_id)) ||
        !json_text_copy(parts[PART_COMMISSION_ASSET], fill.fee_asset, sizeof(fill.fee_asset)) ||
        !binance_text_amount(parts[PART_LAST_QTY], symbol->qty_scale, &fill.qty) || fill.qty == 0 ||
        fill.qty > fill.cumulative ||
        !binance_text_amount(parts[PART_LAST_PRICE], symbol->price_scale, &fill.price) ||
        !binance_text_of_asset(symbols, fill.fee_asset, parts[PART_COMMISSION], &fill.fee_scale, &fill.fee) ||
        (fill.fee > 0 && fill.fee_asset[0] == '\0') || !binance_text_flag(parts[PART_MAKER], &fill.maker))
        return false;
    if (!binance_text_amount(parts[PART_LAST_QUOTE], symbol->quote_scale, &fill.notional))
        fill.notional = -1;
    *ret = fill;
    return true;
}

static int read_report(struct json json, const struct venue_symbols *symbols, struct binance_event *ret)
{
    struct json_text key, parts[PARTS + 1];
    for (int i = 0; i <= PARTS; i++)
        parts[i] = (struct json_text){"", 0};
    json_enter_object(&json);
    while (json_member(&json, &key))
        if (!binance_read_text(&json, &parts[part_of(key)]))
            return -EBADMSG;
    if (json.failed || !make_order(parts, symbols, &ret->order))
        return -EBADMSG;
    ret->kind = BINANCE_EVENT_ORDER;
    ret->filled = ret->order.symbol && json_text_is(parts[PART_EXECUTION], "TRADE");
    return ret->filled && !make_fill(parts, symbols, &ret->order, &ret->fill) ? -EBADMSG : 0;
}

static int read_position(struct json json, const struct venue_symbols *symbols, struct binance_event *ret)
{
    struct json_text key;
    struct json list = {.failed = true};
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        if (json_is(key, "B"))
            list = json;
        if (!json_skip(&json))
            return -EBADMSG;
    }
    if (json.failed || list.failed)
        return -EBADMSG;
    list.depth = 0;
    ret->kind = BINANCE_EVENT_BALANCES;
    return binance_parse_balance_list(list, symbols, &ret->balances);
}

int binance_event_read(struct json json, const struct venue_symbols *symbols, struct binance_event *ret)
{
    *ret = (struct binance_event){.kind = BINANCE_EVENT_OTHER};
    if (event_is(json, "executionReport"))
        return read_report(json, symbols, ret);
    if (event_is(json, "outboundAccountPosition"))
        return read_position(json, symbols, ret);
    if (event_is(json, "eventStreamTerminated"))
        ret->kind = BINANCE_EVENT_TERMINATED;
    return 0;
}
