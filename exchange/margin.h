/* The rules of an account for US stocks, by date: what must be held for a position, who may day-trade, when a
 * sale is paid. Pure arithmetic over integers; days are numbers since 1970-01-01 in the exchange's zone.
 *
 *   initial      Regulation T, 12 CFR 220.12(a): 50 % of the value of what is held long; (c): 150 % of a
 *                short's value, of which its proceeds are 100 %. FINRA Rule 4210(b): never less than the
 *                maintenance.
 *   maintenance  FINRA Rule 4210(c): 25 % of what is held long; of a short $5 a share or 30 % of its value,
 *                whichever is more, from $5 a share on, and $2.50 a share or 100 % below.
 *   credit       FINRA Rule 4210(b): none for an account of less than $2,000.
 *   day trades   FINRA Rule 4210(f)(8)(B), until 2026-06-03: four or more in five business days, and more
 *                than 6 % of all trades in them, make a pattern day trader, who needs $25,000 and may then
 *                open four times what his equity exceeds the maintenance by. They are counted by changes of
 *                direction (Regulatory Notice 21-13).
 *   intraday     FINRA Rule 4210(d)(2), from 2026-06-04, in its place: no order may make the equity less
 *                than the maintenance within the day, which is four times the excess again (Regulatory
 *                Notice 26-10; SR-FINRA-2025-017, SEC Release 34-105226, 91 FR 20731).
 *   settlement   SEC Rule 15c6-1: three business days after the trade; two from 2017-09-05 (SEC Release
 *                34-80295); one from 2024-05-28 (34-96930).
 *
 * What has no calendar (crypto) is no margin security: all of its value is needed, and it settles at once. */
#ifndef EXCHANGE_MARGIN_H
#define EXCHANGE_MARGIN_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MARGIN_TWO_DAYS_FROM = 17414, /* 2017-09-05 */
    MARGIN_ONE_DAY_FROM = 19871,  /* 2024-05-28 */
    MARGIN_INTRADAY_FROM = 20608, /* 2026-06-04 */
    MARGIN_INITIAL_E4 = 5000,
    MARGIN_LONG_E4 = 2500,
    MARGIN_LEAST_EQUITY = 2000,       /* dollars */
    MARGIN_DAY_TRADER_EQUITY = 25000, /* dollars */
    MARGIN_DAY_TRADES = 4,
    MARGIN_DAY_TRADE_DAYS = 5, /* business days, this one included */
};

/* What an account may buy with: its cash; a loan by Regulation T; within the day, by the maintenance. */
enum margin_kind { MARGIN_OFF, MARGIN_REGT, MARGIN_INTRADAY, MARGIN_KINDS };
extern const char *const margin_kind_names[MARGIN_KINDS]; /* "off", "regt", "intraday" */

/* Whether the pattern day trader's rule holds: until 2026-06-03; always, for one who is one; never. */
enum day_trader_rule { DAY_TRADER_AUTO, DAY_TRADER_ON, DAY_TRADER_OFF, DAY_TRADER_RULES };
extern const char *const margin_day_trader_names[DAY_TRADER_RULES]; /* "auto", "on", "off" */

/* When a sale's proceeds are settled: at once; by the date; and until then they buy nothing. */
enum settlement_rule { SETTLEMENT_OFF, SETTLEMENT_BY_DATE, SETTLEMENT_STRICT, SETTLEMENT_RULES };
extern const char *const margin_settlement_names[SETTLEMENT_RULES]; /* "off", "by-date", "strict" */

/* A position, or what one would be. */
struct margin_holding {
    bool marginable; /* a stock */
    bool is_short;
    int64_t value;        /* >= 0, quote_scale; a short's rounded up */
    int64_t qty;          /* >= 0, qty_scale */
    int64_t price;        /* price_scale */
    int64_t price_dollar; /* 10^price_scale */
    int64_t quote_dollar; /* 10^quote_scale */
    int64_t share;        /* 10^qty_scale */
};

/* That share of a value >= 0, rounded up; at most FILL_MONEY_MAX. */
int64_t margin_share(int64_t value, int share_e4);

/* The interest on what is borrowed, for so many hours at a rate a year of 365 days, rounded up; at most
 * FILL_MONEY_MAX. */
int64_t margin_interest(int64_t value, int32_t rate_e6, int64_t hours);

/* The most that may be sold short for so much free cash, where a short needs that share of its value: the
 * proceeds are there for the first 100 %, and the cash for what is beyond, once that is more than the value.
 */
int64_t margin_short_budget(int64_t cash, int32_t collateral_e4);

/* The equity that it needs to be opened, and to be kept, rounded up: quote_scale. */
int64_t margin_initial(const struct margin_holding *holding);
int64_t margin_maintenance(const struct margin_holding *holding);

/* Business days from the trade to the settlement. */
int margin_settlement_days(int64_t day);

/* Does the rule hold on that day? */
bool margin_day_trader_rule_holds(enum day_trader_rule rule, int64_t day);
bool margin_intraday_holds(enum margin_kind kind, int64_t day);

/* Are these a pattern day trader's, of MARGIN_DAY_TRADE_DAYS business days? */
bool margin_is_pattern(int64_t day_trades, int64_t trades);

#endif
