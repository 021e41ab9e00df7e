/* The orders that Alpaca takes, by class of assets: "Placing Orders", "Fractional Trading", "Crypto Orders"
 * and "Margin and Short Selling" at docs.alpaca.markets/docs, read in November 2026. */
#include "exchange/order_rules.h"

#include "exchange/alpaca/calendar.h"
#include "exchange/alpaca/format.h"

enum { CRYPTO, STOCKS };

enum {
    GTC = ORDER_SET(ORDER_GTC),
    IOC = ORDER_SET(ORDER_IOC),
    FOK = ORDER_SET(ORDER_FOK),
    DAY = ORDER_SET(ORDER_DAY),
    OPG = ORDER_SET(ORDER_OPG),
    CLS = ORDER_SET(ORDER_CLS),
};

static const struct order_rules rows[] = {
    [CRYPTO] =
        {
            .venue = "alpaca",
            .asset = ASSET_CRYPTO,
            .name = "alpaca crypto",
            .tifs = {[ORDER_MARKET] = GTC | IOC, [ORDER_LIMIT] = GTC | IOC, [ORDER_STOP_LIMIT] = GTC | IOC},
            .tif = ORDER_GTC,
            .part_tif = ORDER_GTC,
        },
    [STOCKS] =
        {
            .venue = "alpaca",
            .asset = ASSET_US_EQUITY,
            .name = "alpaca us_equity",
            .tifs = {[ORDER_MARKET] = DAY | GTC | OPG | CLS | IOC | FOK,
                     [ORDER_LIMIT] = DAY | GTC | OPG | CLS | IOC | FOK,
                     [ORDER_STOP] = DAY | GTC,
                     [ORDER_STOP_LIMIT] = DAY | GTC,
                     [ORDER_TRAILING_STOP] = DAY | GTC},
            .fractional_types = ORDER_SET(ORDER_MARKET) | ORDER_SET(ORDER_LIMIT) | ORDER_SET(ORDER_STOP) |
                                ORDER_SET(ORDER_STOP_LIMIT),
            .fractional_tifs = DAY,
            .group_tifs = DAY | GTC,
            .extended_hours = true,
            .shorts = true,
            .decimals = true,
            .opg_s = 120,
            .cls_s = 600,
            .auction_hour = 19,
            .zone_name = "New York",
            .zone = &alpaca_eastern,
            .tif = ORDER_GTC,
            .part_tif = ORDER_DAY,
        },
};

static const struct order_rule rules[] = {
    {&rows[CRYPTO], ORDER_RULE_TYPE, "alpaca crypto takes market, limit and stop-limit orders only"},
    {&rows[CRYPTO], ORDER_RULE_TIF, "alpaca crypto takes gtc and ioc only"},
    {&rows[CRYPTO], ORDER_RULE_GROUP, "alpaca crypto takes simple orders only, no oco and no bracket"},
    {&rows[CRYPTO], ORDER_RULE_EXTENDED_HOURS,
     "alpaca crypto trades at all hours: extended hours are of stocks"},
    {&rows[CRYPTO], ORDER_RULE_SHORT, "alpaca crypto is not sold short"},
    {&rows[STOCKS], ORDER_RULE_TYPE,
     "alpaca us_equity takes market, limit, stop, stop-limit and trailing-stop orders only"},
    {&rows[STOCKS], ORDER_RULE_TIF, "alpaca us_equity takes day, gtc, opg, cls, ioc and fok only"},
    {&rows[STOCKS], ORDER_RULE_STOP_TIF, "alpaca us_equity takes stops with day and gtc only"},
    {&rows[STOCKS], ORDER_RULE_AUCTION_TYPE,
     "alpaca us_equity takes market and limit orders only with opg and cls"},
    {&rows[STOCKS], ORDER_RULE_OPG_LATE,
     "alpaca us_equity takes opg until 2 minutes before the open (09:28 New York), and again from 19:00"},
    {&rows[STOCKS], ORDER_RULE_CLS_LATE,
     "alpaca us_equity takes cls until 10 minutes before the close (15:50 New York on a full day), and again from 19:00"},
    {&rows[STOCKS], ORDER_RULE_GROUP,
     "alpaca us_equity takes oco and bracket with day and gtc only, in the session"},
    {&rows[STOCKS], ORDER_RULE_EXTENDED_HOURS,
     "alpaca us_equity takes extended hours of limit orders with day only"},
    {&rows[STOCKS], ORDER_RULE_FRACTION_TYPE,
     "alpaca us_equity takes fractions and amounts of market, limit, stop and stop-limit orders only"},
    {&rows[STOCKS], ORDER_RULE_FRACTION_TIF, "alpaca us_equity takes fractions and amounts with day only"},
    {&rows[STOCKS], ORDER_RULE_FRACTION_GROUP,
     "alpaca us_equity takes fractions and amounts as simple orders only, no oco and no bracket"},
    {&rows[STOCKS], ORDER_RULE_SHORT_FRACTION,
     "alpaca us_equity lends whole shares only: a short is of such"},
    {&rows[STOCKS], ORDER_RULE_SHORTABLE, "alpaca us_equity: this stock is not shortable"},
    {&rows[STOCKS], ORDER_RULE_EASY_TO_BORROW,
     "alpaca us_equity lends what is easy to borrow only, and this stock is not"},
    {&rows[STOCKS], ORDER_RULE_PRICE_DECIMALS,
     "alpaca us_equity takes prices with 2 decimals from 1.00 on, and with 4 below"},
};

const struct order_rules_table alpaca_orders = {
    rows,
    sizeof rows / sizeof *rows,
    rules,
    sizeof rules / sizeof *rules,
};
