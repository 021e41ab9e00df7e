/* Orders of Binance with the faults of exchange/replay/broker/faults.h. */
#include "exchange/replay/binance/order_call.h"
#include "exchange/replay/binance/protocol.h"

struct faulty_call {
    struct order_call *call;
    int (*place)(struct order_call *c);
    int status;
};

static void place(void *user)
{
    struct faulty_call *f = user;
    f->status = f->place(f->call);
}

static void clear(void *user)
{
    text_clear(((struct faulty_call *)user)->call->body);
}

static void unknown(void *user)
{
    struct faulty_call *f = user;
    f->status = replay_order_refuse(f->call->body, 504, -1007,
                                    "Timeout waiting for response from backend server. Send status unknown; "
                                    "execution status unknown.");
}

/* It is taken if its recvWindow is not over when it comes. */
static bool read_late(void *user, struct broker_late *ret)
{
    struct faulty_call *f = user;
    ret->list.orders = ret->orders;
    f->status = f->call->read_list ? f->call->read_list(f->call, &ret->list)
                                   : replay_order_terms(f->call, &ret->orders[0]);
    if (f->status == 0)
        f->status = replay_order_rate(f->call);
    ret->until_ns = replay_orders_good_until(f->call->o, f->call->params);
    return f->status == 0;
}

static void arrive(void *user, const struct broker_late *late)
{
    struct binance_orders *o = user;
    struct broker_late of = *late;
    const struct broker_order *order;
    const struct broker_list *list;
    of.list.orders = of.orders;
    if (of.list.n == 0)
        replay_order_submit(o, &of.orders[0], &order);
    else if (replay_list_submit(o, &of.list, &list) == BROKER_TAKEN)
        replay_broker_settle(o->broker);
}

void replay_order_arrivals(struct binance_orders *o)
{
    replay_broker_arrivals(&o->order_faults, o->source->tape->now_ns + o->faults->clock_skew_ns, arrive, o);
}

int replay_order_with_faults(struct order_call *c, int (*with)(struct order_call *c))
{
    struct faulty_call f = {.call = c, .place = with};
    const struct broker_placing placing = {place, clear, unknown, read_late, &f};
    return replay_broker_place_with_faults(&c->o->order_faults, &placing) ? f.status : ORDER_CALL_LOST;
}
