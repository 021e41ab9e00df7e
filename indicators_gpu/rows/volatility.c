#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/registry.h"
#include "indicators_gpu/stream/visit.h"

static size_t warmup_atr(const double options[], enum indicator_precision precision)
{
    return lookback_changes(options) + warmup_decay(1.0 / options[0], precision);
}

const struct indicator indicator_atr = {
    .name = "atr",
    .summary = "Average true range (Wilder)",
    .family = "volatility",
    .source = "TA-Lib ATR",
    .id = INDICATOR_ATR,
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    .n_options = 1,
    .options = {INDICATOR_PERIOD("period", 14, 1)},
    .n_outputs = 1,
    .outputs = {""},
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 2e-6},
    .lookback = lookback_changes,
    .warmup = warmup_atr,
    .code = &(const struct indicator_code){reference_atr, visit_row_atr},
};
