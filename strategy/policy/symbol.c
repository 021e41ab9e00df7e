#include <errno.h>

#include "exchange/symbol.h"
#include "trainer/env/market.h"

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

int policy_symbol_init(const struct symbol *symbol, struct policy_symbol *ret)
{
    const struct symbol_filters *f = &symbol->filters;
    int digits = symbol->price_scale + symbol->qty_scale - symbol->quote_scale;
    if (digits < 0 || digits > 18 || symbol->price_scale < 0 || symbol->qty_scale < 0 ||
        symbol->quote_scale < 0)
        return -EINVAL;
    if (f->qty_min < 0 || f->qty_max < 0 || f->step < 0 || f->market_qty_min < 0 || f->market_qty_max < 0 ||
        f->market_step < 0)
        return -EINVAL;

    /* Lots are qty_min + k * step; where no step is set every unit is one. */
    int64_t unit = 1;
    for (int i = 0; i < digits; i++)
        unit *= 10;
    int64_t quantum = unit;
    if (f->step > 0) {
        quantum = common_divisor(quantum, f->step);
        quantum = common_divisor(quantum, f->qty_min);
        if (f->market_step > 0) {
            quantum = common_divisor(quantum, f->market_step);
            quantum = common_divisor(quantum, f->market_qty_min);
        }
    } else {
        quantum = 1;
    }

    double price_units = 1, qty_units = 1, money_units = 1;
    for (int i = 0; i < symbol->price_scale; i++)
        price_units *= 10;
    for (int i = 0; i < symbol->qty_scale; i++)
        qty_units *= 10;
    for (int i = 0; i < symbol->quote_scale; i++)
        money_units *= 10;
    struct policy_symbol made = {
        .quantum = quantum,
        .divisor = unit / quantum,
        .lot = {.min = f->qty_min / quantum + (f->qty_min % quantum != 0),
                .max = f->qty_max / quantum,
                .step = f->step / quantum,
                .market_min = f->market_qty_min / quantum + (f->market_qty_min % quantum != 0),
                .market_max = f->market_qty_max / quantum,
                .market_step = f->market_step / quantum},
        .notional_min = f->notional_min_market ? f->notional_min : 0,
        .price_min = f->price_min,
        .tick = f->tick,
        .price_units = price_units,
        .qty_units = qty_units / (double)quantum,
        .money_units = money_units,
    };
    if ((f->qty_max > 0 && made.lot.max == 0) || (f->market_qty_max > 0 && made.lot.market_max == 0))
        return -EINVAL; /* no quantity is allowed at all */
    *ret = made;
    return 0;
}
