#include "indicators_gpu/step/volume.h"
#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/registry.h"
#include "indicators_gpu/step/window_rows.h"
#include "indicators_gpu/stream/visit.h"

#define INDICATOR_FAMILY "volume"

/* clang-format off */

const struct indicator indicator_mfi = {
    INDICATOR_ROW(mfi),
    .summary = "Money flow index",
    .source = "TA-Lib MFI",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE | INDICATOR_VOLUME,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 1e-11, 1e-4},
    INDICATOR_CHANGES,
};

static size_t lookback_none(const double options[])
{
    (void)options;
    return 0;
}

const struct indicator indicator_obv = {
    INDICATOR_ROW(obv),
    .summary = "On-balance volume",
    .source = "TA-Lib OBV",
    .inputs = INDICATOR_CLOSE | INDICATOR_VOLUME,
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_COLUMN, 1e-12, 1e-6},
    .lookback = lookback_none,
    .warmup = indicator_warmup_never,
};

const struct indicator indicator_ad = {
    INDICATOR_ROW(ad),
    .summary = "Accumulation and distribution line (Chaikin)",
    .source = "TA-Lib AD",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE | INDICATOR_VOLUME,
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_COLUMN, 1e-12, 1e-6},
    .lookback = lookback_none,
    .warmup = indicator_warmup_never,
};

static size_t lookback_slower(const double options[])
{
    return (size_t)(options[0] > options[1] ? options[0] : options[1]) - 1;
}

/* By the slower of two averages; a line with another beginning, as ADOSC has, shifts both alike. */
static size_t warmup_slower(const double options[], enum indicator_precision precision)
{
    double slow = options[0] > options[1] ? options[0] : options[1];
    return lookback_slower(options) + indicator_warmup_decay(ema_factor(slow), precision);
}

const struct indicator indicator_adosc = {
    INDICATOR_ROW(adosc),
    .summary = "Accumulation and distribution oscillator (Chaikin)",
    .source = "TA-Lib ADOSC",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE | INDICATOR_VOLUME,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("fast", 3, 2), INDICATOR_PERIOD("slow", 10, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_COLUMN, 1e-11, 1e-3},
    .lookback = lookback_slower,
    .warmup = warmup_slower,
};

/* A session that began before the history is over after a day, which has at most so many bars of a second. */
static size_t warmup_vwap(const double options[], enum indicator_precision precision)
{
    (void)options;
    (void)precision;
    return SESSION_S;
}

const struct indicator indicator_vwap = {
    INDICATOR_ROW(vwap),
    .summary = "Volume-weighted average of the session's typical prices",
    .source = "own: docs/indicators/volume.md",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE | INDICATOR_VOLUME | INDICATOR_TIME,
    INDICATOR_OPTIONS({.name = "start", .value = 0, .min = 0, .max = 23.99}),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 1e-6},
    .lookback = lookback_none,
    .warmup = warmup_vwap,
};

const struct indicator indicator_vwma = {
    INDICATOR_ROW(vwma),
    .summary = "Volume-weighted moving average",
    .source = "TA-Lib VWMA",
    .inputs = vwma_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 30, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};

const struct indicator indicator_cmf = {
    INDICATOR_ROW(cmf),
    .summary = "Chaikin money flow",
    .source = "TA-Lib CMF",
    .inputs = cmf_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 20, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};

static size_t warmup_none(const double options[], enum indicator_precision precision)
{
    (void)options, (void)precision;
    return 0;
}

const struct indicator indicator_marketfi = {
    INDICATOR_ROW(marketfi),
    .summary = "Market facilitation index: the range a unit of volume",
    .source = "TA-Lib MARKETFI",
    .inputs = marketfi_inputs,
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    .lookback = lookback_none,
    .warmup = warmup_none,
};

const struct indicator indicator_rvol = {
    INDICATOR_ROW(rvol),
    .summary = "Volume as a share of the mean of those before",
    .source = "TA-Lib RVOL",
    .inputs = rvol_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 20, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_CHANGES,
};

const struct indicator indicator_pvt = {
    INDICATOR_ROW(pvt),
    .summary = "Price and volume trend: the sum of changes times volume",
    .source = "TA-Lib PVT",
    .inputs = INDICATOR_CLOSE | INDICATOR_VOLUME,
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_COLUMN, 1e-12, 1e-6},
    .lookback = lookback_none,
    .warmup = indicator_warmup_never,
};

const struct indicator indicator_nvi = {
    INDICATOR_ROW(nvi),
    .summary = "Negative volume index: the changes of bars of less volume",
    .source = "TA-Lib NVI",
    .inputs = INDICATOR_CLOSE | INDICATOR_VOLUME,
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_COLUMN, 1e-12, 1e-6},
    .lookback = lookback_none,
    .warmup = indicator_warmup_never,
};

const struct indicator indicator_pvi = {
    INDICATOR_ROW(pvi),
    .summary = "Positive volume index: the changes of bars of more volume",
    .source = "TA-Lib PVI",
    .inputs = INDICATOR_CLOSE | INDICATOR_VOLUME,
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_COLUMN, 1e-12, 1e-6},
    .lookback = lookback_none,
    .warmup = indicator_warmup_never,
};

static size_t warmup_efi(const double options[], enum indicator_precision precision)
{
    return indicator_lookback_changes(options) + indicator_warmup_decay(ema_factor(options[0]), precision);
}

const struct indicator indicator_efi = {
    INDICATOR_ROW(efi),
    .summary = "Force index (Elder): the average of changes times volume",
    .source = "TA-Lib EFI",
    .inputs = INDICATOR_CLOSE | INDICATOR_VOLUME,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 13, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_COLUMN, 1e-12, 1e-5},
    .lookback = indicator_lookback_changes,
    .warmup = warmup_efi,
};

static size_t warmup_pvo(const double options[], enum indicator_precision precision)
{
    return options[2] != 0.0 ? warmup_slower(options, precision) : lookback_slower(options);
}

const struct indicator indicator_pvo = {
    INDICATOR_ROW(pvo),
    .summary = "Percentage volume oscillator: two averages' difference",
    .source = "TA-Lib PVO",
    .inputs = INDICATOR_VOLUME,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("fast", 12, 2), INDICATOR_PERIOD("slow", 26, 2),
                      {.name = "exponential", .value = 1, .min = 0, .max = 1, .whole = true}),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 1e-9, 1e-3},
    .lookback = lookback_slower,
    .warmup = warmup_pvo,
};
