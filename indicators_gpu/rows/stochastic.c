#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/registry.h"
#include "indicators_gpu/stream/visit.h"

#define INDICATOR_FAMILY "momentum"

/* clang-format off */

const struct indicator indicator_willr = {
    INDICATOR_ROW(willr),
    .summary = "Williams's %R",
    .source = "TA-Lib WILLR",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 1e-12, 1e-4},
    INDICATOR_WINDOW,
};

static size_t lookback_stochf(const double options[])
{
    return (size_t)options[0] + (size_t)options[1] - 2;
}

static size_t warmup_stochf(const double options[], enum indicator_precision precision)
{
    (void)precision;
    return lookback_stochf(options);
}

const struct indicator indicator_stochf = {
    INDICATOR_ROW(stochf),
    .summary = "Stochastic oscillator, fast",
    .source = "TA-Lib STOCHF",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("k", 5, 1), INDICATOR_PERIOD("d", 3, 1)),
    INDICATOR_OUTPUTS("fastk", "fastd"),
    .tolerance = {INDICATOR_OF_ONE, 1e-12, 1e-4},
    .lookback = lookback_stochf,
    .warmup = warmup_stochf,
};

static size_t lookback_stoch(const double options[])
{
    return (size_t)options[0] + (size_t)options[1] + (size_t)options[2] - 3;
}

static size_t warmup_stoch(const double options[], enum indicator_precision precision)
{
    (void)precision;
    return lookback_stoch(options);
}

const struct indicator indicator_stoch = {
    INDICATOR_ROW(stoch),
    .summary = "Stochastic oscillator, slow",
    .source = "TA-Lib STOCH",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("k", 5, 1), INDICATOR_PERIOD("slow_k", 3, 1),
                      INDICATOR_PERIOD("slow_d", 3, 1)),
    INDICATOR_OUTPUTS("slowk", "slowd"),
    .tolerance = {INDICATOR_OF_ONE, 1e-12, 1e-4},
    .lookback = lookback_stoch,
    .warmup = warmup_stoch,
};

static size_t lookback_stochrsi(const double options[])
{
    return (size_t)options[0] + (size_t)options[1] + (size_t)options[2] - 2;
}

static size_t warmup_stochrsi(const double options[], enum indicator_precision precision)
{
    return lookback_stochrsi(options) + indicator_warmup_decay(1.0 / options[0], precision);
}

const struct indicator indicator_stochrsi = {
    INDICATOR_ROW(stochrsi),
    .summary = "Stochastic oscillator of RSI, fast",
    .source = "TA-Lib STOCHRSI",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2), INDICATOR_PERIOD("k", 5, 1),
                      INDICATOR_PERIOD("d", 3, 1)),
    INDICATOR_OUTPUTS("fastk", "fastd"),
    .tolerance = {INDICATOR_OF_ONE, 1e-11, 1e-4},
    .lookback = lookback_stochrsi,
    .warmup = warmup_stochrsi,
};
