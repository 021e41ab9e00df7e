#include "exchange/regulatory_fees.h"

#include <string.h>

#include "exchange/decimal.h"
#include "exchange/fill_rules.h"

#define HOUR_NS INT64_C(3600000000000)
#define DAY_NS  (24 * HOUR_NS)

/* The first month of a year is March: so a leap day is its last. */
#define DAYS_TO(y, m) \
    (365 * (int64_t)((y) - ((m) < 3)) + ((y) - ((m) < 3)) / 4 - ((y) - ((m) < 3)) / 100 + \
     ((y) - ((m) < 3)) / 400 + (153 * ((m) + ((m) < 3 ? 9 : -3)) + 2) / 5)
#define DATE(y, m, d) (DAYS_TO(y, m) + (d)-719469)

/* Dollars a million of the proceeds, in cents. Section 31 of the Securities Exchange Act; the dates and rates
 * are those of the SEC's fee rate advisories, as FINRA's information notices repeat them ("New Rate for Fees
 * Paid Under Section 31"). Known until 2025: a later day has the last rate, until a row is added. */
static const struct {
    int64_t day;
    int32_t cents_a_million;
} sec_rates[] = {
    {DATE(2014, 3, 18), 2210}, {DATE(2015, 2, 14), 1840}, {DATE(2016, 2, 16), 2180}, {DATE(2017, 7, 4), 2310},
    {DATE(2018, 5, 22), 1300}, {DATE(2019, 4, 16), 2070}, {DATE(2020, 2, 18), 2210}, {DATE(2021, 2, 25), 510},
    {DATE(2022, 5, 14), 2290}, {DATE(2023, 2, 27), 800},  {DATE(2024, 5, 22), 2780}, {DATE(2025, 5, 14), 0},
};

/* Dollars a share in 10^-6, and the most of a trade in cents. FINRA By-Laws, Schedule A, section 1:
 * Regulatory Notice 12-31 (from July 2012 on), and SR-FINRA-2020-032 for 2022 to 2024. Known until 2025,
 * likewise. */
static const struct {
    int64_t day;
    int32_t share_e6, most_cents;
} taf_rates[] = {
    {DATE(2014, 3, 18), 119, 595},
    {DATE(2022, 1, 1), 130, 649},
    {DATE(2023, 1, 1), 145, 727},
    {DATE(2024, 1, 1), 166, 830},
};

enum {
    SEC_RATES = sizeof sec_rates / sizeof *sec_rates,
    TAF_RATES = sizeof taf_rates / sizeof *taf_rates,
    SEC_SCALE = 8, /* of cents_a_million, as a share */
    TAF_SCALE = 4, /* of share_e6, in cents */
    CENTS = 2,
};

bool fee_regulatory_concerns(const struct symbol *symbol)
{
    return symbol->asset == ASSET_US_EQUITY ||
           (symbol->asset == ASSET_UNKNOWN && symbol->calendar[0] && strcmp(symbol->quote, "USD") == 0);
}

int64_t fee_regulatory_day(int64_t ts_ns)
{
    int64_t there_ns = ts_ns - 5 * HOUR_NS;
    return there_ns / DAY_NS - (there_ns % DAY_NS < 0);
}

int64_t fee_regulatory_first_day(void)
{
    return sec_rates[0].day;
}

/* numerator / 10^scale of cents, rounded up. */
static int64_t cents_up(int128_t numerator, int scale)
{
    for (; scale > 0; scale--)
        numerator = (numerator + 9) / 10; /* up at each digit is up at the end */
    return numerator > FILL_MONEY_MAX ? FILL_MONEY_MAX : (int64_t)numerator;
}

/* Cents as units of the quote: rounded up, where it has no cents. */
static int64_t units(int64_t cents, int quote_scale)
{
    if (quote_scale < CENTS)
        return cents_up(cents, CENTS - quote_scale);
    int128_t value = (int128_t)cents * decimal_pow10(quote_scale - CENTS);
    return value > FILL_MONEY_MAX ? FILL_MONEY_MAX : (int64_t)value;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

struct regulatory_fees fee_regulatory_of_sale(const struct symbol *symbol, int64_t day, int64_t qty,
                                              int64_t notional, int64_t left)
{
    struct regulatory_fees fees = {0};
    int s = SEC_RATES - 1, t = TAF_RATES - 1;
    while (s >= 0 && sec_rates[s].day > day)
        s--;
    while (t >= 0 && taf_rates[t].day > day)
        t--;
    if (s >= 0)
        fees.sec = units(cents_up((int128_t)notional * sec_rates[s].cents_a_million,
                                  SEC_SCALE + symbol->quote_scale - CENTS),
                         symbol->quote_scale);
    if (t >= 0) {
        int64_t cents = cents_up((int128_t)qty * taf_rates[t].share_e6, TAF_SCALE + symbol->qty_scale);
        fees.taf = units(least(cents, taf_rates[t].most_cents), symbol->quote_scale);
    }
    fees.sec = least(fees.sec, left > 0 ? left : 0);
    fees.taf = least(fees.taf, left > fees.sec ? left - fees.sec : 0);
    return fees;
}
