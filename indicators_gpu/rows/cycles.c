#include "indicators_gpu/step/cycles.h"
#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/registry.h"
#include "indicators_gpu/stream/visit.h"

#define INDICATOR_FAMILY "cycles"

/* clang-format off */

static size_t lookback_period(const double options[])
{
    (void)options;
    return CYCLE_FIRST;
}

static size_t lookback_phase(const double options[])
{
    (void)options;
    return PHASE_FIRST;
}

const struct indicator indicator_ht_dcperiod = {
    INDICATOR_ROW(ht_dcperiod),
    .summary = "Hilbert transform: dominant cycle period",
    .source = "TA-Lib HT_DCPERIOD",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    .lookback = lookback_period,
    .warmup = indicator_warmup_never,
};

const struct indicator indicator_ht_dcphase = {
    INDICATOR_ROW(ht_dcphase),
    .summary = "Hilbert transform: dominant cycle phase, in degrees",
    .source = "TA-Lib HT_DCPHASE",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    .lookback = lookback_phase,
    .warmup = indicator_warmup_never,
};

const struct indicator indicator_ht_phasor = {
    INDICATOR_ROW(ht_phasor),
    .summary = "Hilbert transform: phasor components",
    .source = "TA-Lib HT_PHASOR",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OUTPUTS("inphase", "quadrature"),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    .lookback = lookback_period,
    .warmup = indicator_warmup_never,
};

const struct indicator indicator_ht_sine = {
    INDICATOR_ROW(ht_sine),
    .summary = "Hilbert transform: sine wave, and 45 degrees ahead",
    .source = "TA-Lib HT_SINE",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OUTPUTS("sine", "leadsine"),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    .lookback = lookback_phase,
    .warmup = indicator_warmup_never,
};

const struct indicator indicator_ht_trendline = {
    INDICATOR_ROW(ht_trendline),
    .summary = "Hilbert transform: instantaneous trend line",
    .source = "TA-Lib HT_TRENDLINE",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    .lookback = lookback_phase,
    .warmup = indicator_warmup_never,
};

const struct indicator indicator_ht_trendmode = {
    INDICATOR_ROW(ht_trendmode),
    .summary = "Hilbert transform: 1 in a trend, 0 in a cycle",
    .source = "TA-Lib HT_TRENDMODE",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    .lookback = lookback_phase,
    .warmup = indicator_warmup_never,
};

const struct indicator indicator_mama = {
    INDICATOR_ROW(mama),
    .summary = "MESA adaptive moving average (Ehlers)",
    .source = "TA-Lib MAMA",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS({.name = "fast", .value = 0.5, .min = 0.01, .max = 0.99},
                      {.name = "slow", .value = 0.05, .min = 0.01, .max = 0.99}),
    INDICATOR_OUTPUTS("mama", "fama"),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    .lookback = lookback_period,
    .warmup = indicator_warmup_never,
};
