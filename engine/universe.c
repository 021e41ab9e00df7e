/* Takes a symbol into the universe, or out of it. */
#include <errno.h>

#include "engine/core.h"
#include "engine/match.h"

/* What was to open a position, and has not yet. */
static bool entry(const struct engine *engine, const struct live_order *live, int symbol)
{
    const struct order *order = &live->order;
    return order->symbol == symbol && !order->by_hand && order->parent == 0 && !live->cancel_queued &&
           engine_gate_opens(engine, order);
}

/* From the newest on: one that ends may take others of its group along. */
static void cancel_entries(struct engine *engine, int symbol)
{
    for (size_t i = engine->n_orders; i-- > 0 && engine->markets[symbol].live_orders > 0;)
        if (i < engine->n_orders && entry(engine, &engine->orders[i], symbol))
            engine_match_cancel(engine, engine->orders[i].order.id);
}

int engine_universe_event(struct engine *engine, int symbol, bool in)
{
    if (symbol < 0 || symbol >= engine->n_symbols)
        return -EINVAL;
    engine->markets[symbol].out = !in;
    if (!in)
        cancel_entries(engine, symbol);
    return 0;
}
