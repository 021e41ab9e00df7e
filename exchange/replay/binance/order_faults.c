/* What can happen to an order between a client and the venue, and to user data, on request (--fault order:…,
 * user:…): to every FAULT_ORDER_EVERY-th order, or event; of several faults in turn. */
#include <stdlib.h>
#include <uv.h>

#include "exchange/replay/binance/order_call.h"
#include "exchange/replay/binance/protocol.h"

enum order_fault { NO_FAULT, LOST_REQUEST, LOST_ANSWER, TWICE, DONE_5XX, NOT_DONE_5XX, LATE };

enum { LATE_MAX = 1000 };

/* An order that has not reached the matching engine yet. */
struct binance_late {
    struct broker_terms terms;
    uint64_t due_ns;  /* wall clock */
    int64_t until_ns; /* of the server's clock: it is refused later; INT64_MAX: never */
};

static enum order_fault fault_of(struct binance_orders *o)
{
    const struct faults *f = o->faults;
    const struct {
        bool on;
        enum order_fault fault;
    } all[] = {{f->order_lost_request, LOST_REQUEST},
               {f->order_lost_answer, LOST_ANSWER},
               {f->order_twice, TWICE},
               {f->order_5xx_done, DONE_5XX},
               {f->order_5xx_not_done, NOT_DONE_5XX},
               {f->order_late_ns > 0, LATE}};
    enum order_fault set[sizeof(all) / sizeof(*all)];
    uint64_t n = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (all[i].on)
            set[n++] = all[i].fault;
    const uint64_t number = o->placed++;
    if (n == 0 || number % FAULT_ORDER_EVERY != FAULT_ORDER_EVERY - 1)
        return NO_FAULT;
    return set[number / FAULT_ORDER_EVERY % n];
}

static int unknown(struct text *body)
{
    return replay_order_refuse(body, 504, -1007,
                               "Timeout waiting for response from backend server. Send status unknown; "
                               "execution status unknown.");
}

/* The answer is a timeout's; the order comes later, if its recvWindow is not over then. */
static int delay(struct order_call *c)
{
    struct binance_orders *o = c->o;
    struct broker_terms terms;
    int status = replay_order_terms(c, &terms);
    if (status != 0)
        return status;
    if (!o->late && !(o->late = calloc(LATE_MAX, sizeof(*o->late))))
        c->body->failed = true;
    else if (o->n_late < LATE_MAX)
        o->late[o->n_late++] = (struct binance_late){terms, uv_hrtime() + (uint64_t)o->faults->order_late_ns,
                                                     replay_orders_good_until(o, c->params)};
    return unknown(c->body);
}

void replay_order_arrivals(struct binance_orders *o)
{
    const uint64_t now = uv_hrtime();
    const int64_t server_ns = o->source->tape->now_ns + o->faults->clock_skew_ns;
    const struct broker_order *order;
    size_t kept = 0;
    for (size_t i = 0; i < o->n_late; i++) {
        const struct binance_late late = o->late[i];
        if (late.due_ns > now)
            o->late[kept++] = late;
        else if (server_ns <= late.until_ns)
            replay_broker_place(o->broker, &late.terms, &order);
    }
    o->n_late = kept;
}

int replay_order_with_faults(struct order_call *c, int (*place)(struct order_call *c))
{
    switch (fault_of(c->o)) {
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
    case LATE:
        return delay(c);
    case NO_FAULT:
        break;
    }
    return place(c);
}
