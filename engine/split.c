#include "engine/split.h"

#include <errno.h>

#include "exchange/fill_rules.h"
#include "exchange/filter.h"

bool engine_split_valid(const struct stock_split *split)
{
    return split->shares > 0 && split->shares <= SPLIT_RATIO_MAX && split->per > 0 &&
           split->per <= SPLIT_RATIO_MAX;
}

int64_t engine_split_qty(const struct stock_split *split, int64_t qty)
{
    int128_t after = (int128_t)qty * split->shares / split->per;
    return after > FILL_MONEY_MAX ? -1 : (int64_t)after;
}

int64_t engine_split_lot(const struct stock_split *split, const struct symbol *symbol, int64_t qty)
{
    int64_t after = engine_split_qty(split, qty), step = symbol->filters.step;
    return after > 0 && step > 0 ? after - after % step : after;
}

/* A price, to the nearest unit; 0 when it rounds to nothing, -1 beyond what prices can be. */
static int64_t engine_split_price(const struct stock_split *split, int64_t price)
{
    int128_t after = ((int128_t)price * split->per + split->shares / 2) / split->shares;
    return after > FILL_MONEY_MAX ? -1 : (int64_t)after;
}

int64_t engine_split_tick(const struct stock_split *split, const struct symbol *symbol, int64_t price)
{
    int64_t after = engine_split_price(split, price);
    if (after <= 0 || symbol->filters.tick <= 0)
        return after;
    int64_t below = filter_floor_price(symbol, after), above = filter_ceil_price(symbol, after);
    return after - below < above - after || above < after ? below : above;
}

int64_t engine_split_shown(const struct stock_split *split, int64_t price)
{
    int64_t after = engine_split_price(split, price);
    return after > 0 ? after : after < 0 ? FILL_MONEY_MAX : price > 0;
}

/* Volumes are wide: whole parts first where the product would not fit. */
static int128_t volume_of(const struct stock_split *split, int128_t volume)
{
    int128_t product;
    return __builtin_mul_overflow(volume, (int128_t)split->shares, &product)
               ? volume / split->per * split->shares
               : product / split->per;
}

void engine_split_bar(const struct stock_split *split, struct bar *bar)
{
    if (bar->open_ns >= split->ex_ns)
        return;
    bar->open = engine_split_shown(split, bar->open);
    bar->high = engine_split_shown(split, bar->high);
    bar->low = engine_split_shown(split, bar->low);
    bar->close = engine_split_shown(split, bar->close);
    bar->volume = volume_of(split, bar->volume);
}

static int64_t lots_before(const struct lots *lots, int64_t ns)
{
    int64_t qty = 0;
    for (uint32_t i = lots->first; i < lots->n; i++)
        if (lots->lots[i].opened_ns <= ns)
            qty += lots->lots[i].qty;
    return qty;
}

int64_t position_before(const struct position *position, const struct lots *lots, int64_t ns)
{
    int64_t qty = lots_before(lots, ns);
    return position->qty < 0 ? -qty : qty;
}

int64_t engine_split_lot_qty(const struct stock_split *split, const struct lot *lot, int128_t *had,
                             int64_t *given)
{
    if (lot->opened_ns > split->ex_ns)
        return lot->qty;
    *had += lot->qty;
    int64_t end = (int64_t)(*had * split->shares / split->per), qty = end - *given;
    *given = end;
    return qty;
}

/* A lot that gets nothing leaves its cost to the next, the last to the one before. */
static void share_out(const struct stock_split *split, struct lots *lots)
{
    int128_t had = 0;
    int64_t given = 0, cost = 0;
    uint32_t kept = lots->first;
    for (uint32_t i = lots->first; i < lots->n; i++) {
        struct lot lot = lots->lots[i];
        lot.qty = engine_split_lot_qty(split, &lot, &had, &given);
        lot.cost += cost;
        cost = lot.qty == 0 ? lot.cost : 0;
        if (lot.qty > 0)
            lots->lots[kept++] = lot;
    }
    if (cost > 0)
        lots->lots[kept - 1].cost += cost;
    lots->n = kept;
}

int engine_split_position(const struct stock_split *split, struct position *position, struct lots *lots,
                          int64_t now_ns, int64_t *ret_change, bool *ret_left_out)
{
    int64_t old = lots_before(lots, split->ex_ns), new = engine_split_qty(split, old);
    int64_t held = position->qty < 0 ? -position->qty : position->qty;
    int sign = position->qty < 0 ? -1 : 1;
    if (new < 0 || new > FILL_MONEY_MAX - (held - old))
        return -ERANGE;
    bool left_out = (int128_t)old * split->shares % split->per != 0;
    if (old > 0 && new == 0) {
        int r = position_apply(position, lots, sign > 0 ? ORDER_SELL : ORDER_BUY, old, 0, now_ns);
        if (r < 0)
            return r;
    } else if (old > 0) {
        share_out(split, lots);
        position->qty += sign * (new - old);
        position->opened_ns = lots->lots[lots->first].opened_ns;
        position->updated_ns = now_ns;
    }
    *ret_change = sign * (new - old);
    *ret_left_out = left_out;
    return 0;
}

bool engine_dividend_amount(const struct corporate_action *action, const struct symbol *symbol, int64_t qty,
                            int64_t *ret)
{
    int scale = symbol->qty_scale + ACTION_CASH_SCALE - symbol->quote_scale;
    int128_t amount = (int128_t)qty * action->cash;
    for (; scale < 0; scale++)
        if (__builtin_mul_overflow(amount, (int128_t)10, &amount))
            return false;
    int128_t unit = 1;
    for (; scale > 0; scale--)
        unit *= 10;
    amount = amount >= 0 ? amount / unit : -((-amount + unit - 1) / unit);
    if (amount > FILL_MONEY_MAX || amount < -FILL_MONEY_MAX)
        return false;
    *ret = (int64_t)amount;
    return true;
}
