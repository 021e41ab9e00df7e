#include "exchange/margin.h"

#include "exchange/fill_rules.h"

enum {
    SHORT_E4 = 3000,   /* of a short's value, from LOW_DOLLARS a share on … */
    SHORT_CENTS = 500, /* … or so much a share */
    LOW_E4 = 10000,    /* and below */
    LOW_CENTS = 250,
    LOW_DOLLARS = 5,
    PATTERN_PERCENT = 6,
    HOURS_A_YEAR = 8760,
};

const char *const margin_kind_names[MARGIN_KINDS] = {"off", "regt", "intraday"};
const char *const margin_day_trader_names[DAY_TRADER_RULES] = {"auto", "on", "off"};
const char *const margin_settlement_names[SETTLEMENT_RULES] = {"off", "by-date", "strict"};

static int64_t clamped(__int128 value)
{
    return value > FILL_MONEY_MAX ? FILL_MONEY_MAX : (int64_t)value;
}

int64_t margin_share(int64_t value, int share_e4)
{
    return clamped(((__int128)value * share_e4 + 9999) / 10000);
}

int64_t margin_interest(int64_t value, int32_t rate_e6, int64_t hours)
{
    __int128 year = (__int128)1000000 * HOURS_A_YEAR;
    return clamped(((__int128)value * rate_e6 * hours + year - 1) / year);
}

int64_t margin_short_budget(int64_t cash, int32_t collateral_e4)
{
    int32_t beyond_e4 = collateral_e4 - 10000;
    return beyond_e4 > 10000 ? (int64_t)((__int128)cash * 10000 / beyond_e4) : cash;
}

static int64_t cents_a_share(const struct margin_holding *holding, int cents)
{
    __int128 of = (__int128)100 * holding->share;
    return clamped(((__int128)holding->qty * cents * holding->quote_dollar + of - 1) / of);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t margin_maintenance(const struct margin_holding *holding)
{
    if (!holding->marginable)
        return holding->value;
    if (!holding->is_short)
        return margin_share(holding->value, MARGIN_LONG_E4);
    bool low = holding->price < LOW_DOLLARS * holding->price_dollar;
    return larger(margin_share(holding->value, low ? LOW_E4 : SHORT_E4),
                  cents_a_share(holding, low ? LOW_CENTS : SHORT_CENTS));
}

int64_t margin_initial(const struct margin_holding *holding)
{
    int64_t least = margin_maintenance(holding);
    return holding->marginable ? larger(margin_share(holding->value, MARGIN_INITIAL_E4), least) : least;
}

int margin_settlement_days(int64_t day)
{
    return day >= MARGIN_ONE_DAY_FROM ? 1 : day >= MARGIN_TWO_DAYS_FROM ? 2 : 3;
}

bool margin_day_trader_rule_holds(enum day_trader_rule rule, int64_t day)
{
    return rule == DAY_TRADER_ON || (rule == DAY_TRADER_AUTO && day < MARGIN_INTRADAY_FROM);
}

bool margin_intraday_holds(enum margin_kind kind, int64_t day)
{
    return kind == MARGIN_INTRADAY && day >= MARGIN_INTRADAY_FROM;
}

bool margin_is_pattern(int64_t day_trades, int64_t trades)
{
    return day_trades >= MARGIN_DAY_TRADES && 100 * day_trades > PATTERN_PERCENT * trades;
}
