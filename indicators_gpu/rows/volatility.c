#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/registry.h"
#include "indicators_gpu/step/recurrence.h"
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

const struct indicator indicator_natr = {
    .name = "natr",
    .summary = "Average true range in percent of the close",
    .family = "volatility",
    .source = "TA-Lib NATR",
    .id = INDICATOR_NATR,
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    .n_options = 1,
    .options = {INDICATOR_PERIOD("period", 14, 2)},
    .n_outputs = 1,
    .outputs = {""},
    .tolerance = {INDICATOR_OF_VALUE, 1e-13, 5e-6},
    .lookback = lookback_changes,
    .warmup = warmup_atr,
    .code = &(const struct indicator_code){reference_natr, visit_row_natr},
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
    .name = "trange",
    .summary = "True range (Wilder)",
    .family = "volatility",
    .source = "TA-Lib TRANGE",
    .id = INDICATOR_TRANGE,
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    .n_outputs = 1,
    .outputs = {""},
    .tolerance = {INDICATOR_OF_PRICE, 1e-15, 2e-7},
    .lookback = lookback_trange,
    .warmup = warmup_trange,
    .code = &(const struct indicator_code){reference_trange, visit_row_trange},
};

const struct indicator indicator_bbands = {
    .name = "bbands",
    .summary = "Bollinger bands on a simple average",
    .family = "volatility",
    .source = "TA-Lib BBANDS",
    .id = INDICATOR_BBANDS,
    .inputs = INDICATOR_CLOSE,
    .n_options = 2,
    .options = {INDICATOR_PERIOD("period", 20, 2), {.name = "deviations", .value = 2, .min = 0, .max = 100}},
    .n_outputs = 3,
    .outputs = {"upper", "middle", "lower"},
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 1e-5},
    .lookback = lookback_window,
    .warmup = warmup_window,
    .code = &(const struct indicator_code){reference_bbands, visit_row_bbands},
};

static size_t lookback_keltner(const double options[])
{
    size_t ema = (size_t)options[0] - 1, atr = (size_t)options[1];
    return ema > atr ? ema : atr;
}

/* Both averages' seeds end at the first output. */
static size_t warmup_keltner(const double options[], enum indicator_precision precision)
{
    size_t ema = warmup_decay(ema_factor(options[0]), precision);
    size_t atr = warmup_decay(1.0 / options[1], precision);
    return lookback_keltner(options) + (ema > atr ? ema : atr);
}

const struct indicator indicator_keltner = {
    .name = "keltner",
    .summary = "Keltner channel: the typical price's average and its distance in average true ranges",
    .family = "volatility",
    .source = "TA-Lib KC",
    .id = INDICATOR_KELTNER,
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    .n_options = 3,
    .options = {INDICATOR_PERIOD("ema", 20, 1),
                INDICATOR_PERIOD("atr", 10, 1),
                {.name = "multiplier", .value = 2, .min = 0, .max = 100}},
    .n_outputs = 3,
    .outputs = {"upper", "middle", "lower"},
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 1e-5},
    .lookback = lookback_keltner,
    .warmup = warmup_keltner,
    .code = &(const struct indicator_code){reference_keltner, visit_row_keltner},
};

const struct indicator indicator_donchian = {
    .name = "donchian",
    .summary = "Donchian channel: highest high, lowest low and their middle",
    .family = "volatility",
    .source = "TA-Lib DONCHIAN",
    .id = INDICATOR_DONCHIAN,
    .inputs = INDICATOR_HIGH | INDICATOR_LOW,
    .n_options = 1,
    .options = {INDICATOR_PERIOD("period", 20, 1)},
    .n_outputs = 3,
    .outputs = {"upper", "middle", "lower"},
    .tolerance = {INDICATOR_OF_PRICE, 1e-15, 2e-7},
    .lookback = lookback_window,
    .warmup = warmup_window,
    .code = &(const struct indicator_code){reference_donchian, visit_row_donchian},
};

const struct indicator indicator_realvol = {
    .name = "realvol",
    .summary = "Realised volatility: sample deviation of the closes' log returns, a bar's",
    .family = "volatility",
    .source = "sample standard deviation (n - 1) of log returns",
    .id = INDICATOR_REALVOL,
    .inputs = INDICATOR_CLOSE,
    .n_options = 1,
    .options = {INDICATOR_PERIOD("period", 20, 2)},
    .n_outputs = 1,
    .outputs = {""},
    .tolerance = {INDICATOR_OF_ONE, 5e-14, 1e-9}, /* quotients beside 1 are rounded to 2^-53 */
    .lookback = lookback_changes,
    .warmup = warmup_changes,
    .code = &(const struct indicator_code){reference_realvol, visit_row_realvol},
};

const struct indicator indicator_parkinson = {
    .name = "parkinson",
    .summary = "Volatility from highs and lows (Parkinson), a bar's",
    .family = "volatility",
    .source = "Parkinson, The Extreme Value Method..., Journal of Business 53, 1980",
    .id = INDICATOR_PARKINSON,
    .inputs = INDICATOR_HIGH | INDICATOR_LOW,
    .n_options = 1,
    .options = {INDICATOR_PERIOD("period", 20, 1)},
    .n_outputs = 1,
    .outputs = {""},
    .tolerance = {INDICATOR_OF_COLUMN, 1e-13, 2e-6},
    .lookback = lookback_window,
    .warmup = warmup_window,
    .code = &(const struct indicator_code){reference_parkinson, visit_row_parkinson},
};

const struct indicator indicator_garman_klass = {
    .name = "garman_klass",
    .summary = "Volatility from open, high, low and close (Garman and Klass), a bar's",
    .family = "volatility",
    .source =
        "Garman and Klass, On the Estimation of Security Price Volatilities..., Journal of Business 53, 1980",
    .id = INDICATOR_GARMAN_KLASS,
    .inputs = INDICATOR_OPEN | INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    .n_options = 1,
    .options = {INDICATOR_PERIOD("period", 20, 1)},
    .n_outputs = 1,
    .outputs = {""},
    .tolerance = {INDICATOR_OF_COLUMN, 1e-13, 2e-6},
    .lookback = lookback_window,
    .warmup = warmup_window,
    .code = &(const struct indicator_code){reference_garman_klass, visit_row_garman_klass},
};
