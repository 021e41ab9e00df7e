#include "exchange/order_rules.h"

#include <string.h>

#include "exchange/clock.h"
#include "exchange/decimal.h"
#include "exchange/filter.h"
#include "exchange/venue_format.h"

#define SECOND_NS INT64_C(1000000000)

const struct order_rules *order_rules_row(size_t i)
{
    const struct venue_format *format;
    for (size_t v = 0; (format = venue_format(v)); v++) {
        if (format->orders && i < format->orders->n)
            return &format->orders->rows[i];
        i -= format->orders ? format->orders->n : 0;
    }
    return NULL;
}

const struct order_rules *order_rules_of(const struct symbol *symbol)
{
    const struct order_rules *row;
    for (size_t i = 0; symbol->asset != ASSET_UNKNOWN && (row = order_rules_row(i)); i++)
        if (row->asset == symbol->asset && strcmp(row->venue, symbol->venue) == 0)
            return row;
    return NULL;
}

int64_t order_rules_whole(const struct symbol *symbol)
{
    return decimal_pow10(symbol->qty_scale);
}

struct fill_lot order_rules_lot(const struct symbol *symbol, int64_t qty)
{
    struct fill_lot lot = filter_lot(symbol);
    const struct order_rules *rules = order_rules_of(symbol);
    int64_t whole = order_rules_whole(symbol);
    if (!rules || rules->fractional_tifs == 0 || qty % whole != 0 || lot.step >= whole)
        return lot;
    lot.step = whole;
    lot.min = (lot.min + whole - 1) / whole * whole;
    return lot;
}

/* The step of prices with 2 decimals from 1.00 on, 4 below; 0: the scale has no 4. */
static int64_t decimals_step(int64_t unit, int64_t price)
{
    return unit < 10000 ? 0 : price >= unit ? unit / 100 : unit / 10000;
}

int64_t order_rules_tick(const struct symbol *symbol, int64_t price)
{
    const struct order_rules *rules = order_rules_of(symbol);
    int64_t unit = decimal_pow10(symbol->price_scale), tick = symbol->filters.tick;
    int64_t step = rules && rules->decimals ? decimals_step(unit, price) : 0;
    return step > 0 && (price < unit || tick < step) ? step : tick;
}

static bool between_decimals(const struct symbol *symbol, int64_t price)
{
    int64_t step = decimals_step(decimal_pow10(symbol->price_scale), price);
    return price > 0 && step > 0 && price % step != 0;
}

/* The prices that the venue is sent: a trailing stop's moves by itself, and is on the tick. */
static bool bad_decimals(const struct symbol *symbol, const struct order *order)
{
    bool stop = order_is_stop(order->type) && order->type != ORDER_TRAILING_STOP;
    return (order_has_limit(order->type) && between_decimals(symbol, order->price)) ||
           (stop && between_decimals(symbol, order->stop_price));
}

static enum order_reason check_tif(const struct order_rules *rules, const struct order *order)
{
    if (rules->tifs[order->type] == 0)
        return ORDER_RULE_TYPE;
    if (rules->tifs[order->type] & ORDER_SET(order->tif))
        return ORDER_OK;
    if ((rules->tifs[ORDER_LIMIT] & ORDER_SET(order->tif)) == 0)
        return ORDER_RULE_TIF;
    return order_is_of_auction(order->tif) ? ORDER_RULE_AUCTION_TYPE : ORDER_RULE_STOP_TIF;
}

static enum order_reason check_fraction(const struct order_rules *rules, const struct symbol *symbol,
                                        const struct order *order, bool grouped)
{
    bool fraction = order->notional > 0 || order->qty % order_rules_whole(symbol) != 0;
    if (rules->fractional_tifs == 0 || !fraction)
        return ORDER_OK;
    if (grouped)
        return ORDER_RULE_FRACTION_GROUP;
    if ((rules->fractional_types & ORDER_SET(order->type)) == 0)
        return ORDER_RULE_FRACTION_TYPE;
    return rules->fractional_tifs & ORDER_SET(order->tif) ? ORDER_OK : ORDER_RULE_FRACTION_TIF;
}

enum order_reason order_rules_short(const struct symbol *symbol)
{
    const struct order_rules *rules = order_rules_of(symbol);
    if (!rules)
        return ORDER_OK;
    if (!rules->shorts)
        return ORDER_RULE_SHORT;
    if (symbol->shortable == SYMBOL_SAYS_NO)
        return ORDER_RULE_SHORTABLE;
    return symbol->easy_to_borrow == SYMBOL_SAYS_NO ? ORDER_RULE_EASY_TO_BORROW : ORDER_OK;
}

enum order_reason order_rules_lends(const struct symbol *symbol, int64_t qty)
{
    enum order_reason reason = order_rules_short(symbol);
    if (reason == ORDER_OK && order_rules_of(symbol) && qty % order_rules_whole(symbol) != 0)
        return ORDER_RULE_SHORT_FRACTION;
    return reason;
}

static bool extends(const struct order_rules *rules, const struct order *order)
{
    return rules->extended_hours && order->type == ORDER_LIMIT && order->tif == ORDER_DAY;
}

static bool groups(const struct order_rules *rules, const struct order *order)
{
    return (rules->group_tifs & ORDER_SET(order->tif)) && !order->extended_hours;
}

enum order_reason order_rules_check(const struct symbol *symbol, const struct order *order, bool grouped)
{
    const struct order_rules *rules = order_rules_of(symbol);
    if (!rules)
        return ORDER_OK;
    enum order_reason reason = check_tif(rules, order);
    if (reason == ORDER_OK && order->extended_hours && !extends(rules, order))
        reason = ORDER_RULE_EXTENDED_HOURS;
    if (reason == ORDER_OK && grouped && !groups(rules, order))
        reason = ORDER_RULE_GROUP;
    if (reason == ORDER_OK)
        reason = check_fraction(rules, symbol, order, grouped);
    if (order->emulated && order_rules_holds(reason))
        reason = ORDER_OK;
    if (reason == ORDER_OK && rules->decimals && bad_decimals(symbol, order))
        reason = ORDER_RULE_PRICE_DECIMALS;
    return reason;
}

bool order_rules_holds(enum order_reason reason)
{
    switch (reason) {
    case ORDER_RULE_TYPE:
    case ORDER_RULE_TIF:
    case ORDER_RULE_STOP_TIF:
    case ORDER_RULE_GROUP:
    case ORDER_RULE_FRACTION_TYPE:
    case ORDER_RULE_FRACTION_TIF:
    case ORDER_RULE_FRACTION_GROUP:
        return true;
    default:
        return false;
    }
}

int order_rules_minute(const struct order_rules *rules, int64_t ns, int32_t *ret_day)
{
    int64_t s = clock_whole_s(ns);
    s += zone_rule_offset(rules->zone, s);
    int64_t day = s / 86400 - (s % 86400 < 0);
    *ret_day = (int32_t)day;
    return (int)((s - day * 86400) / 60);
}

bool order_rules_late(const struct order_rules *rules, enum order_tif tif, int64_t now_ns, int64_t auction_ns,
                      bool day_over)
{
    int32_t day;
    int before_s = tif == ORDER_OPG ? rules->opg_s : rules->cls_s;
    if (auction_ns > 0 && now_ns < auction_ns)
        return now_ns > auction_ns - before_s * SECOND_NS;
    return day_over && order_rules_minute(rules, now_ns, &day) < rules->auction_hour * 60;
}

enum order_tif order_rules_tif(const struct symbol *symbol, int64_t qty, bool by_amount, bool extended_hours)
{
    const struct order_rules *rules = order_rules_of(symbol);
    if (!rules)
        return ORDER_GTC;
    return by_amount || extended_hours || qty % order_rules_whole(symbol) != 0 ? rules->part_tif : rules->tif;
}

enum order_tif order_rules_sent(const struct symbol *symbol, const struct order *order)
{
    const struct order_rules *rules = order_rules_of(symbol);
    bool ends = order->tif == ORDER_DAY || order->tif == ORDER_GTD;
    bool ends_there = rules && (rules->tifs[order->type] & ORDER_SET(order->tif));
    return ends && !ends_there ? ORDER_GTC : order->tif;
}

const struct order_rule *order_rules_rule(size_t i)
{
    const struct venue_format *format;
    for (size_t v = 0; (format = venue_format(v)); v++) {
        if (format->orders && i < format->orders->n_rules)
            return &format->orders->rules[i];
        i -= format->orders ? format->orders->n_rules : 0;
    }
    return NULL;
}

const char *order_rules_words(const struct symbol *symbol, enum order_reason reason)
{
    const struct order_rules *rules = order_rules_of(symbol);
    const struct order_rule *rule;
    for (size_t i = 0; rules && (rule = order_rules_rule(i)); i++)
        if (rule->of == rules && rule->reason == reason)
            return rule->words;
    return NULL;
}
