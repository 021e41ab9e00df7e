#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/registry.h"
#include "indicators_gpu/step/recurrence.h"
#include "indicators_gpu/stream/visit.h"

static size_t warmup_sma(const double options[], enum indicator_precision precision)
{
    (void)precision;
    return lookback_window(options);
}

const struct indicator indicator_sma = {
    .name = "sma",
    .summary = "Simple moving average",
    .family = "moving_averages",
    .source = "TA-Lib SMA",
    .id = INDICATOR_SMA,
    .inputs = INDICATOR_CLOSE,
    .n_options = 1,
    .options = {INDICATOR_PERIOD("period", 30, 1)},
    .n_outputs = 1,
    .outputs = {""},
    .tolerance = {INDICATOR_OF_PRICE, 1e-14, 1e-6},
    .lookback = lookback_window,
    .warmup = warmup_sma,
    .code = &(const struct indicator_code){reference_sma, visit_row_sma},
};

static size_t warmup_ema(const double options[], enum indicator_precision precision)
{
    return lookback_window(options) + warmup_decay(ema_factor(options[0]), precision);
}

const struct indicator indicator_ema = {
    .name = "ema",
    .summary = "Exponential moving average, seeded with a simple one",
    .family = "moving_averages",
    .source = "TA-Lib EMA",
    .id = INDICATOR_EMA,
    .inputs = INDICATOR_CLOSE,
    .n_options = 1,
    .options = {INDICATOR_PERIOD("period", 30, 1)},
    .n_outputs = 1,
    .outputs = {""},
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 2e-6},
    .lookback = lookback_window,
    .warmup = warmup_ema,
    .code = &(const struct indicator_code){reference_ema, visit_row_ema},
};
