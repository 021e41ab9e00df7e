/* A new order, with the faults of exchange/replay/broker/faults.h. */
#include <string.h>

#include "exchange/replay/alpaca/trading_call.h"
#include "exchange/replay/serve.h"

_Static_assert(sizeof(struct alpaca_paper_order) <= BROKER_LATE_MORE, "room for the venue's own");

static void place(void *user)
{
    struct trading_call *a = user;
    struct broker_terms terms;
    struct alpaca_paper_order own;
    const struct broker_order *order;
    if (replay_trading_order(a, &terms, &own) && replay_trading_placed(a, &terms, &own, &order))
        replay_trading_send(a, replay_alpaca_order_json(a->o, order, true));
}

static void clear(void *user)
{
    struct trading_call *a = user;
    text_clear(&a->call->response->body);
}

static void unknown(void *user)
{
    replay_trading_refuse(user, 504, 0, "the server did not answer in time");
}

static bool read_late(void *user, struct broker_late *ret)
{
    struct alpaca_paper_order own;
    if (!replay_trading_order(user, &ret->orders[0], &own))
        return false;
    memcpy(ret->more, &own, sizeof(own));
    return true;
}

void replay_trading_post(struct trading_call *a)
{
    const struct broker_placing placing = {place, clear, unknown, read_late, a};
    a->o->faults.faults = a->o->alpaca->base.server->faults;
    a->call->response->lost = !replay_broker_place_with_faults(&a->o->faults, &placing);
}
