/* Changes of a resting order: by another one in its place, or of its quantity. */
#include <string.h>

#include "exchange/replay/binance/order_call.h"
#include "exchange/replay/binance/order_list_text.h"
#include "exchange/replay/binance/order_text.h"

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

static void fail_both(struct order_call *c, bool partly, const struct text *data)
{
    text_format(c->body,
                "{\"code\":%d,\"msg\":\"Order cancel-replace %s.\",\"data\":", partly ? -2021 : -2022,
                partly ? "partially failed" : "failed");
    text_bytes(c->body, data->data ? data->data : "", data->len);
    text_lit(c->body, "}");
}

static int cancel(struct order_call *c)
{
    const struct broker_order *order;
    const char *id;
    int status = replay_order_by(c, "cancelOrderId", "cancelOrigClientOrderId", -2011, &order);
    if (status == 0)
        status = replay_order_client_id(c, "cancelNewClientOrderId", &id);
    if (status == 0)
        status = replay_order_restricted(c, order);
    if (status != 0)
        return status;
    return replay_order_end(c, order, id)
               ? ORDER_CALL_OK
               : replay_order_refuse(c->body, ORDER_CALL_BAD, -2011, "Unknown order sent.");
}

static bool is_one(const char *value, const char *one, const char *other)
{
    return value && (strcmp(value, one) == 0 || strcmp(value, other) == 0);
}

/* What is looked at before anything is done: the request, the filters, the number of orders. *ret_exceeds:
 * there are too many of them, and the old one is to be cancelled nevertheless. */
static int check_replacement(struct order_call *c, bool *ret_exceeds)
{
    const char *mode = replay_order_param(c, "orderRateLimitExceededMode");
    struct broker_terms terms;
    if (!is_one(replay_order_param(c, "cancelReplaceMode"), "STOP_ON_FAILURE", "ALLOW_FAILURE"))
        return replay_order_missing(c->body, "cancelReplaceMode");
    if (mode && !is_one(mode, "DO_NOTHING", "CANCEL_ONLY"))
        return replay_order_missing(c->body, "orderRateLimitExceededMode");
    if (!replay_order_param(c, "cancelOrderId") && !replay_order_param(c, "cancelOrigClientOrderId"))
        return replay_order_missing_both(c->body, "cancelOrigClientOrderId", "cancelOrderId");
    int status = replay_order_restrictions(c);
    if (status == 0)
        status = replay_order_terms(c, &terms);
    if (status != 0)
        return status;
    status = replay_order_rate(c);
    *ret_exceeds = status != 0 && mode && mode[0] == 'C';
    if (*ret_exceeds)
        text_clear(c->body);
    return *ret_exceeds ? 0 : status;
}

/* The new order is another one, at the end of the queue. With ALLOW_FAILURE it is placed also where the old
 * one was not cancelled. */
int replay_order_cancel_replace(struct order_call *c)
{
    struct text *whole = c->body, cancelled = {0}, placed = {0}, both = {0};
    bool exceeds = false;
    int r = check_replacement(c, &exceeds);
    c->outcome->counted = true;
    if (r != 0)
        return r;
    const bool goes_on = replay_order_param(c, "cancelReplaceMode")[0] == 'A';
    c->body = &cancelled;
    const bool ended = cancel(c) == ORDER_CALL_OK, tries = ended || goes_on;
    c->body = &placed;
    const int status = tries ? replay_order_place(c) : 0;
    const bool done = status == ORDER_CALL_OK;
    c->body = whole;
    if (!tries)
        replay_order_count(c->o, c->caller->account, 1); /* as the venue does */
    write_both(&both, ended, done ? "SUCCESS" : tries ? "FAILURE" : "NOT_ATTEMPTED", &cancelled, &placed);
    if (status == ORDER_CALL_LOST)
        r = status;
    else if (ended && done)
        text_bytes(c->body, both.data ? both.data : "", both.len);
    else
        fail_both(c, ended || done, &both);
    if (r == 0)
        r = ended && done         ? ORDER_CALL_OK
            : exceeds && !goes_on ? ORDER_CALL_TOO_MANY
            : ended || done       ? CONFLICT
                                  : ORDER_CALL_BAD;
    c->body->failed |= cancelled.failed || placed.failed || both.failed;
    text_finish(&cancelled);
    text_finish(&placed);
    text_finish(&both);
    return r;
}

/* Is that quantity below the order's, and within the filters? */
static int check_amendment(struct order_call *c, const struct broker_order *order, int64_t qty)
{
    struct broker_terms terms = order->terms;
    int status;
    if (!broker_is_open(order))
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -2038, "Unknown order sent.");
    if ((status = replay_order_amend_filter(c, order)) != 0)
        return status;
    if (qty > terms.qty)
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -2038,
                                   "Order amend (quantity increase) is not supported.");
    if (qty == terms.qty || qty <= order->filled)
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -2038,
                                   "The requested action would change no state; rejecting.");
    terms.qty = qty;
    terms.iceberg = terms.iceberg > qty ? qty : terms.iceberg;
    return replay_order_filters(c, &terms, order);
}

int replay_order_amend(struct order_call *c)
{
    const struct broker_order *order;
    char id[ORDER_CLIENT_ID_MAX];
    int64_t qty;
    int status = replay_order_by(c, "orderId", "origClientOrderId", -2013, &order);
    if (status == 0)
        status = replay_order_id_or_new(c, "newClientOrderId", id);
    if (status == 0)
        status = replay_order_decimal(c, "newQty", &qty);
    if (status == 0 && qty == 0)
        status = replay_order_missing(c->body, "newQty");
    if (status == 0)
        status = check_amendment(c, order, qty);
    if (status != 0)
        return status;
    const struct broker_terms before = order->terms;
    order = replay_broker_reduce(c->o->broker, c->caller->account, order->id, qty, id);
    if (!order)
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -2038, "Unknown order sent.");
    replay_amendments_add(c->o, &before, order);
    text_format(c->body, "{\"transactTime\":%lld,\"executionId\":%lld,\"amendedOrder\":",
                (long long)order_clock_time(&c->caller->clock, order->updated_ns),
                (long long)c->o->executions);
    replay_order_text_amended(c->body, &c->caller->clock, order, &c->listed, before.client_id);
    if (order->terms.list) {
        replay_broker_list_reduced(c->o->broker, order);
        text_lit(c->body, ",\"listStatus\":");
        replay_list_text_status(
            c->body, c->o->broker,
            replay_broker_list_find(c->o->broker, c->caller->account, order->terms.list, NULL),
            c->listed.name);
    }
    text_lit(c->body, "}");
    return ORDER_CALL_OK;
}
