/* Changes of a resting order: by another one in its place, or of its quantity. */
#include <string.h>

#include "exchange/replay/binance/order_call.h"
#include "exchange/replay/binance/order_text.h"

#define NS_PER_MS 1000000LL

enum { CONFLICT = 409 };

/* A part of the answer, which is the whole body of a call of its own. */
static void write_part(struct text *out, const char *name, const struct text *part)
{
    text_format(out, ",\"%s\":", name);
    if (part->len > 0)
        text_bytes(out, part->data, part->len);
    else
        text_lit(out, "null");
}

static void write_both(struct text *out, bool cancelled, const char *placed, const struct text *cancel,
                       const struct text *order)
{
    text_format(out, "{\"cancelResult\":\"%s\",\"newOrderResult\":\"%s\"", cancelled ? "SUCCESS" : "FAILURE",
                placed);
    write_part(out, "cancelResponse", cancel);
    write_part(out, "newOrderResponse", order);
    text_lit(out, "}");
}

static int fail_both(struct order_call *c, int status, const struct text *data)
{
    text_format(c->body, "{\"code\":%d,\"msg\":\"Order cancel-replace %s.\",\"data\":",
                status == CONFLICT ? -2021 : -2022, status == CONFLICT ? "partially failed" : "failed");
    text_bytes(c->body, data->data ? data->data : "", data->len);
    text_lit(c->body, "}");
    return status;
}

static int cancel(struct order_call *c)
{
    const struct broker_order *order;
    int status = replay_order_by(c, "cancelOrderId", "cancelOrigClientOrderId", -2011, &order);
    if (status != 0)
        return status;
    order = replay_broker_cancel(c->o->broker, c->caller->account, order->id, NULL);
    if (!order)
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -2011, "Unknown order sent.");
    replay_order_text_cancelled(c->body, order, &c->listed);
    return ORDER_CALL_OK;
}

/* The new order is another one, at the end of the queue. With ALLOW_FAILURE it is placed also where the old
 * one was not cancelled. */
int replay_order_cancel_replace(struct order_call *c)
{
    struct text *whole = c->body, cancelled = {0}, placed = {0}, both = {0};
    const char *mode = replay_order_param(c, "cancelReplaceMode");
    if (!mode || (strcmp(mode, "STOP_ON_FAILURE") != 0 && strcmp(mode, "ALLOW_FAILURE") != 0))
        return replay_order_missing(c->body, "cancelReplaceMode");
    c->body = &cancelled;
    const bool ended = cancel(c) == ORDER_CALL_OK, tries = ended || mode[0] == 'A';
    c->body = &placed;
    const int status = tries ? replay_order_place(c) : 0;
    const bool done = status == ORDER_CALL_OK;
    c->body = whole;
    write_both(&both, ended, done ? "SUCCESS" : tries ? "FAILURE" : "NOT_ATTEMPTED", &cancelled, &placed);
    int r = ORDER_CALL_OK;
    if (status == ORDER_CALL_LOST)
        r = status;
    else if (ended && done)
        text_bytes(c->body, both.data ? both.data : "", both.len);
    else
        r = fail_both(c, ended || done ? CONFLICT : ORDER_CALL_BAD, &both);
    c->body->failed |= cancelled.failed || placed.failed || both.failed;
    text_finish(&cancelled);
    text_finish(&placed);
    text_finish(&both);
    return r;
}

int replay_order_amend(struct order_call *c)
{
    const struct broker_order *order;
    const char *id, *qty_text = replay_order_param(c, "newQty");
    int64_t qty;
    int status = replay_order_by(c, "orderId", "origClientOrderId", -2013, &order);
    if (status == 0)
        status = replay_order_client_id(c, &id);
    if (status != 0)
        return status;
    if (!qty_text || decimal_parse_str(qty_text, 8, &qty) < 0)
        return replay_order_missing(c->body, "newQty");
    const struct broker_terms before = order->terms;
    const int64_t step = c->listed.filters.step;
    if (step > 0 && qty % (step * decimal_pow10(8 - c->listed.qty_scale)) != 0)
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -1013, "Filter failure: LOT_SIZE");
    order =
        replay_broker_reduce(c->o->broker, c->caller->account, order->id, qty, id ? id : before.client_id);
    if (!order)
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -2038,
                                   "The requested action would change no state; rejecting.");
    text_format(c->body, "{\"transactTime\":%lld,\"executionId\":%lld,\"amendedOrder\":",
                (long long)(order->updated_ns / NS_PER_MS), (long long)c->o->executions);
    replay_order_text_amended(c->body, order, &c->listed, before.client_id);
    text_lit(c->body, "}");
    return ORDER_CALL_OK;
}
