/* Fills in parts, of which the venue's paper accounts have one in ten, of a random size, the rest being
 * looked at again later ("Paper Trading" at docs.alpaca.markets). Here a part is drawn from the market's
 * seed, the order's number and what of it is filled: the same orders get the same parts. */
#include "exchange/replay/alpaca/orders.h"
#include "exchange/replay/chance.h"

enum { SHARES = 1000 }; /* in which fractions are cut */

int64_t replay_alpaca_part(void *user, const struct broker_order *order, int64_t qty)
{
    const struct alpaca_orders *o = user;
    const bool whole = order->terms.qty % MADE_E9 == 0 && qty % MADE_E9 == 0;
    const int64_t step = whole ? MADE_E9 : qty / SHARES > 0 ? qty / SHARES : 1, steps = qty / step;
    struct chance chance = {o->alpaca->made[0].seed ^ ((uint64_t)order->id << 32) ^ (uint64_t)order->filled};
    if (o->auction.price || steps < 2 || chance_below(&chance, 100) >= o->alpaca->partial_percent)
        return qty;
    return step * chance_range(&chance, 1, steps - 1);
}
