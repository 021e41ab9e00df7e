/* What can happen to an order between a client and the venue, and to user data, on request (--fault order:…,
 * user:…): to every FAULT_ORDER_EVERY-th order, or event; of several faults in turn. */
#include "exchange/replay/binance/order_call.h"
#include "exchange/replay/binance/protocol.h"

enum fate { FATE_NONE, LOST_REQUEST, LOST_ANSWER, TWICE, DONE_5XX, NOT_DONE_5XX };

static enum fate fate_of(struct binance_orders *o)
{
    const struct faults *f = o->faults;
    const struct {
        bool on;
        enum fate fate;
    } all[] = {{f->order_lost_request, LOST_REQUEST},
               {f->order_lost_answer, LOST_ANSWER},
               {f->order_twice, TWICE},
               {f->order_5xx_done, DONE_5XX},
               {f->order_5xx_not_done, NOT_DONE_5XX}};
    enum fate set[sizeof(all) / sizeof(*all)];
    uint64_t n = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (all[i].on)
            set[n++] = all[i].fate;
    const uint64_t number = o->placed++;
    if (n == 0 || number % FAULT_ORDER_EVERY != FAULT_ORDER_EVERY - 1)
        return FATE_NONE;
    return set[number / FAULT_ORDER_EVERY % n];
}

static int unknown(struct text *body)
{
    return replay_order_refuse(body, 504, -1007,
                               "Timeout waiting for response from backend server. Send status unknown; "
                               "execution status unknown.");
}

int replay_order_befall(struct order_call *c, int (*place)(struct order_call *c))
{
    switch (fate_of(c->o)) {
    case LOST_REQUEST:
        return ORDER_CALL_LOST;
    case LOST_ANSWER:
        place(c);
        return ORDER_CALL_LOST;
    case TWICE:
        place(c);
        text_clear(c->body);
        return place(c);
    case DONE_5XX:
        place(c);
        return unknown(c->body);
    case NOT_DONE_5XX:
        return unknown(c->body);
    case FATE_NONE:
        break;
    }
    return place(c);
}
