#include "exchange/sizing.h"

#include "exchange/decimal.h"
#include "exchange/fill_rules.h"
#include "exchange/filter.h"

static int64_t clamped(int128_t qty)
{
    return qty > INT64_MAX ? INT64_MAX : (int64_t)qty;
}

/* Whole lots that a budget pays for, fee included. */
static int64_t payable(const struct sizing *sizing, int64_t budget, int64_t price)
{
    if (budget <= 0 || price <= 0)
        return 0;
    int64_t rest;
    int128_t notional =
        fill_divide((int128_t)budget * 1000000, 1000000 + (int64_t)fee_rates_most_e6(&sizing->fees), &rest);
    int128_t qty = fill_divide(notional * filter_notional_unit(sizing->symbol), price, &rest);
    return filter_floor_qty(sizing->symbol, ORDER_MARKET, clamped(qty));
}

int64_t sizing_entry(const struct sizing *sizing, double fraction, int64_t price)
{
    int64_t budget = (int64_t)((double)sizing->equity * fraction);
    return payable(sizing, budget < sizing->available ? budget : sizing->available, price);
}

/* Is it below the venue's least for a market order? */
static bool too_little(const struct symbol *symbol, int64_t qty, int64_t price)
{
    const struct symbol_filters *filters = &symbol->filters;
    return filters->notional_min_market &&
           (int128_t)price * qty < (int128_t)filters->notional_min * filter_notional_unit(symbol);
}

int64_t sizing_target(const struct sizing *sizing, double fraction, int64_t held, int64_t last, int64_t price)
{
    int64_t value = (int64_t)((double)sizing->equity * fraction);
    if (value < 0 || last <= 0 || price <= 0)
        return 0;
    int128_t missing = (int128_t)value * filter_notional_unit(sizing->symbol) / last - held;
    int64_t qty = clamped(missing < 0 ? -missing : missing);
    qty = filter_floor_qty(sizing->symbol, ORDER_MARKET, qty);
    if (missing > 0) {
        int64_t most = payable(sizing, sizing->available, price);
        qty = qty < most ? qty : most;
    }
    if (too_little(sizing->symbol, qty, last))
        return 0;
    return missing > 0 ? qty : -qty;
}

bool sizing_price(const struct symbol *symbol, double number, bool up, int64_t *ret)
{
    int64_t price;
    if (decimal_from_double(number, symbol->price_scale, &price) < 0 || price <= 0)
        return false;
    price = up ? filter_ceil_price(symbol, price) : filter_floor_price(symbol, price);
    if (price <= 0 || price < symbol->filters.price_min)
        return false;
    *ret = price;
    return true;
}
