#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/registry.h"
#include "indicators_gpu/step/window_rows.h"
#include "indicators_gpu/stream/visit.h"

#define INDICATOR_FAMILY "prices"

/* clang-format off */

static size_t lookback_none(const double options[])
{
    (void)options;
    return 0;
}

static size_t warmup_none(const double options[], enum indicator_precision precision)
{
    (void)options, (void)precision;
    return 0;
}

const struct indicator indicator_avgprice = {
    INDICATOR_ROW(avgprice),
    .summary = "Average price: open, high, low, close",
    .source = "TA-Lib AVGPRICE",
    .inputs = avgprice_inputs,
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    .lookback = lookback_none,
    .warmup = warmup_none,
};

const struct indicator indicator_medprice = {
    INDICATOR_ROW(medprice),
    .summary = "Median price: high, low",
    .source = "TA-Lib MEDPRICE",
    .inputs = medprice_inputs,
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    .lookback = lookback_none,
    .warmup = warmup_none,
};

const struct indicator indicator_typprice = {
    INDICATOR_ROW(typprice),
    .summary = "Typical price: high, low, close",
    .source = "TA-Lib TYPPRICE",
    .inputs = typprice_inputs,
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    .lookback = lookback_none,
    .warmup = warmup_none,
};

const struct indicator indicator_wclprice = {
    INDICATOR_ROW(wclprice),
    .summary = "Weighted close price: high, low, and the close twice",
    .source = "TA-Lib WCLPRICE",
    .inputs = wclprice_inputs,
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    .lookback = lookback_none,
    .warmup = warmup_none,
};

const struct indicator indicator_midpoint = {
    INDICATOR_ROW(midpoint),
    .summary = "Middle of the highest and the lowest close",
    .source = "TA-Lib MIDPOINT",
    .inputs = midpoint_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};

const struct indicator indicator_midprice = {
    INDICATOR_ROW(midprice),
    .summary = "Middle of the highest high and the lowest low",
    .source = "TA-Lib MIDPRICE",
    .inputs = midprice_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};

const struct indicator indicator_max = {
    INDICATOR_ROW(max),
    .summary = "Highest close",
    .source = "TA-Lib MAX",
    .inputs = max_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 30, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};

const struct indicator indicator_min = {
    INDICATOR_ROW(min),
    .summary = "Lowest close",
    .source = "TA-Lib MIN",
    .inputs = min_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 30, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};

const struct indicator indicator_minmax = {
    INDICATOR_ROW(minmax),
    .summary = "Lowest and highest close",
    .source = "TA-Lib MINMAX",
    .inputs = minmax_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 30, 2)),
    INDICATOR_OUTPUTS("min", "max"),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};

const struct indicator indicator_since_max = {
    INDICATOR_ROW(since_max),
    .summary = "Bars since the highest close",
    .source = "numpy.argmax, of a window",
    .inputs = since_max_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 30, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};

const struct indicator indicator_since_min = {
    INDICATOR_ROW(since_min),
    .summary = "Bars since the lowest close",
    .source = "numpy.argmin, of a window",
    .inputs = since_min_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 30, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};
