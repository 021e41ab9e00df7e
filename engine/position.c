#include "engine/position.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"

static int64_t share(int64_t whole, int64_t part, int64_t of)
{
    return part == of ? whole : (int64_t)((int128_t)whole * part / of);
}

static int64_t clamped_sum(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return b > 0 ? INT64_MAX : INT64_MIN;
    return sum;
}

static int make_room(struct lots *lots)
{
    if (lots->n < lots->cap)
        return 0;
    if (lots->first > lots->cap / 2) {
        lots->n -= lots->first;
        memmove(lots->lots, lots->lots + lots->first, lots->n * sizeof *lots->lots);
        lots->first = 0;
        return 0;
    }
    if (lots->cap > UINT32_MAX / 2)
        return -ENOMEM;
    uint32_t cap = lots->cap ? 2 * lots->cap : 4;
    struct lot *moved = realloc(lots->lots, cap * sizeof *moved);
    if (!moved)
        return -ENOMEM;
    lots->lots = moved;
    lots->cap = cap;
    return 0;
}

int position_lots_push(struct lots *lots, const struct lot *lot)
{
    int r = make_room(lots);
    if (r == 0)
        lots->lots[lots->n++] = *lot;
    return r;
}

void position_lots_finish(struct lots *lots)
{
    free(lots->lots);
    *lots = (struct lots){0};
}

/* Takes `qty` off the oldest lots; returns what they cost. */
static int64_t take_lots(struct lots *lots, int64_t qty)
{
    int64_t cost = 0;
    while (qty > 0 && lots->first < lots->n) {
        struct lot *lot = &lots->lots[lots->first];
        int64_t part = qty < lot->qty ? qty : lot->qty;
        int64_t left = share(lot->cost, part, lot->qty);
        cost += left;
        lot->qty -= part;
        lot->cost -= left;
        qty -= part;
        lots->first += lot->qty == 0;
    }
    if (lots->first == lots->n)
        lots->first = lots->n = 0;
    return cost;
}

int position_apply(struct position *position, struct lots *lots, enum order_side side, int64_t qty,
                   int64_t notional, int64_t ts_ns)
{
    int sign = side == ORDER_BUY ? 1 : -1;
    int64_t against = -sign * position->qty;
    int64_t closed = against <= 0 ? 0 : against < qty ? against : qty;
    int64_t opened = qty - closed;
    int64_t closing = closed > 0 ? share(notional, closed, qty) : 0;
    if (opened > 0) {
        int64_t held = closed > 0 ? 0 : position->qty, cost = closed > 0 ? 0 : position->cost;
        int64_t fifo_cost = closed > 0 ? 0 : position->fifo_cost;
        if (__builtin_add_overflow(held, sign * opened, &held) || held == INT64_MIN ||
            __builtin_add_overflow(cost, notional - closing, &cost) ||
            __builtin_add_overflow(fifo_cost, notional - closing, &fifo_cost))
            return -ERANGE;
        int r = make_room(lots);
        if (r < 0)
            return r;
    }

    if (closed > 0) {
        int64_t left = share(position->cost, closed, against), fifo_left = take_lots(lots, closed);
        position->realized = clamped_sum(position->realized, -sign * (closing - left));
        position->fifo_realized = clamped_sum(position->fifo_realized, -sign * (closing - fifo_left));
        position->cost -= left;
        position->fifo_cost -= fifo_left;
        position->qty += sign * closed;
        if (position->qty == 0)
            position->closed_ns = ts_ns;
    }
    if (opened > 0) {
        struct lot lot = {.qty = opened, .cost = notional - closing, .opened_ns = ts_ns};
        lots->lots[lots->n++] = lot;
        position->qty += sign * opened;
        position->cost += lot.cost;
        position->fifo_cost += lot.cost;
    }
    position->opened_ns = lots->first < lots->n ? lots->lots[lots->first].opened_ns : 0;
    position->updated_ns = ts_ns;
    return 0;
}
