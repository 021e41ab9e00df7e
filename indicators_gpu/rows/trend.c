#include "indicators_gpu/step/trend.h"
#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/registry.h"
#include "indicators_gpu/step/recurrence.h"
#include "indicators_gpu/step/window_rows.h"
#include "indicators_gpu/stream/visit.h"

#define INDICATOR_FAMILY "trend"

/* clang-format off */

/* Wilder's sums decay as his averages do. */
static size_t warmup_directional(const double options[], enum indicator_precision precision)
{
    return indicator_lookback_changes(options) + indicator_warmup_decay(1.0 / options[0], precision);
}

const struct indicator indicator_plus_di = {
    INDICATOR_ROW(plus_di),
    .summary = "Plus directional indicator (Wilder)",
    .source = "TA-Lib PLUS_DI",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 1e-11, 1e-4},
    .lookback = indicator_lookback_changes,
    .warmup = warmup_directional,
};

const struct indicator indicator_minus_di = {
    INDICATOR_ROW(minus_di),
    .summary = "Minus directional indicator (Wilder)",
    .source = "TA-Lib MINUS_DI",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 1e-11, 1e-4},
    .lookback = indicator_lookback_changes,
    .warmup = warmup_directional,
};

const struct indicator indicator_dx = {
    INDICATOR_ROW(dx),
    .summary = "Directional movement index (Wilder)",
    .source = "TA-Lib DX",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 1e-11, 1e-4},
    .lookback = indicator_lookback_changes,
    .warmup = warmup_directional,
};

static size_t lookback_adx(const double options[])
{
    return 2 * (size_t)options[0] - 1;
}

/* Wilder's smoothing of figures from Wilder's sums. */
static size_t warmup_adx(const double options[], enum indicator_precision precision)
{
    return lookback_adx(options) + 2 * indicator_warmup_decay(1.0 / options[0], precision);
}

const struct indicator indicator_adx = {
    INDICATOR_ROW(adx),
    .summary = "Average directional movement index (Wilder)",
    .source = "TA-Lib ADX",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 1e-11, 1e-4},
    .lookback = lookback_adx,
    .warmup = warmup_adx,
};

static size_t lookback_adxr(const double options[])
{
    return 3 * (size_t)options[0] - 2;
}

static size_t warmup_adxr(const double options[], enum indicator_precision precision)
{
    return lookback_adxr(options) + 2 * indicator_warmup_decay(1.0 / options[0], precision);
}

const struct indicator indicator_adxr = {
    INDICATOR_ROW(adxr),
    .summary = "Average directional movement rating (Wilder)",
    .source = "TA-Lib ADXR",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 1e-11, 1e-4},
    .lookback = lookback_adxr,
    .warmup = warmup_adxr,
};

const struct indicator indicator_aroon = {
    INDICATOR_ROW(aroon),
    .summary = "Aroon: bars since the lowest low and the highest high",
    .source = "TA-Lib AROON",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS("down", "up"),
    .tolerance = {INDICATOR_OF_ONE, 1e-12, 2e-5},
    INDICATOR_CHANGES,
};

static size_t lookback_sar(const double options[])
{
    (void)options;
    return 1;
}

/* Every bar decides by a comparison, so that the smallest error can turn the trend: a backend within
 * tolerance does the reference's operations in float64 and rounds the result. And two histories that once
 * were on opposite sides of the price need never agree. */
const struct indicator indicator_sar = {
    INDICATOR_ROW(sar),
    .summary = "Parabolic stop and reverse (Wilder)",
    .source = "TA-Lib SAR",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW,
    INDICATOR_OPTIONS({.name = "acceleration", .value = 0.02, .min = 0, .max = 1},
                      {.name = "maximum", .value = 0.2, .min = 0, .max = 1}),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 0.0, 1e-7},
    .lookback = lookback_sar,
    .warmup = indicator_warmup_never,
};

/* As for sar, a comparison decides. */
const struct indicator indicator_supertrend = {
    INDICATOR_ROW(supertrend),
    .summary = "Supertrend: a trailing band and the trend's direction",
    .source = "TA-Lib SUPERTREND",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 10, 1),
                      {.name = "multiplier", .value = 3, .min = 0, .max = 1000}),
    INDICATOR_OUTPUTS("value", "direction"),
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 1e-7},
    .lookback = indicator_lookback_changes,
    .warmup = indicator_warmup_never,
};

static size_t lookback_ichimoku(const double options[])
{
    return (size_t)ichimoku_bars(options) - 1;
}

static size_t warmup_ichimoku(const double options[], enum indicator_precision precision)
{
    (void)precision;
    return lookback_ichimoku(options);
}

const struct indicator indicator_ichimoku = {
    INDICATOR_ROW(ichimoku),
    .summary = "Ichimoku lines, the spans at the bar where they stand",
    .source = "Goichi Hosoda, Ichimoku Kinko Hyo, 1969",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("tenkan", 9, 1), INDICATOR_PERIOD("kijun", 26, 1),
                      INDICATOR_PERIOD("senkou_b", 52, 1), INDICATOR_PERIOD("displacement", 26, 0)),
    INDICATOR_OUTPUTS("tenkan", "kijun", "senkou_a", "senkou_b"),
    .tolerance = {INDICATOR_OF_PRICE, 1e-15, 2e-7},
    .lookback = lookback_ichimoku,
    .warmup = warmup_ichimoku,
};

static size_t lookback_heikin_ashi(const double options[])
{
    (void)options;
    return 0;
}

/* Each bar halves the weight of the past in the open. */
static size_t warmup_heikin_ashi(const double options[], enum indicator_precision precision)
{
    (void)options;
    return indicator_warmup_decay(0.5, precision);
}

const struct indicator indicator_heikin_ashi = {
    INDICATOR_ROW(heikin_ashi),
    .summary = "Heikin-Ashi candles",
    .source = "TA-Lib HA",
    .inputs = INDICATOR_OPEN | INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OUTPUTS("open", "high", "low", "close"),
    .tolerance = {INDICATOR_OF_PRICE, 1e-14, 1e-6},
    .lookback = lookback_heikin_ashi,
    .warmup = warmup_heikin_ashi,
};

const struct indicator indicator_aroonosc = {
    INDICATOR_ROW(aroonosc),
    .summary = "Aroon oscillator: up less down",
    .source = "TA-Lib AROONOSC",
    .inputs = aroonosc_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_CHANGES,
};

static size_t lookback_dm(const double options[])
{
    return options[0] > 1.0 ? (size_t)options[0] - 1 : 1;
}

static size_t warmup_dm(const double options[], enum indicator_precision precision)
{
    size_t decay = options[0] > 1.0 ? indicator_warmup_decay(1.0 / options[0], precision) : 0;
    return lookback_dm(options) + decay;
}

const struct indicator indicator_plus_dm = {
    INDICATOR_ROW(plus_dm),
    .summary = "Plus directional movement (Wilder)",
    .source = "TA-Lib PLUS_DM",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_COLUMN, 1e-12, 1e-5},
    .lookback = lookback_dm,
    .warmup = warmup_dm,
};

const struct indicator indicator_minus_dm = {
    INDICATOR_ROW(minus_dm),
    .summary = "Minus directional movement (Wilder)",
    .source = "TA-Lib MINUS_DM",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_COLUMN, 1e-12, 1e-5},
    .lookback = lookback_dm,
    .warmup = warmup_dm,
};

const struct indicator indicator_vortex = {
    INDICATOR_ROW(vortex),
    .summary = "Vortex indicator",
    .source = "TA-Lib VORTEX",
    .inputs = vortex_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 1)),
    INDICATOR_OUTPUTS("plus", "minus"),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_CHANGES,
};
