#include "exchange/alpaca/trading.h"

#include <errno.h>
#include <string.h>

#include "exchange/alpaca/number.h"

enum { SCALE = ALPACA_ORDER_SCALE };

static const char *const events[ORDER_EVENTS] = {
    [ORDER_EVENT_OTHER] = "",
    [ORDER_EVENT_NEW] = "new",
    [ORDER_EVENT_FILL] = "fill",
    [ORDER_EVENT_PARTIAL_FILL] = "partial_fill",
    [ORDER_EVENT_CANCELED] = "canceled",
    [ORDER_EVENT_EXPIRED] = "expired",
    [ORDER_EVENT_DONE_FOR_DAY] = "done_for_day",
    [ORDER_EVENT_REPLACED] = "replaced",
    [ORDER_EVENT_REJECTED] = "rejected",
    [ORDER_EVENT_PENDING_NEW] = "pending_new",
    [ORDER_EVENT_PENDING_CANCEL] = "pending_cancel",
    [ORDER_EVENT_PENDING_REPLACE] = "pending_replace",
    [ORDER_EVENT_STOPPED] = "stopped",
    [ORDER_EVENT_SUSPENDED] = "suspended",
    [ORDER_EVENT_CALCULATED] = "calculated",
    [ORDER_EVENT_CANCEL_REJECTED] = "order_cancel_rejected",
    [ORDER_EVENT_REPLACE_REJECTED] = "order_replace_rejected",
};

/* The only amount that may be below 0. */
static bool maybe_position(struct reader *reader, int64_t *ret)
{
    struct json_text text;
    int128_t value;
    if (alpaca_reader_peek(reader) != '"')
        return alpaca_reader_skip(reader);
    if (!alpaca_reader_text(reader, &text) || alpaca_decimal(text.data, text.len, SCALE, &value) < 0 ||
        value > INT64_MAX || value < -INT64_MAX)
        return false;
    *ret = (int64_t)value;
    return true;
}

static bool maybe_time(struct reader *reader, int64_t *ret)
{
    return alpaca_reader_peek(reader) == 'n' ? alpaca_reader_skip(reader) : alpaca_reader_time(reader, ret);
}

bool alpaca_read_order(struct reader *reader, struct alpaca_order *order)
{
    const struct json_text none = {"", 0};
    struct json_text key;
    *order = (struct alpaca_order){none, none, none, none, none, none, none, -1, -1, -1, -1, -1, 0, 0};
    if (!alpaca_reader_enter_map(reader))
        return false;
    while (alpaca_reader_member(reader, &key)) {
        bool ok = json_is(key, "id")                ? alpaca_reader_maybe_text(reader, &order->id)
                  : json_is(key, "client_order_id") ? alpaca_reader_maybe_text(reader, &order->client_id)
                  : json_is(key, "symbol")          ? alpaca_reader_maybe_text(reader, &order->symbol)
                  : json_is(key, "side")            ? alpaca_reader_maybe_text(reader, &order->side)
                  : json_is(key, "type")            ? alpaca_reader_maybe_text(reader, &order->type)
                  : json_is(key, "time_in_force")   ? alpaca_reader_maybe_text(reader, &order->time_in_force)
                  : json_is(key, "status")          ? alpaca_reader_maybe_text(reader, &order->status)
                  : json_is(key, "qty")             ? alpaca_reader_maybe_amount(reader, SCALE, &order->qty)
                  : json_is(key, "filled_qty") ? alpaca_reader_maybe_amount(reader, SCALE, &order->filled_qty)
                  : json_is(key, "filled_avg_price")
                      ? alpaca_reader_maybe_rough(reader, SCALE, &order->filled_avg_price)
                  : json_is(key, "limit_price")
                      ? alpaca_reader_maybe_amount(reader, SCALE, &order->limit_price)
                  : json_is(key, "stop_price") ? alpaca_reader_maybe_amount(reader, SCALE, &order->stop_price)
                  : json_is(key, "submitted_at") ? maybe_time(reader, &order->submitted_ns)
                  : json_is(key, "updated_at")   ? maybe_time(reader, &order->updated_ns)
                                                 : alpaca_reader_skip(reader);
        if (!ok)
            return false;
    }
    return !reader_failed(reader) && order->id.len > 0;
}

static bool read_update(struct reader *reader, struct alpaca_trading *ret)
{
    struct json_text key;
    bool ordered = false, timed = false;
    const struct json_text none = {"", 0};
    ret->event = ret->event_id = ret->execution_id = none;
    ret->price = ret->qty = -1;
    ret->position_qty = INT64_MIN;
    if (!alpaca_reader_enter_map(reader))
        return false;
    while (alpaca_reader_member(reader, &key)) {
        bool ok;
        if (json_is(key, "event"))
            ok = alpaca_reader_text(reader, &ret->event);
        else if (json_is(key, "event_id"))
            ok = alpaca_reader_maybe_text(reader, &ret->event_id);
        else if (json_is(key, "execution_id"))
            ok = alpaca_reader_maybe_text(reader, &ret->execution_id);
        else if (json_is(key, "timestamp"))
            timed = ok = alpaca_reader_time(reader, &ret->ts_ns);
        else if (json_is(key, "price"))
            ok = alpaca_reader_maybe_amount(reader, SCALE, &ret->price);
        else if (json_is(key, "qty"))
            ok = alpaca_reader_maybe_amount(reader, SCALE, &ret->qty);
        else if (json_is(key, "position_qty"))
            ok = maybe_position(reader, &ret->position_qty);
        else if (json_is(key, "order"))
            ordered = ok = alpaca_read_order(reader, &ret->order);
        else
            ok = alpaca_reader_skip(reader);
        if (!ok)
            return false;
    }
    for (int kind = ORDER_EVENT_NEW; kind < ORDER_EVENTS; kind++)
        if (json_text_is(ret->event, events[kind]))
            ret->event_kind = (enum alpaca_order_event)kind;
    bool fill = ret->event_kind == ORDER_EVENT_FILL || ret->event_kind == ORDER_EVENT_PARTIAL_FILL;
    return !reader_failed(reader) && ordered && timed && ret->event.len > 0 &&
           (!fill || ret->order.symbol.len == 0 || (ret->price > 0 && ret->qty > 0));
}

static bool read_authorization(struct reader *reader, struct alpaca_trading *ret)
{
    struct json_text key, status = {"", 0};
    if (!alpaca_reader_enter_map(reader))
        return false;
    while (alpaca_reader_member(reader, &key)) {
        bool ok = json_is(key, "status")    ? alpaca_reader_text(reader, &status)
                  : json_is(key, "message") ? alpaca_reader_maybe_text(reader, &ret->said)
                                            : alpaca_reader_skip(reader);
        if (!ok)
            return false;
    }
    ret->kind = json_is(status, "authorized") ? TRADING_AUTHORIZED : TRADING_REFUSED;
    return !reader_failed(reader) && status.len > 0;
}

static bool read_listening(struct reader *reader, struct alpaca_trading *ret)
{
    struct json_text key, stream;
    if (!alpaca_reader_enter_map(reader))
        return false;
    while (alpaca_reader_member(reader, &key)) {
        if (!json_is(key, "streams") || alpaca_reader_peek(reader) != '[') {
            if (!alpaca_reader_skip(reader))
                return false;
            continue;
        }
        alpaca_reader_enter_array(reader);
        while (alpaca_reader_element(reader)) {
            if (!alpaca_reader_text(reader, &stream))
                return false;
            ret->updates |= json_is(stream, "trade_updates");
        }
    }
    return !reader_failed(reader);
}

int alpaca_parse_trading(const char *frame, size_t len, struct alpaca_trading *ret)
{
    struct reader reader, data = {0};
    struct json_text key, stream = {"", 0};
    bool found = false, ok;
    alpaca_reader_init(&reader, false, frame, len);
    alpaca_reader_enter_map(&reader);
    while (alpaca_reader_member(&reader, &key)) {
        if (json_is(key, "data")) {
            data = reader;
            found = true;
        }
        if (json_is(key, "stream") ? !alpaca_reader_text(&reader, &stream) : !alpaca_reader_skip(&reader))
            return -EBADMSG;
    }
    if (!json_done(&reader.json) || !found)
        return -EBADMSG;
    struct alpaca_trading trading = {.said = {"", 0}};
    if (json_is(stream, "trade_updates")) {
        trading.kind = TRADING_UPDATE;
        ok = read_update(&data, &trading);
    } else if (json_is(stream, "authorization")) {
        ok = read_authorization(&data, &trading);
    } else if (json_is(stream, "listening")) {
        trading.kind = TRADING_LISTENING;
        ok = read_listening(&data, &trading);
    } else {
        return stream.len > 0 ? 1 : -EBADMSG;
    }
    if (!ok)
        return -EBADMSG;
    *ret = trading;
    return 0;
}
