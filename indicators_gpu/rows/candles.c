/* The candlestick patterns, a row each, from step/candle_list.h. */
#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/registry.h"
#include "indicators_gpu/step/window_rows.h"
#include "indicators_gpu/stream/visit.h"

#define INDICATOR_FAMILY "candles"

/* clang-format off */

/* TA-Lib's names are these in capitals; `penetration` is an option where the list has one. */
#define CANDLE_ROW(pattern, bars, share, text) \
    static size_t lookback_##pattern(const double options[]) \
    { \
        (void)options; \
        return bars; \
    } \
    static size_t warmup_##pattern(const double options[], enum indicator_precision precision) \
    { \
        (void)options, (void)precision; \
        return bars; \
    } \
    const struct indicator indicator_cdl##pattern = { \
        INDICATOR_ROW(cdl##pattern), \
        .summary = text, \
        .source = "TA-Lib cdl" #pattern, \
        .inputs = cdl##pattern##_inputs, \
        .options = {{.name = "penetration", .value = share, .min = 0, .max = 10}}, \
        .n_options = share > 0.0 ? 1 : 0, \
        INDICATOR_OUTPUTS(""), \
        .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7}, \
        .lookback = lookback_##pattern, \
        .warmup = warmup_##pattern, \
    };
CANDLES(CANDLE_ROW)
