/* The rows' reference functions: float64, in the plainest loops that are still in the agreed order of
 * operations. Contract: struct indicator_code's `reference` in registry.h. */
#ifndef INDICATORS_GPU_REFERENCE_REFERENCE_H
#define INDICATORS_GPU_REFERENCE_REFERENCE_H

#include "indicators_gpu/registry.h"

typedef int reference_fn(const double options[], const struct indicator_columns *in, size_t n,
                         double *const out[]);

/* moving_averages.c */
extern reference_fn reference_sma, reference_ema, reference_wma, reference_dema, reference_tema;
extern reference_fn reference_kama, reference_hma;

/* statistics.c */
extern reference_fn reference_stddev, reference_var, reference_linreg_slope, reference_linreg_angle;
extern reference_fn reference_log_return, reference_zscore, reference_quantile, reference_rank;

/* momentum.c */
extern reference_fn reference_rsi, reference_macd, reference_ppo, reference_roc, reference_mom;
extern reference_fn reference_trix, reference_cci, reference_ultosc;

/* stochastic.c */
extern reference_fn reference_willr, reference_stoch, reference_stochf, reference_stochrsi;

/* volume.c */
extern reference_fn reference_mfi, reference_obv, reference_ad, reference_adosc, reference_vwap;

/* volatility.c */
extern reference_fn reference_atr, reference_natr, reference_trange, reference_bbands, reference_keltner,
    reference_donchian, reference_realvol, reference_parkinson, reference_garman_klass;

/* trend.c */
extern reference_fn reference_plus_di, reference_minus_di, reference_dx, reference_adx, reference_adxr,
    reference_aroon, reference_sar, reference_supertrend, reference_ichimoku, reference_heikin_ashi;

#endif
