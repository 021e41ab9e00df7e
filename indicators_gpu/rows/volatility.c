#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/registry.h"
#include "indicators_gpu/step/recurrence.h"
#include "indicators_gpu/step/window_rows.h"
#include "indicators_gpu/stream/visit.h"

#define INDICATOR_FAMILY "volatility"

/* clang-format off */

static size_t warmup_atr(const double options[], enum indicator_precision precision)
{
    return indicator_lookback_changes(options) + indicator_warmup_decay(1.0 / options[0], precision);
}

const struct indicator indicator_atr = {
    INDICATOR_ROW(atr),
    .summary = "Average true range (Wilder)",
    .source = "TA-Lib ATR",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 2e-6},
    .lookback = indicator_lookback_changes,
    .warmup = warmup_atr,
};

const struct indicator indicator_natr = {
    INDICATOR_ROW(natr),
    .summary = "Average true range in percent of the close",
    .source = "TA-Lib NATR",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-13, 5e-6},
    .lookback = indicator_lookback_changes,
    .warmup = warmup_atr,
};

static size_t lookback_trange(const double options[])
{
    (void)options;
    return 1;
}

static size_t warmup_trange(const double options[], enum indicator_precision precision)
{
    (void)precision;
    return lookback_trange(options);
}

const struct indicator indicator_trange = {
    INDICATOR_ROW(trange),
    .summary = "True range (Wilder)",
    .source = "TA-Lib TRANGE",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_PRICE, 1e-15, 2e-7},
    .lookback = lookback_trange,
    .warmup = warmup_trange,
};

const struct indicator indicator_bbands = {
    INDICATOR_ROW(bbands),
    .summary = "Bollinger bands on a simple average",
    .source = "TA-Lib BBANDS",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 20, 2),
                      {.name = "deviations", .value = 2, .min = 0, .max = 100}),
    INDICATOR_OUTPUTS("upper", "middle", "lower"),
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 1e-5},
    INDICATOR_WINDOW,
};

static size_t lookback_keltner(const double options[])
{
    size_t ema = (size_t)options[0] - 1, atr = (size_t)options[1];
    return ema > atr ? ema : atr;
}

/* Both averages' seeds end at the first output. */
static size_t warmup_keltner(const double options[], enum indicator_precision precision)
{
    size_t ema = indicator_warmup_decay(ema_factor(options[0]), precision);
    size_t atr = indicator_warmup_decay(1.0 / options[1], precision);
    return lookback_keltner(options) + (ema > atr ? ema : atr);
}

const struct indicator indicator_keltner = {
    INDICATOR_ROW(keltner),
    .summary = "Keltner channel: the typical price's average and its distance in average true ranges",
    .source = "TA-Lib KC",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("ema", 20, 1),
                      INDICATOR_PERIOD("atr", 10, 1),
                      {.name = "multiplier", .value = 2, .min = 0, .max = 100}),
    INDICATOR_OUTPUTS("upper", "middle", "lower"),
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 1e-5},
    .lookback = lookback_keltner,
    .warmup = warmup_keltner,
};

const struct indicator indicator_donchian = {
    INDICATOR_ROW(donchian),
    .summary = "Donchian channel: highest high, lowest low and their middle",
    .source = "TA-Lib DONCHIAN",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 20, 1)),
    INDICATOR_OUTPUTS("upper", "middle", "lower"),
    .tolerance = {INDICATOR_OF_PRICE, 1e-15, 2e-7},
    INDICATOR_WINDOW,
};

const struct indicator indicator_realvol = {
    INDICATOR_ROW(realvol),
    .summary = "Realised volatility: sample deviation of the closes' log returns, a bar's",
    .source = "sample standard deviation (n - 1) of log returns",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 20, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 5e-14, 1e-9}, /* quotients beside 1 are rounded to 2^-53 */
    INDICATOR_CHANGES,
};

const struct indicator indicator_parkinson = {
    INDICATOR_ROW(parkinson),
    .summary = "Volatility from highs and lows (Parkinson), a bar's",
    .source = "Parkinson, The Extreme Value Method..., Journal of Business 53, 1980",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 20, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_COLUMN, 1e-13, 2e-6},
    INDICATOR_WINDOW,
};

const struct indicator indicator_garman_klass = {
    INDICATOR_ROW(garman_klass),
    .summary = "Volatility from open, high, low and close (Garman and Klass), a bar's",
    .source =
        "Garman and Klass, On the Estimation of Security Price Volatilities..., Journal of Business 53, 1980",
    .inputs = INDICATOR_OPEN | INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 20, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_COLUMN, 1e-13, 2e-6},
    INDICATOR_WINDOW,
};

const struct indicator indicator_accbands = {
    INDICATOR_ROW(accbands),
    .summary = "Acceleration bands (Headley)",
    .source = "TA-Lib ACCBANDS",
    .inputs = accbands_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 20, 2)),
    INDICATOR_OUTPUTS("upper", "middle", "lower"),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};

const struct indicator indicator_adr = {
    INDICATOR_ROW(adr),
    .summary = "Average range of the bars",
    .source = "TA-Lib ADR",
    .inputs = adr_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};

static size_t lookback_cvi(const double options[])
{
    return indicator_lookback_window(options) + (size_t)options[1];
}

static size_t warmup_cvi(const double options[], enum indicator_precision precision)
{
    return lookback_cvi(options) + indicator_warmup_decay(ema_factor(options[0]), precision);
}

const struct indicator indicator_cvi = {
    INDICATOR_ROW(cvi),
    .summary = "Volatility (Chaikin): the change of the average range, in per cent",
    .source = "TA-Lib CVI",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 10, 2), INDICATOR_PERIOD("roc", 10, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 1e-9, 1e-3},
    .lookback = lookback_cvi,
    .warmup = warmup_cvi,
};

static size_t lookback_massi(const double options[])
{
    return 2 * indicator_lookback_window(options) + (size_t)options[1] - 1;
}

static size_t warmup_massi(const double options[], enum indicator_precision precision)
{
    return lookback_massi(options) + 2 * indicator_warmup_decay(ema_factor(options[0]), precision);
}

const struct indicator indicator_massi = {
    INDICATOR_ROW(massi),
    .summary = "Mass index (Dorsey): how the average range widens",
    .source = "TA-Lib MASSI",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("fast", 9, 2), INDICATOR_PERIOD("slow", 25, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-12, 1e-5},
    .lookback = lookback_massi,
    .warmup = warmup_massi,
};

static size_t lookback_rvi(const double options[])
{
    return (size_t)options[0] + (size_t)options[1] - 2;
}

static size_t warmup_rvi(const double options[], enum indicator_precision precision)
{
    return lookback_rvi(options) + indicator_warmup_decay(1.0 / options[0], precision);
}

const struct indicator indicator_rvi = {
    INDICATOR_ROW(rvi),
    .summary = "Relative volatility index (Dorsey): the strength of deviations",
    .source = "TA-Lib RVI",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 1), INDICATOR_PERIOD("stddev", 10, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 1e-11, 1e-3},
    .lookback = lookback_rvi,
    .warmup = warmup_rvi,
};
