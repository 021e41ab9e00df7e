#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/registry.h"
#include "indicators_gpu/step/recurrence.h"
#include "indicators_gpu/stream/visit.h"

static size_t warmup_rsi(const double options[], enum indicator_precision precision)
{
    return lookback_changes(options) + warmup_decay(1.0 / options[0], precision);
}

const struct indicator indicator_rsi = {
    .name = "rsi",
    .summary = "Relative strength index (Wilder)",
    .family = "momentum",
    .source = "TA-Lib RSI",
    .id = INDICATOR_RSI,
    .inputs = INDICATOR_CLOSE,
    .n_options = 1,
    .options = {INDICATOR_PERIOD("period", 14, 1)},
    .n_outputs = 1,
    .outputs = {""},
    .tolerance = {INDICATOR_OF_ONE, 1e-9, 1e-3},
    .lookback = lookback_changes,
    .warmup = warmup_rsi,
    .code = &(const struct indicator_code){reference_rsi, visit_row_rsi},
};

static size_t lookback_macd(const double options[])
{
    double slow = options[0] > options[1] ? options[0] : options[1];
    return (size_t)slow + (size_t)options[2] - 2;
}

static size_t warmup_macd(const double options[], enum indicator_precision precision)
{
    double slow = options[0] > options[1] ? options[0] : options[1];
    return lookback_macd(options) + warmup_decay(ema_factor(slow), precision) +
           warmup_decay(ema_factor(options[2]), precision);
}

const struct indicator indicator_macd = {
    .name = "macd",
    .summary = "Moving average convergence and divergence",
    .family = "momentum",
    .source = "TA-Lib MACD",
    .id = INDICATOR_MACD,
    .inputs = INDICATOR_CLOSE,
    .n_options = 3,
    .options = {INDICATOR_PERIOD("fast", 12, 1), INDICATOR_PERIOD("slow", 26, 1),
                INDICATOR_PERIOD("signal", 9, 1)},
    .n_outputs = 3,
    .outputs = {"macd", "signal", "hist"},
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 2e-6},
    .lookback = lookback_macd,
    .warmup = warmup_macd,
    .code = &(const struct indicator_code){reference_macd, visit_row_macd},
};
