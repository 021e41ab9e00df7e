#include "exchange/replay/broker/trailing.h"

#include "exchange/decimal.h"

enum { WHOLE_E6 = 1000000 };

int64_t replay_trail_best(enum order_side side, int64_t best, int64_t price)
{
    const bool better = side == ORDER_BUY ? price < best : price > best;
    return best == 0 || better ? price : best;
}

int64_t replay_trail_stop(const struct broker_trail *trail, enum order_side side, int64_t best)
{
    const int128_t share = (int128_t)best * trail->share_e6;
    if (side == ORDER_BUY)
        return best + trail->amount + (int64_t)((share + WHOLE_E6 - 1) / WHOLE_E6);
    return best - trail->amount - (int64_t)((share + WHOLE_E6 - 1) / WHOLE_E6);
}

bool replay_trail_reached(const struct broker_trail *trail, enum order_side side, int64_t best, int64_t price)
{
    const int64_t stop = replay_trail_stop(trail, side, best);
    return side == ORDER_BUY ? price >= stop : price <= stop;
}
