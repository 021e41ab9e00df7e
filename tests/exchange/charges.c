/* Fees by volume and regulatory fees: what a schedule may say, sums over days, rates and rounding by hand. */
#include <stdio.h>
#include <string.h>

#include "exchange/decimal.h"
#include "exchange/fee_tiers.h"
#include "exchange/fill_rules.h"
#include "exchange/regulatory_fees.h"
#include "tests/check.h"

#define DAY_NS INT64_C(86400000000000)
#define CENT   INT64_C(1000000) /* at scale 8 */

static void refused(const char *text, const char *says)
{
    struct fee_tiers tiers;
    char why[FEE_TIERS_WHY_MAX] = "";
    CHECK(fee_tiers_parse(text, &tiers, why) < 0);
    if (!strstr(why, says))
        fprintf(stderr, "%s: %s\n", text, why);
    CHECK(strstr(why, says) != NULL);
}

static void test_schedule(void)
{
    struct fee_tiers tiers;
    char why[FEE_TIERS_WHY_MAX];
    CHECK_INT(fee_tiers_parse("", &tiers, why), 0);
    CHECK_INT(tiers.n, 0);
    CHECK_INT(fee_tiers_parse(" 0 0.1% 0.001,\t1000 0 0.025% ", &tiers, why), 0);
    CHECK_INT(tiers.n, 2);
    CHECK_INT(tiers.steps[0].rates.maker_e6, 1000);
    CHECK_INT(tiers.steps[0].rates.taker_e6, 1000);
    CHECK_INT(tiers.steps[1].volume, 1000);
    CHECK_INT(tiers.steps[1].rates.taker_e6, 250);
    CHECK_INT(fee_tiers_rates(&tiers, 99999, 2).taker_e6, 1000); /* 999.99 */
    CHECK_INT(fee_tiers_rates(&tiers, 100000, 2).taker_e6, 250);
    refused("100 0.1% 0.1%", "the first step is of the volume 0");
    refused("0 0.1% 0.1%, 0 0 0", "volumes rise");
    refused("0 0.1%", "a maker's and a taker's rate");
    refused("0 0.1% 11%", "a maker's and a taker's rate");
    refused("0 0.1% -1%", "a maker's and a taker's rate");
    refused("0 0.0000001 0", "a maker's and a taker's rate");
    refused("1.5 0 0", "is no volume");
    refused("0 0 0 7", "a comma is right");
    refused("0 0 0,", "another step");
    refused(
        "0 0 0, 1 0 0, 2 0 0, 3 0 0, 4 0 0, 5 0 0, 6 0 0, 7 0 0, 8 0 0, 9 0 0, 10 0 0, 11 0 0, 12 0 0, 13 0 0, 14 0 0, "
        "15 0 0, 16 0 0",
        "at most 16 steps");
}

/* Beside sums over a plain list of all fills. */
static void test_volume(void)
{
    static int64_t days[400];
    struct fee_volume volume = {0};
    uint64_t state = 7;
    for (int64_t day = 20000; day < 20400; day++) {
        int64_t expected = 0;
        for (int k = 1; k <= FEE_VOLUME_DAYS && day - k >= 20000; k++)
            expected += days[day - k - 20000];
        CHECK_INT(fee_volume_before(&volume, day), expected);
        for (state = state * 6364136223846793005u + 1; (state >> 33) % 3 != 0;
             state = state * 6364136223846793005u + 1) {
            int64_t late = (int64_t)((state >> 40) % 3), amount = (int64_t)(state >> 36);
            if (day - late < 20000)
                continue;
            fee_volume_add(&volume, day - late, amount);
            days[day - late - 20000] += amount;
        }
        if (day % 97 == 0)
            day += 35; /* nothing for more than a month */
    }
    struct fee_volume most = {0};
    fee_volume_add(&most, 5, FILL_MONEY_MAX);
    fee_volume_add(&most, 5, 1);
    fee_volume_add(&most, 6, FILL_MONEY_MAX);
    CHECK_INT(fee_volume_before(&most, 7), FILL_MONEY_MAX);
    CHECK_INT(fee_volume_day(DAY_NS - 1), 0);
    CHECK_INT(fee_volume_day(-1), -1);
}

static struct regulatory_fees of(const struct symbol *symbol, int64_t day, int64_t qty, int64_t notional)
{
    return fee_regulatory_of_sale(symbol, day, qty, notional, notional);
}

/* 1,000 shares at 50: 50,000. */
static void test_regulatory(void)
{
    const struct symbol symbol = {.qty_scale = 8, .quote_scale = 8, .asset = ASSET_US_EQUITY};
    const int64_t shares = 1000 * INT64_C(100000000), money = 50 * shares;
    static const struct {
        int64_t day;
        int sec, taf; /* cents */
    } cases[] = {
        {16146, 0, 0},    /* 2014-03-17: not known */
        {16147, 111, 12}, /* 22.10 a million: 1.105; 0.119 */
        {17673, 65, 12},  /* 2018-05-22: 13.00 */
        {18683, 26, 12},  /* 2021-02-25: 5.10 */
        {18993, 26, 13},  /* 2022-01-01: 0.130 */
        {19864, 40, 17},  /* 2024-05-21: 8.00; 0.166 */
        {19865, 139, 17}, /* 2024-05-22: 27.80 */
        {20221, 139, 17}, /* 2025-05-13 */
        {20222, 0, 17},   /* 2025-05-14: nothing */
        {30000, 0, 17},   /* the last known ones stay */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct regulatory_fees fees = of(&symbol, cases[i].day, shares, money);
        CHECK_INT(fees.sec, cases[i].sec * CENT);
        CHECK_INT(fees.taf, cases[i].taf * CENT);
    }
    CHECK_INT(of(&symbol, 19865, 1, 1).sec, 1); /* a cent, but no more than there is */
    CHECK_INT(of(&symbol, 19865, 1, 3 * CENT / 2).sec, CENT);
    CHECK_INT(of(&symbol, 19865, 1, 3 * CENT / 2).taf, CENT / 2);
    CHECK_INT(of(&symbol, 19865, 100 * shares, 100 * money).taf, 830 * CENT); /* 16.60, at most 8.30 */
    CHECK_INT(of(&symbol, 19865, 50 * shares, 50 * money).taf, 830 * CENT);
    const struct symbol coarse = {.qty_scale = 0, .quote_scale = 1, .asset = ASSET_US_EQUITY};
    CHECK_INT(of(&coarse, 19865, 1000, 500000).sec, 14); /* 1.39, to the tenth that there is */
    CHECK_INT(fee_regulatory_day(19865 * DAY_NS + 5 * DAY_NS / 24), 19865);
    CHECK_INT(fee_regulatory_day(19865 * DAY_NS + 5 * DAY_NS / 24 - 1), 19864);
    CHECK_INT(fee_regulatory_first_day(), 16147);
    struct symbol file = {.quote = "USD", .calendar = "nyse"};
    CHECK(fee_regulatory_concerns(&symbol));
    CHECK(fee_regulatory_concerns(&file));
    file.calendar[0] = '\0';
    CHECK(!fee_regulatory_concerns(&file));
    file.asset = ASSET_CRYPTO;
    CHECK(!fee_regulatory_concerns(&file));
}

int main(void)
{
    test_schedule();
    test_volume();
    test_regulatory();
    return check_done("exchange/charges");
}
