#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/registry.h"
#include "indicators_gpu/step/oscillators.h"
#include "indicators_gpu/step/recurrence.h"
#include "indicators_gpu/step/window_rows.h"
#include "indicators_gpu/stream/visit.h"

#define INDICATOR_FAMILY "momentum"

/* clang-format off */

static size_t warmup_rsi(const double options[], enum indicator_precision precision)
{
    return indicator_lookback_changes(options) + indicator_warmup_decay(1.0 / options[0], precision);
}

const struct indicator indicator_rsi = {
    INDICATOR_ROW(rsi),
    .summary = "Relative strength index (Wilder)",
    .source = "TA-Lib RSI",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 1e-11, 1e-3},
    .lookback = indicator_lookback_changes,
    .warmup = warmup_rsi,
};

static double slower(const double options[])
{
    return options[0] > options[1] ? options[0] : options[1];
}

static size_t lookback_macd(const double options[])
{
    return (size_t)slower(options) + (size_t)options[2] - 2;
}

static size_t warmup_macd(const double options[], enum indicator_precision precision)
{
    return lookback_macd(options) + indicator_warmup_decay(ema_factor(slower(options)), precision) +
           indicator_warmup_decay(ema_factor(options[2]), precision);
}

const struct indicator indicator_macd = {
    INDICATOR_ROW(macd),
    .summary = "Moving average convergence and divergence",
    .source = "TA-Lib MACD",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("fast", 12, 1), INDICATOR_PERIOD("slow", 26, 1),
                      INDICATOR_PERIOD("signal", 9, 1)),
    INDICATOR_OUTPUTS("macd", "signal", "hist"),
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 2e-6},
    .lookback = lookback_macd,
    .warmup = warmup_macd,
};

static size_t lookback_ppo(const double options[])
{
    return (size_t)slower(options) - 1;
}

static size_t warmup_ppo(const double options[], enum indicator_precision precision)
{
    size_t decay = options[2] != 0.0 ? indicator_warmup_decay(ema_factor(slower(options)), precision) : 0;
    return lookback_ppo(options) + decay;
}

const struct indicator indicator_ppo = {
    INDICATOR_ROW(ppo),
    .summary = "Percentage price oscillator: two averages' difference",
    .source = "TA-Lib PPO",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("fast", 12, 2),
                      INDICATOR_PERIOD("slow", 26, 2),
                      {.name = "exponential", .value = 1, .min = 0, .max = 1, .whole = true}),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 1e-9, 1e-3},
    .lookback = lookback_ppo,
    .warmup = warmup_ppo,
};

const struct indicator indicator_roc = {
    INDICATOR_ROW(roc),
    .summary = "Rate of change, in per cent",
    .source = "TA-Lib ROC",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 10, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-14, 1e-6},
    INDICATOR_CHANGES,
};

const struct indicator indicator_mom = {
    INDICATOR_ROW(mom),
    .summary = "Momentum: the change over a period",
    .source = "TA-Lib MOM",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 10, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_CHANGES,
};

static size_t lookback_trix(const double options[])
{
    return 3 * indicator_lookback_window(options) + 1;
}

static size_t warmup_trix(const double options[], enum indicator_precision precision)
{
    return lookback_trix(options) + 3 * indicator_warmup_decay(ema_factor(options[0]), precision);
}

const struct indicator indicator_trix = {
    INDICATOR_ROW(trix),
    .summary = "Change of a triple exponential average, in per cent",
    .source = "TA-Lib TRIX",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 30, 1)),
    INDICATOR_OUTPUTS(""),
    /* A few digits of 100 * y/y'; where a price falls by eight orders of magnitude y + k(x - y) keeps 2^-53
     * of what y was, in the reference too: 5e-7 measured. */
    .tolerance = {INDICATOR_OF_ONE, 1e-5, 1e-5},
    .lookback = lookback_trix,
    .warmup = warmup_trix,
};

const struct indicator indicator_cci = {
    INDICATOR_ROW(cci),
    .summary = "Commodity channel index",
    .source = "TA-Lib CCI",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 1e-9, 2e-3},
    INDICATOR_WINDOW,
};

static size_t lookback_ultosc(const double options[])
{
    double longest = slower(options);
    return (size_t)(options[2] > longest ? options[2] : longest);
}

static size_t warmup_ultosc(const double options[], enum indicator_precision precision)
{
    (void)precision;
    return lookback_ultosc(options);
}

const struct indicator indicator_ultosc = {
    INDICATOR_ROW(ultosc),
    .summary = "Ultimate oscillator",
    .source = "TA-Lib ULTOSC",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("first", 7, 1), INDICATOR_PERIOD("second", 14, 1),
                      INDICATOR_PERIOD("third", 28, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 1e-11, 1e-4},
    .lookback = lookback_ultosc,
    .warmup = warmup_ultosc,
};

const struct indicator indicator_rocp = {
    INDICATOR_ROW(rocp),
    .summary = "Rate of change, as a share",
    .source = "TA-Lib ROCP",
    .inputs = rocp_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 10, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_CHANGES,
};

const struct indicator indicator_rocr = {
    INDICATOR_ROW(rocr),
    .summary = "Rate of change, as a ratio",
    .source = "TA-Lib ROCR",
    .inputs = rocr_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 10, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_CHANGES,
};

const struct indicator indicator_rocr100 = {
    INDICATOR_ROW(rocr100),
    .summary = "Rate of change, as a ratio in per cent",
    .source = "TA-Lib ROCR100",
    .inputs = rocr100_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 10, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_CHANGES,
};

const struct indicator indicator_imi = {
    INDICATOR_ROW(imi),
    .summary = "Intraday momentum index",
    .source = "TA-Lib IMI",
    .inputs = imi_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};

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

const struct indicator indicator_bop = {
    INDICATOR_ROW(bop),
    .summary = "Balance of power: the body as a share of the range",
    .source = "TA-Lib BOP",
    .inputs = bop_inputs,
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    .lookback = lookback_none,
    .warmup = warmup_none,
};

const struct indicator indicator_cmo = {
    INDICATOR_ROW(cmo),
    .summary = "Chande's momentum oscillator",
    .source = "TA-Lib CMO",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 1e-11, 1e-3},
    .lookback = indicator_lookback_changes,
    .warmup = warmup_rsi,
};

const struct indicator indicator_apo = {
    INDICATOR_ROW(apo),
    .summary = "Absolute price oscillator: two averages' difference",
    .source = "TA-Lib APO",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("fast", 12, 2), INDICATOR_PERIOD("slow", 26, 2),
                      {.name = "exponential", .value = 1, .min = 0, .max = 1, .whole = true}),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 2e-6},
    .lookback = lookback_ppo,
    .warmup = warmup_ppo,
};

static size_t lookback_macdfix(const double options[])
{
    return 26 + (size_t)options[0] - 2;
}

static size_t warmup_macdfix(const double options[], enum indicator_precision precision)
{
    return lookback_macdfix(options) + indicator_warmup_decay(MACDFIX_SLOW, precision) +
           indicator_warmup_decay(ema_factor(options[0]), precision);
}

const struct indicator indicator_macdfix = {
    INDICATOR_ROW(macdfix),
    .summary = "MACD of 12 and 26 bars, with weights 0.15 and 0.075",
    .source = "TA-Lib MACDFIX",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("signal", 9, 1)),
    INDICATOR_OUTPUTS("macd", "signal", "hist"),
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 2e-6},
    .lookback = lookback_macdfix,
    .warmup = warmup_macdfix,
};

static size_t warmup_macdext(const double options[], enum indicator_precision precision)
{
    (void)precision;
    return lookback_macd(options);
}

const struct indicator indicator_macdext = {
    INDICATOR_ROW(macdext),
    .summary = "MACD of simple averages",
    .source = "TA-Lib MACDEXT, of types 0",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("fast", 12, 2), INDICATOR_PERIOD("slow", 26, 2),
                      INDICATOR_PERIOD("signal", 9, 1)),
    INDICATOR_OUTPUTS("macd", "signal", "hist"),
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 2e-6},
    .lookback = lookback_macd,
    .warmup = warmup_macdext,
};

static size_t warmup_ao(const double options[], enum indicator_precision precision)
{
    (void)precision;
    return ao_back(options);
}

const struct indicator indicator_ao = {
    INDICATOR_ROW(ao),
    .summary = "Awesome oscillator: two means of the bars' middles",
    .source = "TA-Lib AO",
    .inputs = ao_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("fast", 5, 2), INDICATOR_PERIOD("slow", 34, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    .lookback = ao_back,
    .warmup = warmup_ao,
};

static size_t warmup_ac(const double options[], enum indicator_precision precision)
{
    (void)precision;
    return ac_back(options);
}

const struct indicator indicator_ac = {
    INDICATOR_ROW(ac),
    .summary = "Accelerator: the awesome oscillator less its mean",
    .source = "TA-Lib AC",
    .inputs = ac_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("fast", 5, 2), INDICATOR_PERIOD("slow", 34, 2), INDICATOR_PERIOD("signal", 5, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    .lookback = ac_back,
    .warmup = warmup_ac,
};

const struct indicator indicator_cmou = {
    INDICATOR_ROW(cmou),
    .summary = "Chande's momentum oscillator, of plain sums",
    .source = "TA-Lib CMOU",
    .inputs = cmou_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_CHANGES,
};

static size_t warmup_coppock(const double options[], enum indicator_precision precision)
{
    (void)precision;
    return coppock_back(options);
}

const struct indicator indicator_coppock = {
    INDICATOR_ROW(coppock),
    .summary = "Coppock curve: a weighted mean of two rates of change",
    .source = "TA-Lib COPPOCK",
    .inputs = coppock_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("wma", 10, 1), INDICATOR_PERIOD("roc1", 11, 1), INDICATOR_PERIOD("roc2", 14, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    .lookback = coppock_back,
    .warmup = warmup_coppock,
};

static size_t warmup_dpo(const double options[], enum indicator_precision precision)
{
    (void)precision;
    return dpo_back(options);
}

const struct indicator indicator_dpo = {
    INDICATOR_ROW(dpo),
    .summary = "Detrended price: an earlier close less the mean",
    .source = "TA-Lib DPO",
    .inputs = dpo_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 20, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    .lookback = dpo_back,
    .warmup = warmup_dpo,
};

const struct indicator indicator_er = {
    INDICATOR_ROW(er),
    .summary = "Efficiency ratio (Kaufman)",
    .source = "TA-Lib ER",
    .inputs = er_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 10, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_CHANGES,
};

const struct indicator indicator_fosc = {
    INDICATOR_ROW(fosc),
    .summary = "Forecast oscillator: the close less what its line forecast, in per cent",
    .source = "TA-Lib FOSC",
    .inputs = fosc_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 5, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_CHANGES,
};

static size_t warmup_fractal(const double options[], enum indicator_precision precision)
{
    (void)precision;
    return fractal_back(options);
}

const struct indicator indicator_fractal = {
    INDICATOR_ROW(fractal),
    .summary = "Williams fractals, 100 at the bar that confirms one",
    .source = "TA-Lib FRACTAL",
    .inputs = fractal_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("left", 2, 1), INDICATOR_PERIOD("right", 2, 1)),
    INDICATOR_OUTPUTS("high", "low"),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    .lookback = fractal_back,
    .warmup = warmup_fractal,
};

const struct indicator indicator_qstick = {
    INDICATOR_ROW(qstick),
    .summary = "Mean of the bodies",
    .source = "TA-Lib QSTICK",
    .inputs = qstick_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 10, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};

const struct indicator indicator_vhf = {
    INDICATOR_ROW(vhf),
    .summary = "Vertical horizontal filter: the range as a share of the way",
    .source = "TA-Lib VHF",
    .inputs = vhf_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 28, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_CHANGES,
};

const struct indicator indicator_wad = {
    INDICATOR_ROW(wad),
    .summary = "Accumulation and distribution of true ranges, without volume (Williams)",
    .source = "TA-Lib WAD",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_COLUMN, 1e-12, 1e-6},
    .lookback = lookback_none,
    .warmup = indicator_warmup_never,
};

static size_t warmup_eri(const double options[], enum indicator_precision precision)
{
    return indicator_lookback_window(options) + indicator_warmup_decay(ema_factor(options[0]), precision);
}

const struct indicator indicator_eri = {
    INDICATOR_ROW(eri),
    .summary = "Elder ray: high and low less the close's exponential average",
    .source = "TA-Lib ERI",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 13, 1)),
    INDICATOR_OUTPUTS("bull", "bear"),
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 2e-6},
    .lookback = indicator_lookback_window,
    .warmup = warmup_eri,
};

static size_t lookback_tsi(const double options[])
{
    return (size_t)options[0] + (size_t)options[1] - 1;
}

static size_t warmup_tsi(const double options[], enum indicator_precision precision)
{
    return lookback_tsi(options) + indicator_warmup_decay(ema_factor(options[0]), precision) +
           indicator_warmup_decay(ema_factor(options[1]), precision);
}

const struct indicator indicator_tsi = {
    INDICATOR_ROW(tsi),
    .summary = "True strength index (Blau)",
    .source = "TA-Lib TSI",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("first", 25, 2), INDICATOR_PERIOD("second", 13, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 1e-10, 1e-3},
    .lookback = lookback_tsi,
    .warmup = warmup_tsi,
};

static size_t lookback_smi(const double options[])
{
    return (size_t)(options[0] + options[1] + options[2] + options[3]) - 4;
}

static size_t warmup_smi(const double options[], enum indicator_precision precision)
{
    size_t bars = lookback_smi(options);
    for (int i = 1; i < 4; i++)
        bars += indicator_warmup_decay(ema_factor(options[i]), precision);
    return bars;
}

const struct indicator indicator_smi = {
    INDICATOR_ROW(smi),
    .summary = "Stochastic momentum index (Blau)",
    .source = "TA-Lib SMI",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 13, 2), INDICATOR_PERIOD("fast", 2, 2),
                      INDICATOR_PERIOD("slow", 25, 2), INDICATOR_PERIOD("signal", 9, 2)),
    INDICATOR_OUTPUTS("smi", "signal"),
    .tolerance = {INDICATOR_OF_ONE, 1e-10, 1e-3},
    .lookback = lookback_smi,
    .warmup = warmup_smi,
};

static size_t lookback_kdj(const double options[])
{
    return (size_t)(options[0] + options[1] + options[2]) - 3;
}

static size_t warmup_kdj(const double options[], enum indicator_precision precision)
{
    return lookback_kdj(options) + indicator_warmup_decay(1.0 / options[1], precision) +
           indicator_warmup_decay(1.0 / options[2], precision);
}

const struct indicator indicator_kdj = {
    INDICATOR_ROW(kdj),
    .summary = "Stochastic with Wilder's averages, and 3K - 2D",
    .source = "TA-Lib KDJ",
    .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("window", 9, 1), INDICATOR_PERIOD("k", 3, 1), INDICATOR_PERIOD("d", 3, 1)),
    INDICATOR_OUTPUTS("k", "d", "j"),
    .tolerance = {INDICATOR_OF_ONE, 1e-10, 1e-3},
    .lookback = lookback_kdj,
    .warmup = warmup_kdj,
};
