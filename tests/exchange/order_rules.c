/* Every rule of every class, kept and broken: the rows below, and that no rule of the table is without one.
 * With an argument it lists the rules instead, a line each: class, reason, words
 * (tests/exchange/order_rules_docs.py, tests/system/order_rules.py). */
#include "exchange/order_rules.h"

#include <string.h>

#include "exchange/filter.h"
#include "tests/check.h"

#define E9    INT64_C(1000000000)
#define SHARE E9

static struct symbol listed(enum asset_class asset)
{
    return (struct symbol){.name = "X",
                           .venue = "alpaca",
                           .price_scale = 9,
                           .qty_scale = 9,
                           .quote_scale = 8,
                           .trading = true,
                           .asset = asset,
                           .filters = {.tick = asset == ASSET_US_EQUITY ? E9 / 100 : 1, .step = 1}};
}

enum { SINGLE, GROUPED };
enum { SESSION, EXTENDED };

static const struct {
    enum asset_class asset;
    enum order_type type;
    enum order_tif tif;
    int64_t qty, price, stop, notional;
    int grouped, extended;
    enum order_reason reason;
} cases[] = {
    {ASSET_CRYPTO, ORDER_MARKET, ORDER_GTC, 5, 0, 0, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_CRYPTO, ORDER_MARKET, ORDER_IOC, 5, 0, 0, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_CRYPTO, ORDER_MARKET, ORDER_GTC, 5, 0, 0, 77, SINGLE, SESSION, ORDER_OK},
    {ASSET_CRYPTO, ORDER_LIMIT, ORDER_IOC, 5, 1, 0, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_CRYPTO, ORDER_STOP_LIMIT, ORDER_GTC, 5, 123456789, 7, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_CRYPTO, ORDER_STOP, ORDER_GTC, 5, 0, 7, 0, SINGLE, SESSION, ORDER_RULE_TYPE},
    {ASSET_CRYPTO, ORDER_TRAILING_STOP, ORDER_GTC, 5, 0, 0, 0, SINGLE, SESSION, ORDER_RULE_TYPE},
    {ASSET_CRYPTO, ORDER_TAKE_PROFIT, ORDER_GTC, 5, 0, 7, 0, SINGLE, SESSION, ORDER_RULE_TYPE},
    {ASSET_CRYPTO, ORDER_TAKE_PROFIT_LIMIT, ORDER_GTC, 5, 7, 7, 0, SINGLE, SESSION, ORDER_RULE_TYPE},
    {ASSET_CRYPTO, ORDER_MARKET, ORDER_DAY, 5, 0, 0, 0, SINGLE, SESSION, ORDER_RULE_TIF},
    {ASSET_CRYPTO, ORDER_LIMIT, ORDER_FOK, 5, 7, 0, 0, SINGLE, SESSION, ORDER_RULE_TIF},
    {ASSET_CRYPTO, ORDER_LIMIT, ORDER_GTD, 5, 7, 0, 0, SINGLE, SESSION, ORDER_RULE_TIF},
    {ASSET_CRYPTO, ORDER_LIMIT, ORDER_OPG, 5, 7, 0, 0, SINGLE, SESSION, ORDER_RULE_TIF},
    {ASSET_CRYPTO, ORDER_MARKET, ORDER_CLS, 5, 0, 0, 0, SINGLE, SESSION, ORDER_RULE_TIF},
    {ASSET_CRYPTO, ORDER_LIMIT, ORDER_GTC, 5, 7, 0, 0, GROUPED, SESSION, ORDER_RULE_GROUP},
    {ASSET_CRYPTO, ORDER_LIMIT, ORDER_GTC, 5, 7, 0, 0, SINGLE, EXTENDED, ORDER_RULE_EXTENDED_HOURS},
    {ASSET_US_EQUITY, ORDER_MARKET, ORDER_DAY, SHARE, 0, 0, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_MARKET, ORDER_GTC, SHARE, 0, 0, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_MARKET, ORDER_IOC, SHARE, 0, 0, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_MARKET, ORDER_FOK, SHARE, 0, 0, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_MARKET, ORDER_OPG, SHARE, 0, 0, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_MARKET, ORDER_CLS, SHARE, 0, 0, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_LIMIT, ORDER_OPG, SHARE, E9, 0, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_LIMIT, ORDER_CLS, SHARE, E9, 0, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_LIMIT, ORDER_FOK, SHARE, E9, 0, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_STOP, ORDER_GTC, SHARE, 0, E9, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_STOP_LIMIT, ORDER_DAY, SHARE, E9, E9, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_TRAILING_STOP, ORDER_GTC, SHARE, 0, 0, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_TAKE_PROFIT, ORDER_GTC, SHARE, 0, E9, 0, SINGLE, SESSION, ORDER_RULE_TYPE},
    {ASSET_US_EQUITY, ORDER_TAKE_PROFIT_LIMIT, ORDER_DAY, SHARE, E9, E9, 0, SINGLE, SESSION, ORDER_RULE_TYPE},
    {ASSET_US_EQUITY, ORDER_LIMIT, ORDER_GTD, SHARE, E9, 0, 0, SINGLE, SESSION, ORDER_RULE_TIF},
    {ASSET_US_EQUITY, ORDER_STOP, ORDER_IOC, SHARE, 0, E9, 0, SINGLE, SESSION, ORDER_RULE_STOP_TIF},
    {ASSET_US_EQUITY, ORDER_TRAILING_STOP, ORDER_FOK, SHARE, 0, 0, 0, SINGLE, SESSION, ORDER_RULE_STOP_TIF},
    {ASSET_US_EQUITY, ORDER_STOP, ORDER_OPG, SHARE, 0, E9, 0, SINGLE, SESSION, ORDER_RULE_AUCTION_TYPE},
    {ASSET_US_EQUITY, ORDER_STOP_LIMIT, ORDER_CLS, SHARE, E9, E9, 0, SINGLE, SESSION,
     ORDER_RULE_AUCTION_TYPE},
    {ASSET_US_EQUITY, ORDER_LIMIT, ORDER_DAY, SHARE, E9, 0, 0, GROUPED, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_LIMIT, ORDER_GTC, SHARE, E9, 0, 0, GROUPED, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_MARKET, ORDER_IOC, SHARE, 0, 0, 0, GROUPED, SESSION, ORDER_RULE_GROUP},
    {ASSET_US_EQUITY, ORDER_LIMIT, ORDER_DAY, SHARE, E9, 0, 0, SINGLE, EXTENDED, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_LIMIT, ORDER_DAY, SHARE / 2, E9, 0, 0, SINGLE, EXTENDED, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_LIMIT, ORDER_GTC, SHARE, E9, 0, 0, SINGLE, EXTENDED, ORDER_RULE_EXTENDED_HOURS},
    {ASSET_US_EQUITY, ORDER_MARKET, ORDER_DAY, SHARE, 0, 0, 0, SINGLE, EXTENDED, ORDER_RULE_EXTENDED_HOURS},
    {ASSET_US_EQUITY, ORDER_STOP, ORDER_DAY, SHARE, 0, E9, 0, SINGLE, EXTENDED, ORDER_RULE_EXTENDED_HOURS},
    {ASSET_US_EQUITY, ORDER_LIMIT, ORDER_DAY, SHARE, E9, 0, 0, GROUPED, EXTENDED, ORDER_RULE_GROUP},
    {ASSET_US_EQUITY, ORDER_MARKET, ORDER_DAY, SHARE / 2, 0, 0, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_LIMIT, ORDER_DAY, SHARE + 1, E9, 0, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_STOP, ORDER_DAY, 1, 0, E9, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_STOP_LIMIT, ORDER_DAY, 1, E9, E9, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_MARKET, ORDER_DAY, SHARE, 0, 0, 77, SINGLE, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_TRAILING_STOP, ORDER_DAY, SHARE / 2, 0, 0, 0, SINGLE, SESSION,
     ORDER_RULE_FRACTION_TYPE},
    {ASSET_US_EQUITY, ORDER_MARKET, ORDER_GTC, SHARE / 2, 0, 0, 0, SINGLE, SESSION, ORDER_RULE_FRACTION_TIF},
    {ASSET_US_EQUITY, ORDER_MARKET, ORDER_OPG, SHARE / 2, 0, 0, 0, SINGLE, SESSION, ORDER_RULE_FRACTION_TIF},
    {ASSET_US_EQUITY, ORDER_MARKET, ORDER_GTC, SHARE, 0, 0, 77, SINGLE, SESSION, ORDER_RULE_FRACTION_TIF},
    {ASSET_US_EQUITY, ORDER_MARKET, ORDER_DAY, SHARE / 2, 0, 0, 0, GROUPED, SESSION,
     ORDER_RULE_FRACTION_GROUP},
    {ASSET_US_EQUITY, ORDER_LIMIT, ORDER_DAY, SHARE, E9 + E9 / 100, 0, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_LIMIT, ORDER_DAY, SHARE, E9 + E9 / 1000, 0, 0, SINGLE, SESSION,
     ORDER_RULE_PRICE_DECIMALS},
    {ASSET_US_EQUITY, ORDER_LIMIT, ORDER_DAY, SHARE, E9 - E9 / 10000, 0, 0, SINGLE, SESSION, ORDER_OK},
    {ASSET_US_EQUITY, ORDER_LIMIT, ORDER_DAY, SHARE, E9 - E9 / 100000, 0, 0, SINGLE, SESSION,
     ORDER_RULE_PRICE_DECIMALS},
    {ASSET_US_EQUITY, ORDER_STOP, ORDER_DAY, SHARE, 0, 2 * E9 + 1, 0, SINGLE, SESSION,
     ORDER_RULE_PRICE_DECIMALS},
    {ASSET_UNKNOWN, ORDER_TAKE_PROFIT, ORDER_GTD, 1, 0, 1, 0, GROUPED, SESSION, ORDER_OK},
};

static bool tried[ASSET_CLASSES][ORDER_REASONS];

static void try(enum asset_class asset, enum order_reason expected, enum order_reason was)
{
    CHECK_STR(order_reason_name(was), order_reason_name(expected));
    tried[asset][was] = true;
}

static void test_cases(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct symbol symbol = listed(cases[i].asset);
        struct order order = {.type = cases[i].type,
                              .tif = cases[i].tif,
                              .qty = cases[i].qty,
                              .price = cases[i].price,
                              .stop_price = cases[i].stop,
                              .notional = cases[i].notional,
                              .extended_hours = cases[i].extended};
        enum order_reason reason = order_rules_check(&symbol, &order, cases[i].grouped);
        if (reason != cases[i].reason)
            fprintf(stderr, "case %zu\n", i);
        try(cases[i].asset, cases[i].reason, reason);
        /* What is held here is refused by no rule of type, time or group; the others stay. */
        order.emulated = true;
        reason = order_rules_check(&symbol, &order, cases[i].grouped);
        CHECK(!order_rules_holds(reason));
        if (!order_rules_holds(cases[i].reason))
            CHECK_INT(reason, cases[i].reason);
    }
}

static void test_lending(void)
{
    struct symbol crypto = listed(ASSET_CRYPTO), stock = listed(ASSET_US_EQUITY),
                  unknown = listed(ASSET_UNKNOWN);
    try(ASSET_CRYPTO, ORDER_RULE_SHORT, order_rules_lends(&crypto, SHARE));
    try(ASSET_US_EQUITY, ORDER_OK, order_rules_lends(&stock, 3 * SHARE));
    try(ASSET_US_EQUITY, ORDER_RULE_SHORT_FRACTION, order_rules_lends(&stock, SHARE / 2));
    stock.easy_to_borrow = SYMBOL_SAYS_NO;
    try(ASSET_US_EQUITY, ORDER_RULE_EASY_TO_BORROW, order_rules_lends(&stock, SHARE));
    stock.easy_to_borrow = stock.shortable = SYMBOL_SAYS_YES;
    try(ASSET_US_EQUITY, ORDER_OK, order_rules_lends(&stock, SHARE));
    stock.shortable = SYMBOL_SAYS_NO;
    try(ASSET_US_EQUITY, ORDER_RULE_SHORTABLE, order_rules_lends(&stock, SHARE));
    CHECK_INT(order_rules_lends(&unknown, 1), ORDER_OK);
}

/* 2025-11-28, a half day in winter, and a day in summer: 09:30 in New York is 14:30Z, and 13:30Z. */
static void test_late(void)
{
    const int64_t minute = 60 * E9, midnight = INT64_C(1764288000) * E9, july = INT64_C(1751328000) * E9;
    struct symbol stock = listed(ASSET_US_EQUITY);
    const struct order_rules *rules = order_rules_of(&stock);
    int64_t open = midnight + 870 * minute, close = midnight + 1080 * minute;
    int32_t day;
    CHECK(!order_rules_late(rules, ORDER_OPG, open - 2 * minute, open, false));
    CHECK(order_rules_late(rules, ORDER_OPG, open - 2 * minute + 1, open, false));
    CHECK(order_rules_late(rules, ORDER_OPG, open, 0, true));
    CHECK(!order_rules_late(rules, ORDER_CLS, close - 10 * minute, close, true));
    CHECK(order_rules_late(rules, ORDER_CLS, close - 10 * minute + 1, close, true));
    /* From 19:00 on, which is midnight UTC in winter and 23:00Z in summer, for the next day. */
    CHECK(order_rules_late(rules, ORDER_CLS, midnight + 1440 * minute - 1, 0, true));
    CHECK(!order_rules_late(rules, ORDER_CLS, midnight + 1440 * minute, 0, true));
    CHECK(!order_rules_late(rules, ORDER_OPG, close + 60 * minute, 0, false));
    CHECK(order_rules_late(rules, ORDER_OPG, july + 23 * 60 * minute - 1, 0, true));
    CHECK(!order_rules_late(rules, ORDER_OPG, july + 23 * 60 * minute, 0, true));
    CHECK_INT(order_rules_minute(rules, open, &day), 570);
    CHECK_INT(day, 20420);
    CHECK_INT(order_rules_minute(rules, midnight, &day), 19 * 60);
    CHECK_INT(day, 20419);
    tried[ASSET_US_EQUITY][ORDER_RULE_OPG_LATE] = tried[ASSET_US_EQUITY][ORDER_RULE_CLS_LATE] = true;
}

static void test_ticks(void)
{
    struct symbol stock = listed(ASSET_US_EQUITY), crypto = listed(ASSET_CRYPTO);
    crypto.filters.tick = 5;
    CHECK_INT(order_rules_tick(&stock, E9), E9 / 100);
    CHECK_INT(order_rules_tick(&stock, E9 - 1), E9 / 10000);
    CHECK_INT(order_rules_tick(&crypto, E9 - 1), 5);
    CHECK_INT(filter_floor_price(&stock, 2 * E9 - 1), 2 * E9 - E9 / 100);
    CHECK_INT(filter_floor_price(&stock, E9 / 2 + 1), E9 / 2);
    CHECK_INT(filter_ceil_price(&stock, E9 / 2 + 1), E9 / 2 + E9 / 10000);
    CHECK_INT(filter_ceil_price(&stock, E9 - 1), E9);
    stock.venue[0] = '\0'; /* a file's */
    CHECK_INT(order_rules_tick(&stock, E9 / 2), E9 / 100);
    CHECK(order_rules_of(&stock) == NULL);
}

/* DAY and GTD that the venue does not have are sent as GTC; the others as they are. */
static void test_sent(void)
{
    struct symbol stock = listed(ASSET_US_EQUITY), coin = listed(ASSET_UNKNOWN);
    snprintf(coin.venue, sizeof coin.venue, "binance");
    for (int tif = 0; tif < ORDER_TIFS; tif++) {
        struct order order = {.type = ORDER_LIMIT, .tif = (enum order_tif)tif};
        CHECK_INT(order_rules_sent(&coin, &order), tif == ORDER_DAY || tif == ORDER_GTD ? ORDER_GTC : tif);
        CHECK_INT(order_rules_sent(&stock, &order), tif == ORDER_GTD ? ORDER_GTC : tif);
        order.type = ORDER_STOP;
        CHECK_INT(order_rules_sent(&stock, &order), tif == ORDER_GTD ? ORDER_GTC : tif);
    }
}

static void test_defaults(void)
{
    struct symbol stock = listed(ASSET_US_EQUITY), crypto = listed(ASSET_CRYPTO),
                  unknown = listed(ASSET_UNKNOWN);
    CHECK_INT(order_rules_tif(&stock, SHARE, false, false), ORDER_GTC);
    CHECK_INT(order_rules_tif(&stock, SHARE / 2, false, false), ORDER_DAY);
    CHECK_INT(order_rules_tif(&stock, 0, true, false), ORDER_DAY);
    CHECK_INT(order_rules_tif(&stock, SHARE, false, true), ORDER_DAY);
    CHECK_INT(order_rules_tif(&crypto, SHARE / 2, true, false), ORDER_GTC);
    CHECK_INT(order_rules_tif(&unknown, SHARE / 2, true, true), ORDER_GTC);
}

/* Each rule was broken above, and its words begin with the name of its row. */
static void test_complete(void)
{
    const struct order_rule *rule;
    size_t n = 0;
    for (; (rule = order_rules_rule(n)); n++) {
        struct symbol symbol = listed(rule->of->asset);
        if (!tried[rule->of->asset][rule->reason])
            fprintf(stderr, "%s: %s has no case\n", rule->of->name, order_reason_name(rule->reason));
        CHECK(tried[rule->of->asset][rule->reason]);
        CHECK(strncmp(rule->words, rule->of->name, strlen(rule->of->name)) == 0);
        CHECK_STR(order_rules_words(&symbol, rule->reason), rule->words);
    }
    CHECK(n > 0);
    for (int asset = 0; asset < ASSET_CLASSES; asset++)
        for (int reason = ORDER_RULE_TYPE; reason < ORDER_REASONS; reason++) {
            struct symbol symbol = listed((enum asset_class)asset);
            CHECK(!tried[asset][reason] || order_rules_words(&symbol, (enum order_reason)reason));
        }
}

int main(int argc, char **argv)
{
    const struct order_rule *rule;
    (void)argv;
    for (size_t i = 0; argc > 1 && (rule = order_rules_rule(i)); i++)
        printf("%s\t%s\t%s\n", rule->of->name, order_reason_name(rule->reason), rule->words);
    if (argc > 1)
        return 0;
    test_cases();
    test_lending();
    test_late();
    test_ticks();
    test_defaults();
    test_sent();
    test_complete();
    return check_done("exchange/order_rules");
}
