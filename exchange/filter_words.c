#include "exchange/filter_words.h"

#include <stdio.h>
#include <string.h>

#include "exchange/order_reason.h"
#include "exchange/order_rules.h"

enum { RANGE_MAX = 2 * DECIMAL_TEXT_MAX + 16 };

/* "0.01 to 1000000", "at least 0.01", "at most 1000000"; "" without either. */
static void range(int64_t min, int64_t max, int scale, char ret[static RANGE_MAX])
{
    char low[DECIMAL_TEXT_MAX], high[DECIMAL_TEXT_MAX];

    decimal_format_short(min, scale, low);
    decimal_format_short(max, scale, high);
    if (min > 0 && max > 0)
        snprintf(ret, RANGE_MAX, "%s to %s", low, high);
    else if (min > 0 || max > 0)
        snprintf(ret, RANGE_MAX, "at %s %s", min > 0 ? "least" : "most", min > 0 ? low : high);
    else
        ret[0] = '\0';
}

/* "NAME STEP, RANGE", of what there is. */
static void steps(const char *name, int64_t step, int64_t min, int64_t max, int scale,
                  char words[static ORDER_WORDS_MAX])
{
    char text[DECIMAL_TEXT_MAX], between[RANGE_MAX];

    range(min, max, scale, between);
    decimal_format_short(step, scale, text);
    if (step > 0)
        snprintf(words, ORDER_WORDS_MAX, "%s %s%s%s", name, text, *between ? ", " : "", between);
    else
        snprintf(words, ORDER_WORDS_MAX, "%s", between);
}

/* "12000 to 300000, 0.2 to 5 times 60000", or the multipliers alone where no price is known. */
static void band(const struct symbol *symbol, enum order_side side, int64_t reference,
                 char words[static ORDER_WORDS_MAX])
{
    const struct filter_multipliers by = filter_multipliers(symbol, side);
    int64_t low = 0, high = 0;
    char prices[RANGE_MAX], multipliers[RANGE_MAX], of[DECIMAL_TEXT_MAX];

    range(by.down, by.up, FILTER_MULTIPLIER_SCALE, multipliers);
    if (reference > 0)
        filter_band(symbol, side, reference, &low, &high);
    range(low, high, symbol->price_scale, prices);
    decimal_format_short(reference, symbol->price_scale, of);
    if (!*multipliers)
        words[0] = '\0';
    else if (reference > 0)
        snprintf(words, ORDER_WORDS_MAX, "%s, %s times %s", prices, multipliers, of);
    else
        snprintf(words, ORDER_WORDS_MAX, "%s times the market's", multipliers);
}

static void notional(const struct symbol *symbol, char words[static ORDER_WORDS_MAX])
{
    const struct symbol_filters *filters = &symbol->filters;
    char between[RANGE_MAX];

    range(filters->notional_min, filters->notional_max, symbol->quote_scale, between);
    snprintf(words, ORDER_WORDS_MAX, "%s%s%s", between, *between ? " " : "", *between ? symbol->quote : "");
}

void filter_rule_words(const struct symbol *symbol, enum filter_rule rule, enum order_side side,
                       int64_t reference, char words[static ORDER_WORDS_MAX])
{
    const struct symbol_filters *f = &symbol->filters;

    words[0] = '\0';
    switch (rule) {
    case FILTER_RULE_PRICE:
        steps("tick", order_rules_tick(symbol, reference), f->price_min, f->price_max, symbol->price_scale,
              words);
        break;
    case FILTER_RULE_QTY:
        steps("step", f->step, f->qty_min, f->qty_max, symbol->qty_scale, words);
        break;
    case FILTER_RULE_MARKET_QTY:
        steps("step", f->market_step, f->market_qty_min, f->market_qty_max, symbol->qty_scale, words);
        break;
    case FILTER_RULE_NOTIONAL:
        notional(symbol, words);
        break;
    case FILTER_RULE_BAND:
        band(symbol, side, reference, words);
        break;
    case FILTER_RULE_ORDERS:
        if (f->orders_max > 0)
            snprintf(words, ORDER_WORDS_MAX, "at most %d", f->orders_max);
        break;
    case FILTER_RULES:
        break;
    }
}

/* "0.0003 at 6000 is 1.8 USDT; "; "" where the price, or the quantity of an order by its notional, is not
 * known. */
static void product(const struct symbol *symbol, const struct filter_request *request,
                    char words[static ORDER_WORDS_MAX])
{
    int64_t price = filter_notional_price(request);
    int128_t value = (int128_t)price * request->qty / filter_notional_unit(symbol);
    char qty[DECIMAL_TEXT_MAX], at[DECIMAL_TEXT_MAX], is[DECIMAL_TEXT_MAX];

    words[0] = '\0';
    if (price <= 0 || request->qty <= 0)
        return;
    decimal_format_short(request->qty, symbol->qty_scale, qty);
    decimal_format_short(price, symbol->price_scale, at);
    decimal_format_short(value, symbol->quote_scale, is);
    snprintf(words, ORDER_WORDS_MAX, "%s at %s is %s %s; ", qty, at, is, symbol->quote);
}

const char *filter_words(const struct symbol *symbol, const struct filter_request *request,
                         enum order_reason reason, char words[static ORDER_WORDS_MAX])
{
    static const struct {
        enum order_reason reason;
        enum filter_rule rule;
    } rules[] = {
        {ORDER_PRICE_FILTER, FILTER_RULE_PRICE},         {ORDER_LOT_SIZE, FILTER_RULE_QTY},
        {ORDER_MARKET_LOT_SIZE, FILTER_RULE_MARKET_QTY}, {ORDER_MIN_NOTIONAL, FILTER_RULE_NOTIONAL},
        {ORDER_MAX_NOTIONAL, FILTER_RULE_NOTIONAL},      {ORDER_PERCENT_PRICE, FILTER_RULE_BAND},
        {ORDER_MAX_NUM_ORDERS, FILTER_RULE_ORDERS},
    };
    int64_t price = request->price > 0 ? request->price : request->stop_price;
    char bounds[ORDER_WORDS_MAX], is[ORDER_WORDS_MAX] = "";

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].reason != reason)
            continue;
        /* a tick is of the refused price, a band of the market's */
        filter_rule_words(symbol, rules[i].rule, request->side,
                          rules[i].rule == FILTER_RULE_PRICE ? price : request->reference, bounds);
        if (!*bounds)
            return NULL;
        if (rules[i].rule == FILTER_RULE_NOTIONAL)
            product(symbol, request, is);
        snprintf(words, ORDER_WORDS_MAX, "%.100s: %.110s%.100s", order_reason_words(reason), is, bounds);
        return words;
    }
    return NULL;
}
