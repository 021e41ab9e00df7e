#include "exchange/filter.h"

#include "exchange/decimal.h"
#include "exchange/order_rules.h"

static bool outside(int64_t value, int64_t min, int64_t max)
{
    return (min > 0 && value < min) || (max > 0 && value > max);
}

static bool off_step(int64_t value, int64_t min, int64_t step)
{
    return step > 0 && (value - min) % step != 0;
}

static bool price_refused(const struct symbol *symbol, int64_t price)
{
    const struct symbol_filters *filters = &symbol->filters;
    return outside(price, filters->price_min, filters->price_max) ||
           off_step(price, filters->price_min, order_rules_tick(symbol, price));
}

static bool band_refused(const struct symbol *symbol, enum order_side side, int64_t price, int64_t reference)
{
    const struct filter_multipliers by = filter_multipliers(symbol, side);
    int128_t scaled = (int128_t)price * decimal_pow10(FILTER_MULTIPLIER_SCALE);
    return (by.up > 0 && scaled > (int128_t)reference * by.up) ||
           (by.down > 0 && scaled < (int128_t)reference * by.down);
}

static bool has_stop(enum order_type type)
{
    return order_is_stop(type) && type != ORDER_TRAILING_STOP;
}

int64_t filter_notional_price(const struct filter_request *request)
{
    return order_has_limit(request->type) ? request->price
           : has_stop(request->type)      ? request->stop_price
                                          : request->reference;
}

enum order_reason filter_check(const struct symbol *symbol, const struct filter_request *request)
{
    const struct symbol_filters *filters = &symbol->filters;
    bool limit = order_has_limit(request->type);
    bool stop = has_stop(request->type);
    if (!symbol->trading)
        return ORDER_SYMBOL_HALTED;
    if (request->qty <= 0)
        return ORDER_BAD_QTY;
    if ((limit && request->price <= 0) || (stop && request->stop_price <= 0))
        return ORDER_BAD_PRICE;
    if (limit && price_refused(symbol, request->price))
        return ORDER_PRICE_FILTER;
    if (stop && price_refused(symbol, request->stop_price))
        return ORDER_PRICE_FILTER;
    if (limit && request->reference > 0 &&
        band_refused(symbol, request->side, request->price, request->reference))
        return ORDER_PERCENT_PRICE;
    if (outside(request->qty, filters->qty_min, filters->qty_max) ||
        off_step(request->qty, filters->qty_min, filters->step))
        return ORDER_LOT_SIZE;
    if (!limit && (outside(request->qty, filters->market_qty_min, filters->market_qty_max) ||
                   off_step(request->qty, filters->market_qty_min, filters->market_step)))
        return ORDER_MARKET_LOT_SIZE;

    int64_t price = filter_notional_price(request);
    int64_t unit = filter_notional_unit(symbol);
    int128_t product = (int128_t)price * request->qty; /* the notional, unrounded, is product / unit */
    if (product >= ((int128_t)INT64_MAX + 1) * unit)
        return ORDER_MAX_NOTIONAL;
    if (price > 0 && filters->notional_min > 0 && (limit || filters->notional_min_market) &&
        product < (int128_t)filters->notional_min * unit)
        return ORDER_MIN_NOTIONAL;
    if (price > 0 && filters->notional_max > 0 && (limit || filters->notional_max_market) &&
        product > (int128_t)filters->notional_max * unit)
        return ORDER_MAX_NOTIONAL;
    if (filters->orders_max > 0 && request->open_orders >= filters->orders_max)
        return ORDER_MAX_NUM_ORDERS;
    return ORDER_OK;
}

int64_t filter_floor_price(const struct symbol *symbol, int64_t price)
{
    return fill_floor_price(price, symbol->filters.price_min, order_rules_tick(symbol, price));
}

int64_t filter_ceil_price(const struct symbol *symbol, int64_t price)
{
    return fill_ceil_price(price, symbol->filters.price_min, order_rules_tick(symbol, price));
}

void filter_band(const struct symbol *symbol, enum order_side side, int64_t reference, int64_t *ret_low,
                 int64_t *ret_high)
{
    const struct filter_multipliers by = filter_multipliers(symbol, side);
    int128_t one = decimal_pow10(FILTER_MULTIPLIER_SCALE), high = (int128_t)reference * by.up / one,
             low = ((int128_t)reference * by.down + one - 1) / one;

    *ret_low = by.down > 0 && low <= INT64_MAX ? filter_ceil_price(symbol, (int64_t)low) : 0;
    *ret_high = by.up > 0 && high <= INT64_MAX ? filter_floor_price(symbol, (int64_t)high) : 0;
}
