#include "indicators_gpu/step/moving_averages.h"
#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/registry.h"
#include "indicators_gpu/step/smoothed.h"
#include "indicators_gpu/step/window_rows.h"
#include "indicators_gpu/stream/visit.h"

#define INDICATOR_FAMILY "moving_averages"

/* clang-format off */

const struct indicator indicator_sma = {
    INDICATOR_ROW(sma),
    .summary = "Simple moving average",
    .source = "TA-Lib SMA",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 30, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_PRICE, 1e-12, 1e-6},
    INDICATOR_WINDOW,
};

static size_t warmup_ema(const double options[], enum indicator_precision precision)
{
    return indicator_lookback_window(options) + indicator_warmup_decay(ema_factor(options[0]), precision);
}

const struct indicator indicator_ema = {
    INDICATOR_ROW(ema),
    .summary = "Exponential moving average, seeded with a simple one",
    .source = "TA-Lib EMA",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 30, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 2e-6},
    .lookback = indicator_lookback_window,
    .warmup = warmup_ema,
};

const struct indicator indicator_wma = {
    INDICATOR_ROW(wma),
    .summary = "Weighted moving average: weights rise evenly to the newest",
    .source = "TA-Lib WMA",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 30, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 2e-6},
    INDICATOR_WINDOW,
};

static size_t lookback_dema(const double options[])
{
    return 2 * indicator_lookback_window(options);
}

static size_t warmup_dema(const double options[], enum indicator_precision precision)
{
    return lookback_dema(options) + 2 * indicator_warmup_decay(ema_factor(options[0]), precision);
}

const struct indicator indicator_dema = {
    INDICATOR_ROW(dema),
    .summary = "Double exponential moving average: less of the lag",
    .source = "TA-Lib DEMA",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 30, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 6e-6},
    .lookback = lookback_dema,
    .warmup = warmup_dema,
};

static size_t lookback_tema(const double options[])
{
    return 3 * indicator_lookback_window(options);
}

static size_t warmup_tema(const double options[], enum indicator_precision precision)
{
    return lookback_tema(options) + 3 * indicator_warmup_decay(ema_factor(options[0]), precision);
}

const struct indicator indicator_tema = {
    INDICATOR_ROW(tema),
    .summary = "Triple exponential moving average",
    .source = "TA-Lib TEMA",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 30, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 2e-5},
    .lookback = lookback_tema,
    .warmup = warmup_tema,
};

/* As long as the slowest smoothing takes, in a market without a trend. */
static size_t warmup_kama(const double options[], enum indicator_precision precision)
{
    return indicator_lookback_changes(options) +
           indicator_warmup_decay(KAMA_SLOWEST * KAMA_SLOWEST, precision);
}

const struct indicator indicator_kama = {
    INDICATOR_ROW(kama),
    .summary = "Kaufman's adaptive moving average, of 2 to 30 bars",
    .source = "TA-Lib KAMA",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 30, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_PRICE, 5e-13, 2e-6},
    .lookback = indicator_lookback_changes,
    .warmup = warmup_kama,
};

static size_t lookback_hma(const double options[])
{
    return indicator_lookback_window(options) + hma_root(options[0]) - 1;
}

static size_t warmup_hma(const double options[], enum indicator_precision precision)
{
    (void)precision;
    return lookback_hma(options);
}

const struct indicator indicator_hma = {
    INDICATOR_ROW(hma),
    .summary = "Hull moving average, periods rounded down",
    .source = "TA-Lib HMA",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 16, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 4e-6},
    .lookback = lookback_hma,
    .warmup = warmup_hma,
};

const struct indicator indicator_trima = {
    INDICATOR_ROW(trima),
    .summary = "Triangular moving average",
    .source = "TA-Lib TRIMA",
    .inputs = trima_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 30, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};

static size_t lookback_t3(const double options[])
{
    return 6 * indicator_lookback_window(options);
}

static size_t warmup_t3(const double options[], enum indicator_precision precision)
{
    return lookback_t3(options) + 6 * indicator_warmup_decay(ema_factor(options[0]), precision);
}

const struct indicator indicator_t3 = {
    INDICATOR_ROW(t3),
    .summary = "T3: six exponential averages in a row (Tillson)",
    .source = "TA-Lib T3",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 5, 2),
                      {.name = "factor", .value = 0.7, .min = 0, .max = 1}),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_PRICE, 1e-12, 1e-6},
    .lookback = lookback_t3,
    .warmup = warmup_t3,
};

static size_t warmup_rma(const double options[], enum indicator_precision precision)
{
    return indicator_lookback_window(options) + indicator_warmup_decay(1.0 / options[0], precision);
}

const struct indicator indicator_rma = {
    INDICATOR_ROW(rma),
    .summary = "Wilder's moving average, seeded with a simple one",
    .source = "TA-Lib RMA",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 30, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 2e-6},
    .lookback = indicator_lookback_window,
    .warmup = warmup_rma,
};

static size_t lookback_zlema(const double options[])
{
    return indicator_lookback_window(options) + zlema_lag(options);
}

static size_t warmup_zlema(const double options[], enum indicator_precision precision)
{
    return lookback_zlema(options) + indicator_warmup_decay(ema_factor(options[0]), precision);
}

const struct indicator indicator_zlema = {
    INDICATOR_ROW(zlema),
    .summary = "Exponential moving average without its lag (Ehlers)",
    .source = "TA-Lib ZLEMA",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 30, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 2e-6},
    .lookback = lookback_zlema,
    .warmup = warmup_zlema,
};
