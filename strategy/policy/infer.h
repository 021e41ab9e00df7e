/* The kernels of inference, one set for each instruction set and a plain one; every set gives the same bits.
 * Between strategy/policy/model.c and infer_*.c only. */
#ifndef STRATEGY_POLICY_INFER_H
#define STRATEGY_POLICY_INFER_H

#include <stddef.h>

#include "strategy/policy/net.h"

/* Weights are packed in panels of INFER_PANEL outputs, the last of what is left, rounded up to NET_LANES: in
 * each, row i has the weights of input i. So a layer is one stream from its first byte to its last, and
 * layers follow each other in the order in which they are computed. Arrays are 64-byte aligned, and vectors
 * of outputs have room for a multiple of NET_LANES. */
enum { INFER_PANEL = 64 };

struct infer_kernels {
    /* y = b + x0 w0 + x1 w1 + …: products and sums in the inputs' order, each rounded once. `out` is a
     * multiple of NET_LANES; bias [out]. */
    void (*layer)(const float *packed, const float *bias, const float *x, size_t in, size_t out, float *ret);
    /* In place; n is a multiple of NET_LANES. */
    void (*activate)(enum net_activation activation, float *x, size_t n);
    /* h = (1 - sigmoid(z)) h + sigmoid(z) c of r units, a multiple of NET_LANES; zc: z, then c. */
    void (*gate)(const float *zc, size_t r, const float *before, float *ret);
    /* clip((x - mean) scale) to +-clip; x without padding, the rest padded to NET_LANES. */
    void (*normalise)(const float *x, const float *mean, const float *scale, float clip, size_t n,
                      float *ret);
};

extern const struct infer_kernels policy_infer_scalar, policy_infer_baseline, policy_infer_avx2,
    policy_infer_avx512;

#endif
