/* The specifications that every backend is tried with: each row with its defaults, and with options at their
 * edges. A row that is missing here fails the tests that walk them. */
#ifndef TESTS_INDICATORS_GPU_SPECS_H
#define TESTS_INDICATORS_GPU_SPECS_H

#include "indicators_gpu/indicators.h"
#include "tests/check.h"

/* clang-format off */
static const char *const test_specs[] = {
    /* moving averages */
    "sma", "sma:1", "sma:2", "sma:20", "sma:64", "sma:65", "sma:200", "sma:1000", "ema", "ema:1", "ema:14",
    "ema:200", "wma", "wma:1", "wma:2", "wma:200", "dema", "dema:1", "dema:2", "dema:100", "tema", "tema:1",
    "tema:2", "tema:60", "kama", "kama:2", "kama:10", "kama:200", "hma", "hma:2", "hma:3", "hma:55", "hma:200",
    /* momentum */
    "rsi", "rsi:1", "rsi:50", "macd", "macd:26,12,9", "macd:1,1,1", "macd:5,35,1", "macd:200,3,50",
    "ppo", "ppo:12,26,0", "ppo:26,12,0", "ppo:26,12", "ppo:2,2,0", "ppo:2,2,1", "ppo:5,100,0", "roc",
    "roc:1", "roc:200", "mom", "mom:1", "mom:64", "trix", "trix:1", "trix:5", "cci", "cci:2", "cci:20",
    "cci:100", "ultosc", "ultosc:1,1,1", "ultosc:28,14,7", "ultosc:5,30,10", "willr", "willr:2",
    "willr:100", "stoch", "stoch:14,3,3", "stoch:1,1,1", "stoch:9,1,6", "stoch:60,30,20", "stochf",
    "stochf:14,3", "stochf:1,1", "stochf:3,40", "stochrsi", "stochrsi:2,1,1", "stochrsi:14,14,3",
    "stochrsi:5,50,10",
    /* trend */
    "plus_di", "plus_di:2", "plus_di:50", "minus_di", "minus_di:2", "minus_di:50", "dx", "dx:2", "dx:50",
    "adx", "adx:2", "adx:50", "adxr", "adxr:2", "adxr:50", "aroon", "aroon:2", "aroon:65", "sar",
    "sar:0.1,0.05", "sar:0,0", "sar:1,1", "supertrend", "supertrend:1,0", "supertrend:50,1.5", "ichimoku",
    "ichimoku:1,1,1,0", "ichimoku:40,20,10,5", "ichimoku:2,3,4,0", "heikin_ashi",
    /* volatility */
    "atr", "atr:1", "atr:100", "natr", "natr:2", "natr:100", "trange", "bbands", "bbands:2,0",
    "bbands:65,3.5", "bbands:200,1", "bbands:333,100", "keltner", "keltner:1,1,0", "keltner:5,50,1.5", "keltner:100,3,4",
    "donchian", "donchian:1", "donchian:2", "donchian:200", "realvol", "realvol:2", "realvol:100",
    "parkinson", "parkinson:1", "parkinson:100", "garman_klass", "garman_klass:1", "garman_klass:100",
    /* volume */
    "mfi", "mfi:2", "mfi:100", "obv", "ad", "adosc", "adosc:2,2", "adosc:10,3", "adosc:3,200", "vwap",
    "vwap:13.5", "vwap:23.99",
    /* statistics */
    "stddev", "stddev:2", "stddev:20,2.5", "stddev:20,0", "stddev:333,1000", "stddev:200", "var", "var:1", "var:200",
    "linreg_slope", "linreg_slope:2", "linreg_slope:200", "linreg_angle", "linreg_angle:2",
    "linreg_angle:100", "log_return", "log_return:20", "zscore", "zscore:2", "zscore:200", "quantile",
    "quantile:1", "quantile:4,0.25", "quantile:20,0", "quantile:20,1", "quantile:100,0.95", "rank", "rank:2",
    "rank:100",
};
/* clang-format on */
/* Bars of the longest series, for the few of test_spec_at_length() unless PAPERTAPE_LONG is set, and of the
 * long ones that every specification is tried with. */
#ifdef __SANITIZE_ADDRESS__
enum { TEST_LONG = 200003, TEST_LONGISH = 9001 };
#else
enum { TEST_LONG = 1000003, TEST_LONGISH = 20011 };
#endif

enum { TEST_SPECS = sizeof(test_specs) / sizeof(test_specs[0]) };

static inline struct indicator_spec test_spec(const char *text)
{
    struct indicator_spec spec = {0};
    char err[200] = "";
    CHECK_INT(indicator_spec_parse(text, &spec, err, sizeof(err)), 0);
    CHECK_STR(err, "");
    return spec;
}

static inline bool test_spec_at_length(const char *text)
{
    static const char *const few[] = {"sma:20", "ema:14", "rsi", "macd", "atr"};
    for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); i++)
        if (strcmp(few[i], text) == 0)
            return true;
    return getenv("PAPERTAPE_LONG") != NULL;
}

/* Each row is there. */
static inline void test_specs_check(void)
{
    size_t n;
    const struct indicator *const *rows = indicator_rows(&n);
    for (size_t r = 0; r < n; r++) {
        bool found = false;
        for (size_t i = 0; i < TEST_SPECS && !found; i++)
            found = test_spec(test_specs[i]).row == rows[r];
        if (!found)
            fprintf(stderr, "  %s is in no list of specifications\n", rows[r]->name);
        CHECK(found);
    }
}

#endif
