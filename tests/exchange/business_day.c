/* Business days by a small calendar, around its range, and without one; and the rules of exchange/margin.h at
 * their edges, by hand. */
#include "exchange/business_day.h"
#include "exchange/margin.h"
#include "tests/check.h"

#define HOUR_NS (3600 * INT64_C(1000000000))

enum { MONDAY = 20605 }; /* 2026-06-01, in New York four hours behind */

static struct trading_day day_of(int64_t date)
{
    int64_t at = (date * 24 + 4) * HOUR_NS;
    return (struct trading_day){at + 4 * HOUR_NS, at + 9 * HOUR_NS, at + 16 * HOUR_NS, at + 20 * HOUR_NS};
}

/* Monday, Tuesday, Thursday; Wednesday is a holiday, and Friday is not known. */
static void test_days(void)
{
    const struct trading_day days[] = {day_of(MONDAY), day_of(MONDAY + 1), day_of(MONDAY + 3)};
    const struct trading_calendar calendar = {
        .days = days, .n = 3, .from_ns = days[0].early_ns, .to_ns = days[2].late_ns};
    int64_t begin_ns;
    CHECK_INT(business_day_of(&calendar, days[0].late_ns - 1), MONDAY); /* Tuesday by UTC */
    CHECK_INT(business_day_of(&calendar, days[0].late_ns), MONDAY + 1);
    CHECK_INT(business_day_of(&calendar, days[1].late_ns), MONDAY + 3);
    CHECK_INT(business_day_of(&calendar, days[2].late_ns), MONDAY + 4);
    CHECK_INT(business_day_after(&calendar, MONDAY, 2, &begin_ns), MONDAY + 3);
    CHECK_INT(begin_ns, days[2].early_ns);
    CHECK_INT(business_day_after(&calendar, MONDAY + 3, 2, &begin_ns), MONDAY + 7); /* Friday, Monday */
    CHECK_INT(begin_ns, (MONDAY + 7) * 24 * HOUR_NS);
    CHECK_INT(business_day_after(&calendar, MONDAY + 3, -2, &begin_ns), MONDAY);
    CHECK_INT(business_day_after(&calendar, MONDAY + 3, -3, &begin_ns), MONDAY - 3);
    CHECK_INT(business_day_end(&calendar, MONDAY + 1), days[1].late_ns);
}

static void test_without_calendar(void)
{
    const struct trading_calendar none = {0};
    int64_t begin_ns;
    CHECK_INT(business_day_of(&none, (MONDAY + 4) * 24 * HOUR_NS), MONDAY + 4);
    CHECK_INT(business_day_of(&none, (MONDAY + 5) * 24 * HOUR_NS), MONDAY + 7); /* Saturday */
    CHECK_INT(business_day_of(&none, -1), -1);                                  /* 1969-12-31, a Wednesday */
    CHECK_INT(business_day_after(&none, MONDAY + 4, 1, &begin_ns), MONDAY + 7);
    CHECK_INT(business_day_after(&none, MONDAY, -1, &begin_ns), MONDAY - 3);
}

/* 2025-10-13 and 2025-11-11; 2018-11-12, since the 11th is a Sunday; on a Saturday, as in 2023, there is
 * none. */
static void test_settlement(void)
{
    enum { COLUMBUS = 20374, VETERANS = 20403, OBSERVED = 17847, SATURDAY = 19672 };
    const struct trading_calendar none = {0};
    int64_t begin_ns;
    CHECK_INT(business_day_settles(&none, COLUMBUS - 3, 1, &begin_ns), COLUMBUS + 1);
    CHECK_INT(begin_ns, (COLUMBUS + 1) * 24 * HOUR_NS);
    CHECK_INT(business_day_settles(&none, COLUMBUS, 1, &begin_ns), COLUMBUS + 1);
    CHECK_INT(business_day_settles(&none, COLUMBUS - 4, 3, &begin_ns), COLUMBUS + 2);
    CHECK_INT(business_day_settles(&none, VETERANS - 1, 2, &begin_ns), VETERANS + 2);
    CHECK_INT(business_day_settles(&none, OBSERVED - 3, 2, &begin_ns), OBSERVED + 2);
    CHECK_INT(business_day_settles(&none, SATURDAY - 2, 1, &begin_ns), SATURDAY - 1);
    int n = 0;
    for (int64_t day = 10957; day < 10957 + 28 * 365 + 7; day++) /* 2000 to 2027 */
        n += business_day_without_banks(day);
    CHECK_INT(n, 28 + 28 + 4); /* and 2001, 2007, 2012 and 2018, whose 11th is a Sunday */
}

static struct margin_holding shares(int64_t qty, int64_t price)
{
    bool is_short = qty < 0;
    int64_t size = is_short ? -qty : qty;
    return (struct margin_holding){.marginable = true,
                                   .is_short = is_short,
                                   .value = size * price,
                                   .qty = size,
                                   .price = price,
                                   .price_dollar = 100,
                                   .quote_dollar = 100,
                                   .share = 1};
}

static void test_requirements(void)
{
    const struct {
        int64_t qty, price, initial, maintenance; /* cents */
    } cases[] = {
        {100, 10000, 500000, 250000}, {3, 333, 500, 250},         {-100, 10000, 500000, 300000},
        {-100, 1000, 50000, 50000},   {-100, 1666, 83300, 50000}, {-100, 1667, 83350, 50010},
        {-100, 500, 50000, 50000},    {-100, 499, 49900, 49900},  {-100, 249, 25000, 25000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct margin_holding held = shares(cases[i].qty, cases[i].price);
        CHECK_INT(margin_initial(&held), cases[i].initial);
        CHECK_INT(margin_maintenance(&held), cases[i].maintenance);
    }
    struct margin_holding coin = shares(2, 700);
    coin.marginable = false;
    CHECK_INT(margin_initial(&coin), 1400);
    CHECK_INT(margin_maintenance(&coin), 1400);
}

static void test_dates(void)
{
    CHECK_INT(margin_settlement_days(MARGIN_TWO_DAYS_FROM - 1), 3);
    CHECK_INT(margin_settlement_days(MARGIN_TWO_DAYS_FROM), 2);
    CHECK_INT(margin_settlement_days(MARGIN_ONE_DAY_FROM - 1), 2);
    CHECK_INT(margin_settlement_days(MARGIN_ONE_DAY_FROM), 1);
    CHECK_INT(MARGIN_INTRADAY_FROM, MONDAY + 3);
    CHECK(margin_day_trader_rule_holds(DAY_TRADER_AUTO, MARGIN_INTRADAY_FROM - 1));
    CHECK(!margin_day_trader_rule_holds(DAY_TRADER_AUTO, MARGIN_INTRADAY_FROM));
    CHECK(margin_day_trader_rule_holds(DAY_TRADER_ON, MARGIN_INTRADAY_FROM));
    CHECK(!margin_day_trader_rule_holds(DAY_TRADER_OFF, 0));
    CHECK(!margin_intraday_holds(MARGIN_INTRADAY, MARGIN_INTRADAY_FROM - 1));
    CHECK(margin_intraday_holds(MARGIN_INTRADAY, MARGIN_INTRADAY_FROM));
    CHECK(!margin_intraday_holds(MARGIN_REGT, MARGIN_INTRADAY_FROM));
    CHECK(!margin_is_pattern(3, 6));
    CHECK(margin_is_pattern(4, 66)); /* 6.06 % */
    CHECK(!margin_is_pattern(4, 67));
    CHECK(!margin_is_pattern(6, 100)); /* 6 % is not more */
}

/* 1000 at 5 % a year of 8760 hours, in units of 10^-8; what a short may be for 1000 of cash. */
static void test_shorts(void)
{
    const int64_t value = 1000 * INT64_C(100000000);
    CHECK_INT(margin_interest(value, 50000, 8760), 50 * INT64_C(100000000));
    CHECK_INT(margin_interest(value, 50000, 1), 570777); /* 570776.26, rounded up */
    CHECK(margin_interest(0, 50000, 24) == 0 && margin_interest(value, 0, 24) == 0);
    CHECK_INT(margin_interest(INT64_MAX / 4, 1000000, 87600), INT64_MAX / 4);
    CHECK_INT(margin_short_budget(1000, 10000), 1000);
    CHECK_INT(margin_short_budget(1000, 15000), 1000); /* no more than its value */
    CHECK_INT(margin_short_budget(1000, 20000), 1000);
    CHECK_INT(margin_short_budget(1000, 30000), 500);
}

int main(void)
{
    test_days();
    test_without_calendar();
    test_settlement();
    test_requirements();
    test_dates();
    test_shorts();
    return check_done("exchange/business_day");
}
