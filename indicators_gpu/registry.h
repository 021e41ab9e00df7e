/* Inside the library: what a row of the registry has beside its public face (indicators.h). */
#ifndef INDICATORS_GPU_REGISTRY_H
#define INDICATORS_GPU_REGISTRY_H

#include "indicators_gpu/indicators.h"

struct indicator_code {
    /* Computes bars lookback..n-1 of every output. Called with n > lookback and finite columns only; does not
     * write below lookback. Plain loops in the agreed order of operations, windows straight from the columns;
     * reference/ has one file a family. Use indicator_reference(), which sees to the rest. Returns 0 or
     * -ENOMEM. */
    int (*reference)(const double options[], const struct indicator_columns *in, size_t n,
                     double *const out[]);

    /* Takes the memory of step/ apart and together: see stream/visit.h. */
    void (*visit)(void *state, const struct indicator_stream_fields *fields);
};

/* An option that is a period. */
#define INDICATOR_PERIOD(option_name, default_value, least) \
    { \
        .name = (option_name), .value = (default_value), .min = (least), .max = INDICATOR_PERIOD_MAX, \
        .whole = true \
    }

/* The first output stands where the window of the first option, or its seed, is full. */
size_t lookback_window(const double options[]);
/* One bar more for those that look at changes from bar to bar. */
size_t lookback_changes(const double options[]);

/* Of what depends on that window only: its lookback. */
size_t warmup_window(const double options[], enum indicator_precision precision);
size_t warmup_changes(const double options[], enum indicator_precision precision);

/* INDICATOR_FOREVER. */
size_t warmup_never(const double options[], enum indicator_precision precision);

/* Bars until what an exponential average with weight k for the newest value was seeded with weighs less than
 * the precision's last digit: the smallest m with (1-k)^m < 2^-24 or 2^-53. */
size_t warmup_decay(double k, enum indicator_precision precision);

/* The rows, in rows/FAMILY.c. registry.c lists them by name. */
extern const struct indicator indicator_ad;
extern const struct indicator indicator_adosc;
extern const struct indicator indicator_adx;
extern const struct indicator indicator_adxr;
extern const struct indicator indicator_aroon;
extern const struct indicator indicator_atr;
extern const struct indicator indicator_bbands;
extern const struct indicator indicator_cci;
extern const struct indicator indicator_dema;
extern const struct indicator indicator_donchian;
extern const struct indicator indicator_dx;
extern const struct indicator indicator_ema;
extern const struct indicator indicator_garman_klass;
extern const struct indicator indicator_heikin_ashi;
extern const struct indicator indicator_hma;
extern const struct indicator indicator_ichimoku;
extern const struct indicator indicator_kama;
extern const struct indicator indicator_keltner;
extern const struct indicator indicator_linreg_angle;
extern const struct indicator indicator_linreg_slope;
extern const struct indicator indicator_log_return;
extern const struct indicator indicator_macd;
extern const struct indicator indicator_mfi;
extern const struct indicator indicator_minus_di;
extern const struct indicator indicator_mom;
extern const struct indicator indicator_natr;
extern const struct indicator indicator_obv;
extern const struct indicator indicator_parkinson;
extern const struct indicator indicator_plus_di;
extern const struct indicator indicator_ppo;
extern const struct indicator indicator_quantile;
extern const struct indicator indicator_rank;
extern const struct indicator indicator_realvol;
extern const struct indicator indicator_roc;
extern const struct indicator indicator_rsi;
extern const struct indicator indicator_sar;
extern const struct indicator indicator_sma;
extern const struct indicator indicator_stddev;
extern const struct indicator indicator_stoch;
extern const struct indicator indicator_stochf;
extern const struct indicator indicator_stochrsi;
extern const struct indicator indicator_supertrend;
extern const struct indicator indicator_tema;
extern const struct indicator indicator_trange;
extern const struct indicator indicator_trix;
extern const struct indicator indicator_ultosc;
extern const struct indicator indicator_var;
extern const struct indicator indicator_vwap;
extern const struct indicator indicator_willr;
extern const struct indicator indicator_wma;
extern const struct indicator indicator_zscore;

#endif
