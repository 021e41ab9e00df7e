/* The amendments of orders: what each changed. */
#include <stdlib.h>
#include <string.h>

#include "exchange/replay/binance/order_call.h"
#include "exchange/replay/keyed.h"

enum { LIST_MAX = 1000, LIST_USUAL = 500 };

void replay_amendments_add(struct binance_orders *o, const struct broker_terms *before,
                           const struct broker_order *order)
{
    struct order_amendments *of = &o->amendments;
    if (of->n == of->cap) {
        const size_t cap = of->cap ? of->cap * 2 : 16;
        struct order_amendment *grown = reallocarray(of->all, cap, sizeof(*grown));
        if (!grown)
            return;
        of->all = grown;
        of->cap = cap;
    }
    struct order_amendment *made = &of->all[of->n++];
    *made = (struct order_amendment){.account = before->account,
                                     .order_id = order->id,
                                     .execution = o->executions,
                                     .time_ns = order->updated_ns,
                                     .qty_before = before->qty,
                                     .qty = order->terms.qty};
    memcpy(made->id_before, before->client_id, sizeof(made->id_before));
    memcpy(made->id, order->terms.client_id, sizeof(made->id));
}

static void write_one(struct order_call *c, const struct order_amendment *of)
{
    keyed_comma(c->body);
    text_format(c->body, "{\"symbol\":\"%s\"", c->listed.name);
    keyed_int(c->body, "orderId", of->order_id);
    keyed_int(c->body, "executionId", of->execution);
    keyed_str(c->body, "origClientOrderId", of->id_before);
    keyed_str(c->body, "newClientOrderId", of->id);
    keyed_e8(c->body, "origQty", of->qty_before);
    keyed_e8(c->body, "newQty", of->qty);
    keyed_int(c->body, "time", order_clock_time(&c->caller->clock, of->time_ns));
    text_lit(c->body, "}");
}

int replay_order_amendments(struct order_call *c)
{
    int64_t id, from, limit;
    int status = replay_order_symbol(c);
    if (status == 0)
        status = replay_order_number(c, "orderId", -1, &id);
    if (status == 0 && id < 0)
        status = replay_order_missing(c->body, "orderId");
    if (status == 0)
        status = replay_order_number(c, "fromExecutionId", 0, &from);
    if (status == 0)
        status = replay_order_number(c, "limit", LIST_USUAL, &limit);
    if (status != 0)
        return status;
    if (!replay_broker_find(c->o->broker, c->caller->account, c->symbol, id, NULL))
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -2013, "Order does not exist.");
    limit = limit < LIST_MAX ? limit : LIST_MAX;
    text_lit(c->body, "[");
    for (size_t i = 0; i < c->o->amendments.n && limit > 0 && text_ok(c->body); i++) {
        const struct order_amendment *of = &c->o->amendments.all[i];
        if (of->account != c->caller->account || of->order_id != id || of->execution < from)
            continue;
        write_one(c, of);
        limit--;
    }
    text_lit(c->body, "]");
    return ORDER_CALL_OK;
}
