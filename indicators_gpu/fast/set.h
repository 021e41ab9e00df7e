/* The rows that have a kernel, X(ID, name) each, and the sets that list them. */
#ifndef INDICATORS_GPU_FAST_SET_H
#define INDICATORS_GPU_FAST_SET_H

#include "indicators_gpu/fast/kernel.h"

/* In either precision. */
#define FAST_ROWS_BOTH(X) \
    FAST_ROWS_AVERAGES(X) \
    FAST_ROWS_CHAINS(X) \
    FAST_ROWS_WILDER(X) \
    FAST_ROWS_ACCUMULATION(X) \
    FAST_ROWS_SESSION(X) \
    FAST_ROWS_WINDOWS(X)

#define FAST_ROWS_AVERAGES(X)     X(SMA, sma) X(EMA, ema) X(MACD, macd)
#define FAST_ROWS_CHAINS(X)       X(DEMA, dema) X(TEMA, tema) X(MOM, mom) X(ROC, roc) X(HEIKIN_ASHI, heikin_ashi)
#define FAST_ROWS_WILDER(X)       X(RSI, rsi) X(ATR, atr) X(NATR, natr) X(TRANGE, trange) X(KELTNER, keltner)
#define FAST_ROWS_ACCUMULATION(X) X(OBV, obv) X(AD, ad) X(ADOSC, adosc)
#define FAST_ROWS_SESSION(X)      X(VWAP, vwap)

#define FAST_ROWS_WINDOWS(X) \
    X(WMA, wma) \
    X(HMA, hma) \
    X(LINREG_SLOPE, linreg_slope) \
    X(LINREG_ANGLE, linreg_angle) \
    X(BBANDS, bbands) \
    X(STDDEV, stddev) \
    X(VAR, var) \
    X(ZSCORE, zscore) \
    X(LOG_RETURN, log_return) \
    X(REALVOL, realvol) \
    X(PARKINSON, parkinson) \
    X(GARMAN_KLASS, garman_klass) \
    X(DONCHIAN, donchian) \
    X(WILLR, willr) \
    X(STOCH, stoch) \
    X(STOCHF, stochf) \
    X(STOCHRSI, stochrsi) \
    X(AROON, aroon) \
    X(ICHIMOKU, ichimoku) \
    X(CCI, cci) \
    X(MFI, mfi) \
    X(ULTOSC, ultosc) \
    X(QUANTILE, quantile) \
    X(RANK, rank)

/* In float64 alone. */
#define FAST_ROWS_WIDE(X) \
    FAST_ROWS_OSCILLATORS(X) \
    FAST_ROWS_DIRECTIONAL(X) \
    FAST_ROWS_STOPS(X)

#define FAST_ROWS_OSCILLATORS(X) X(TRIX, trix) X(PPO, ppo) X(KAMA, kama)
#define FAST_ROWS_DIRECTIONAL(X) X(PLUS_DI, plus_di) X(MINUS_DI, minus_di) X(DX, dx) X(ADX, adx) X(ADXR, adxr)
#define FAST_ROWS_STOPS(X)       X(SAR, sar) X(SUPERTREND, supertrend)

/* Lines of the next block that are to be fetched while this one is worked on. */
struct fast_ahead {
    const char *at[INDICATOR_COLUMNS], *end[INDICATOR_COLUMNS];
    size_t column, n;
};

static inline void fast_ahead_line(struct fast_ahead *ahead)
{
    if (ahead->n == 0)
        return;
    const char **at = &ahead->at[ahead->column];
    __builtin_prefetch(*at);
    *at += 64;
    if (*at >= ahead->end[ahead->column]) {
        ahead->n--;
        ahead->column++;
    }
}

/* What the executor itself does with vectors. */
struct fast_moves {
    /* Whether all of x[0..n) is finite. */
    bool (*finite)(const void *x, size_t n);

    /* Copies n values to `to`, aligned to its type; whole 64-byte lines pass the cache by if `stream`. With
     * each line that it writes it prefetches one of `ahead`. */
    void (*deliver)(void *to, const void *from, size_t n, bool stream, struct fast_ahead *ahead);

    /* n values from float32 to float64 and back; narrow() may write over what it reads. */
    void (*widen)(double *to, const float *from, size_t n);
    void (*narrow)(float *to, const double *from, size_t n);
};

struct fast_set {
    struct fast_moves moves;
    const struct fast_kernel *kernels[INDICATOR_IDS]; /* of float32, NULL where float64 stands in */
};

/* NULL where this library was built without it: avx2 and avx512 on another processor than x86-64. */
const struct fast_set *fast_set(enum indicator_isa isa, enum indicator_precision precision);

#endif
