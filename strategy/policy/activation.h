/* The networks' activations in float32, the same bits everywhere: in inference, in training on any
 * instruction set, and on a device. Products and sums of a fixed order, each rounded once, so a file that
 * includes this must not contract them (-ffp-contract=off; nvcc: -fmad=false). For one number:
 * activation_tanh(x), _sigmoid, _silu, _exp, _expm1_scaled; for vectors of 4, 8 and 16, of which a file has
 * those that its instruction set has, the same with the lanes after the name: activation_tanh16(x).
 *
 * exp: 2^k (1 + p(r)), k = round(x / ln 2), p the minimax polynomial of degree 6 of e^r - 1 on
 * |r| <= ln 2 / 2 (relative error 1.3e-8, found by Remez' exchange; p = r + r^2 q(r)).
 *     exp       x is first kept in [ACTIVATION_LEAST, ACTIVATION_MOST]: results are normal and finite
 *     sigmoid   1 / (1 + exp(-x)); 1.2e-38 below ACTIVATION_LEAST
 *     silu      x sigmoid(x); -1.1e-36 below ACTIVATION_LEAST, where it nears 0, -infinity included
 *     tanh      t / (t + 2), t = e^(2|x|) - 1, with x's sign; exactly odd; 1 from about 9 on
 * NaN gives NaN. Errors stay below exp 1.1, sigmoid 2.5, tanh 2.7, silu 2.9 ulp of these formulas:
 * tests/trainer/nn/activation.c prints and checks the largest among numbers spread over all bit patterns. */
#ifndef STRATEGY_POLICY_ACTIVATION_H
#define STRATEGY_POLICY_ACTIVATION_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX2__) && !defined(__CUDACC__)
#include <immintrin.h>
#elif defined(__SSE2__) && !defined(__CUDACC__)
#include <emmintrin.h>
#endif

#ifdef __CUDACC__
#define ACTIVATION_RULE static __host__ __device__ __forceinline__
#else
#define ACTIVATION_RULE static inline __attribute__((always_inline, unused))
#endif

#define ACTIVATION_LEAST -87.25f
#define ACTIVATION_MOST  88.25f

/* ---- one number ---- */

ACTIVATION_RULE uint32_t activation_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

ACTIVATION_RULE float activation_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* NaN stays. */
ACTIVATION_RULE float activation_at_least(float x, float least)
{
    return least > x ? least : x;
}

ACTIVATION_RULE float activation_at_most(float x, float most)
{
    return most < x ? most : x;
}

#define ACTIVATION(name) activation_##name
#define ACTIVATION_FLOAT float
#define ACTIVATION_INT   uint32_t
#include "strategy/policy/activation_rules.h"
#undef ACTIVATION
#undef ACTIVATION_FLOAT
#undef ACTIVATION_INT

/* ---- vectors ---- */

#ifndef __CUDACC__

#define ACTIVATION_VECTORS(lanes, at_least, at_most) \
    typedef float activation_float##lanes __attribute__((vector_size(4 * lanes))); \
    typedef uint32_t activation_int##lanes __attribute__((vector_size(4 * lanes))); \
    ACTIVATION_RULE activation_int##lanes activation_bits##lanes(activation_float##lanes x) \
    { \
        return (activation_int##lanes)x; \
    } \
    ACTIVATION_RULE activation_float##lanes activation_of_bits##lanes(activation_int##lanes bits) \
    { \
        return (activation_float##lanes)bits; \
    } \
    ACTIVATION_RULE activation_float##lanes activation_at_least##lanes(activation_float##lanes x, \
                                                                       float least) \
    { \
        const activation_float##lanes bound = least - (activation_float##lanes){0}; \
        return at_least; \
    } \
    ACTIVATION_RULE activation_float##lanes activation_at_most##lanes(activation_float##lanes x, float most) \
    { \
        const activation_float##lanes bound = most - (activation_float##lanes){0}; \
        return at_most; \
    }

/* max(a, b) and min(a, b) of x86 are a > b ? a : b and a < b ? a : b. */
#if defined(__SSE2__)
ACTIVATION_VECTORS(4, _mm_max_ps(bound, x), _mm_min_ps(bound, x))
#else
#define ACTIVATION_CHOOSE(mask, a, b) \
    ((activation_float4)(((activation_int4)(mask) & (activation_int4)(a)) | \
                         (~(activation_int4)(mask) & (activation_int4)(b))))
ACTIVATION_VECTORS(4, ACTIVATION_CHOOSE(bound > x, bound, x), ACTIVATION_CHOOSE(bound < x, bound, x))
#endif
#define ACTIVATION(name) activation_##name##4
#define ACTIVATION_FLOAT activation_float4
#define ACTIVATION_INT   activation_int4
#include "strategy/policy/activation_rules.h"
#undef ACTIVATION
#undef ACTIVATION_FLOAT
#undef ACTIVATION_INT

#ifdef __AVX2__
ACTIVATION_VECTORS(8, _mm256_max_ps(bound, x), _mm256_min_ps(bound, x))
#define ACTIVATION(name) activation_##name##8
#define ACTIVATION_FLOAT activation_float8
#define ACTIVATION_INT   activation_int8
#include "strategy/policy/activation_rules.h"
#undef ACTIVATION
#undef ACTIVATION_FLOAT
#undef ACTIVATION_INT
#endif

#ifdef __AVX512F__
ACTIVATION_VECTORS(16, _mm512_max_ps(bound, x), _mm512_min_ps(bound, x))
#define ACTIVATION(name) activation_##name##16
#define ACTIVATION_FLOAT activation_float16
#define ACTIVATION_INT   activation_int16
#include "strategy/policy/activation_rules.h"
#undef ACTIVATION
#undef ACTIVATION_FLOAT
#undef ACTIVATION_INT
#endif

#endif
#endif
