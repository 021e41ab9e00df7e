/* The specifications that every backend is tried with: each row with its defaults, and with options at their
 * edges. A row that is missing here fails the tests that walk them. */
#ifndef TESTS_INDICATORS_GPU_SPECS_H
#define TESTS_INDICATORS_GPU_SPECS_H

#include "indicators_gpu/indicator_rows.h"
#include "indicators_gpu/indicators.h"
#include "tests/check.h"
#include "tests/indicators_gpu/series.h"

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
    /* written once: see test_spec_once() */
    "trima", "trima:2", "trima:65", "t3", "t3:2,0", "t3:50,1", "apo", "apo:26,12,0", "apo:2,2",
    "apo:5,100,0", "bop", "cmo", "cmo:2", "cmo:50", "imi", "imi:2", "imi:100", "macdext", "macdext:26,5,3",
    "macdext:2,2,1", "macdfix", "macdfix:1", "rocp", "rocp:1", "rocr", "rocr:200", "rocr100", "aroonosc",
    "aroonosc:2", "aroonosc:65", "plus_dm", "plus_dm:1", "plus_dm:50", "minus_dm", "minus_dm:2", "accbands",
    "accbands:2", "accbands:200", "vwma", "vwma:1", "vwma:200", "linearreg", "linearreg:2", "linearreg:200",
    "linearreg_intercept", "tsf", "tsf:2", "avgdev", "avgdev:2", "avgdev:200", "sum", "sum:2", "sum:200",
    "beta", "beta:1", "beta:50", "correl", "correl:1", "correl:200", "avgprice", "medprice", "typprice",
    "wclprice", "midpoint", "midpoint:2", "midprice", "midprice:65", "max", "max:2", "max:200", "min",
    "minmax", "minmax:64", "since_max", "since_max:200", "since_min", "since_min:2", "ht_dcperiod",
    "ht_dcphase", "ht_phasor", "ht_sine", "ht_trendline", "ht_trendmode", "mama", "mama:0.01,0.01",
    "mama:0.99,0.5", "ao", "ao:34,5", "ao:2,2", "ac", "ac:2,3,2", "ac:5,100,20", "cmou", "cmou:2", "cmou:100",
    "coppock", "coppock:1,1,1", "coppock:30,14,60", "dpo", "dpo:2", "dpo:3", "dpo:200", "er", "er:2", "er:100",
    "fosc", "fosc:2", "fosc:100", "fractal", "fractal:1,1", "fractal:9,30", "qstick", "qstick:1", "vhf", "vhf:2",
    "vortex", "vortex:1", "vortex:100", "adr", "adr:1", "cmf", "cmf:2", "cmf:100", "marketfi", "rvol", "rvol:1",
    "rvol:200", "percentrank", "percentrank:2", "rma", "rma:1", "rma:200", "pvt", "nvi", "pvi", "wad", "efi",
    "efi:1", "efi:2", "efi:100", "eri", "eri:1", "eri:100", "pvo", "pvo:26,12,0", "pvo:2,2", "pvo:5,100,0",
    "zlema", "zlema:1", "zlema:2", "zlema:101", "cvi", "cvi:2,1", "cvi:30,100", "massi", "massi:2,2",
    "massi:30,100", "tsi", "tsi:2,2", "tsi:13,60", "smi", "smi:2,2,2,2", "smi:60,25,5,30", "kdj", "kdj:1,1,1",
    "kdj:50,9,20", "rvi", "rvi:1,2", "rvi:50,30",
    /* candles */
    "cdl2crows", "cdl3blackcrows", "cdl3inside", "cdl3linestrike", "cdl3outside", "cdl3starsinsouth",
    "cdl3whitesoldiers", "cdlabandonedbaby", "cdladvanceblock", "cdlbelthold", "cdlbreakaway",
    "cdlclosingmarubozu", "cdlconcealbabyswall", "cdlcounterattack", "cdldarkcloudcover", "cdldoji",
    "cdldojistar", "cdldragonflydoji", "cdlengulfing", "cdleveningdojistar", "cdleveningstar",
    "cdlgapsidesidewhite", "cdlgravestonedoji", "cdlhammer", "cdlhangingman", "cdlharami", "cdlharamicross",
    "cdlhighwave", "cdlhikkake", "cdlhikkakemod", "cdlhomingpigeon", "cdlidentical3crows", "cdlinneck",
    "cdlinvertedhammer", "cdlkicking", "cdlkickingbylength", "cdlladderbottom", "cdllongleggeddoji",
    "cdllongline", "cdlmarubozu", "cdlmatchinglow", "cdlmathold", "cdlmorningdojistar", "cdlmorningstar",
    "cdlonneck", "cdlpiercing", "cdlrickshawman", "cdlrisefall3methods", "cdlseparatinglines",
    "cdlshootingstar", "cdlshortline", "cdlspinningtop", "cdlstalledpattern", "cdlsticksandwich",
    "cdltakuri", "cdltasukigap", "cdlthrusting", "cdltristar", "cdlunique3river", "cdlupsidegap2crows",
    "cdlxsidegap3methods", "cdlabandonedbaby:0", "cdldarkcloudcover:0.8", "cdlmorningstar:1.5",
};
/* clang-format on */
/* Bars of the longest series, for the few of test_spec_at_length() unless PAPERTAPE_LONG is set, and of the
 * long ones that every specification is tried with. */
#ifdef __SANITIZE_ADDRESS__
enum { TEST_LONG = 50003, TEST_LONGISH = 4001, TEST_PART = 2 };
#else
enum { TEST_LONG = 1000003, TEST_LONGISH = 20011, TEST_PART = 1 };
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

static inline bool test_long(void)
{
    return getenv("PAPERTAPE_LONG") != NULL;
}

static inline bool test_spec_at_length(const char *text)
{
    static const char *const few[] = {"sma:20", "ema:14", "rsi", "macd", "atr"};
    for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); i++)
        if (strcmp(few[i], text) == 0)
            return true;
    return test_long();
}

/* Whether the row's formula is written once (indicator_rows.h), so that all backends run the same operations:
 * a short run tries such a row with fewer bars. They are the last of test_specs. */
static inline bool test_spec_once(const struct indicator_spec *spec)
{
#define TEST_ONCE_BOTH   false
#define TEST_ONCE_F64    false
#define TEST_ONCE_WINDOW true
#define TEST_ONCE_STEPS  true
#define TEST_ONCE(number, ID, name, kernels) \
    case number: \
        return TEST_ONCE_##kernels;
    switch (spec->row->id) {
        INDICATOR_ROWS(TEST_ONCE)
    }
#undef TEST_ONCE
    return false;
}

/* Sizes of the series of each kind, the last of which are 1000 bars; and bars of the long ones. In a short
 * run a row that is written once has 1000 bars of two kinds. */
enum { TEST_SIZES = 9, TEST_ONCE_LONGISH = 2011 };

static inline size_t test_spec_sizes(const struct indicator_spec *spec, enum series_kind kind)
{
    bool few = test_spec_once(spec) && !test_long() && kind != SERIES_WALK && kind != SERIES_FLAT;
    return few ? TEST_SIZES - 1 : TEST_SIZES;
}

static inline size_t test_spec_longish(const struct indicator_spec *spec)
{
    return test_spec_once(spec) && !test_long() ? TEST_ONCE_LONGISH : TEST_LONGISH;
}

/* Whether the specification of this number is tried with that kind: under a sanitizer with a walk, and with
 * each second of the others. */
static inline bool test_spec_has(size_t i, enum series_kind kind)
{
    return kind == SERIES_WALK || (i + (size_t)kind) % TEST_PART == 0;
}

/* How many of test_specs a part of a test takes that leaves those out, but in a long run. */
static inline size_t test_specs_apart(void)
{
    size_t n = TEST_SPECS;
    while (n > 0 && !test_long()) {
        struct indicator_spec spec = test_spec(test_specs[n - 1]);
        if (!test_spec_once(&spec))
            break;
        n--;
    }
    return n;
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
    for (size_t i = 1; i < TEST_SPECS; i++) {
        struct indicator_spec before = test_spec(test_specs[i - 1]), spec = test_spec(test_specs[i]);
        CHECK(test_spec_once(&spec) >= test_spec_once(&before));
    }
}

#endif
