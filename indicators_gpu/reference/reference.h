/* The rows' reference functions: float64, in the plainest loops that are still in the agreed order of
 * operations. Contract: struct indicator's `reference` in registry.h. */
#ifndef INDICATORS_GPU_REFERENCE_REFERENCE_H
#define INDICATORS_GPU_REFERENCE_REFERENCE_H

#include "indicators_gpu/registry.h"

void reference_sma(const double options[], const struct indicator_columns *in, size_t n, double *const out[]);
void reference_ema(const double options[], const struct indicator_columns *in, size_t n, double *const out[]);
void reference_rsi(const double options[], const struct indicator_columns *in, size_t n, double *const out[]);
void reference_macd(const double options[], const struct indicator_columns *in, size_t n,
                    double *const out[]);
void reference_atr(const double options[], const struct indicator_columns *in, size_t n, double *const out[]);

#endif
