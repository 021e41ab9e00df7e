/* Vectors of floats for the screen's kernel: a lane is a parameter set. 16 lanes with AVX-512, 8 with AVX2
 * and FMA, else one: plain floats. SCREEN_ALONE, which cuda/blocks.h defines, is one set a thread: one lane,
 * and groups of one set. Comparisons give bits, the first lane's lowest; a NaN compares as false. Everything
 * here is static. */
#ifndef ENGINE_BACKTEST_SCREEN_LANES_H
#define ENGINE_BACKTEST_SCREEN_LANES_H

#include <stdint.h>

#ifdef __CUDACC__
#ifndef SCREEN_ALONE
#define SCREEN_ALONE
#endif
#define SCREEN_RULE  static __host__ __device__ __forceinline__
#define SCREEN_APART static __host__ __device__ __noinline__ __attribute__((unused))
#else
#define SCREEN_APART static __attribute__((noinline, unused))
#define SCREEN_RULE  static inline __attribute__((always_inline))
#endif

#if (defined(__AVX512F__) || defined(__AVX2__)) && !defined(SCREEN_ALONE)
#include <immintrin.h>
#ifdef __AVX512F__
enum { LANES_WIDE = 16 };
typedef __m512 lanes_vector;
#define LANES_DO(what) _mm512_##what##_ps
#else
enum { LANES_WIDE = 8 };
typedef __m256 lanes_vector;
#define LANES_DO(what) _mm256_##what##_ps
#endif

SCREEN_RULE lanes_vector lanes_load(const float *p)
{
    return LANES_DO(loadu)(p);
}

SCREEN_RULE void lanes_store(float *p, lanes_vector x)
{
    LANES_DO(storeu)(p, x);
}

SCREEN_RULE lanes_vector lanes_all(float x)
{
    return LANES_DO(set1)(x);
}

SCREEN_RULE lanes_vector lanes_fma(lanes_vector a, lanes_vector b, lanes_vector c)
{
    return LANES_DO(fmadd)(a, b, c);
}

SCREEN_RULE lanes_vector lanes_min(lanes_vector a, lanes_vector b)
{
    return LANES_DO(min)(a, b);
}

SCREEN_RULE lanes_vector lanes_max(lanes_vector a, lanes_vector b)
{
    return LANES_DO(max)(a, b);
}

/* x, but `value` in lane k. */
SCREEN_RULE lanes_vector lanes_put(lanes_vector x, int k, float value)
{
#ifdef __AVX512F__
    return _mm512_mask_mov_ps(x, (__mmask16)(1u << k), _mm512_set1_ps(value));
#else
    __m256i at = _mm256_cmpeq_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(k));
    return _mm256_blendv_ps(x, _mm256_set1_ps(value), _mm256_castsi256_ps(at));
#endif
}

SCREEN_RULE unsigned lanes_above(lanes_vector a, lanes_vector b)
{
#ifdef __AVX512F__
    return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ);
#else
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ));
#endif
}

SCREEN_RULE unsigned lanes_reach(lanes_vector a, lanes_vector b)
{
#ifdef __AVX512F__
    return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ);
#else
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GE_OQ));
#endif
}

/* 1 / x, to the last bit or the one before (eight lanes: to two last bits): an estimate of 14 bits (12), and
 * a step of Newton's. */
SCREEN_RULE lanes_vector lanes_inverse(lanes_vector x)
{
#ifdef __AVX512F__
    lanes_vector y = _mm512_rcp14_ps(x);
#else
    lanes_vector y = _mm256_rcp_ps(x);
#endif
    return LANES_DO(mul)(y, LANES_DO(fnmadd)(x, y, lanes_all(2)));
}
#undef LANES_DO

/* The first lane of bits that are not 0. */
SCREEN_RULE int lanes_first(unsigned bits)
{
    return __builtin_ctz(bits);
}
#else
enum { LANES_WIDE = 1 };
typedef float lanes_vector;

SCREEN_RULE int lanes_first(unsigned bits)
{
    (void)bits;
    return 0;
}

SCREEN_RULE lanes_vector lanes_load(const float *p)
{
    return *p;
}

SCREEN_RULE void lanes_store(float *p, lanes_vector x)
{
    *p = x;
}

SCREEN_RULE lanes_vector lanes_all(float x)
{
    return x;
}

SCREEN_RULE lanes_vector lanes_put(lanes_vector x, int k, float value)
{
    (void)x;
    (void)k;
    return value;
}

SCREEN_RULE lanes_vector lanes_fma(lanes_vector a, lanes_vector b, lanes_vector c)
{
    return a * b + c;
}

SCREEN_RULE lanes_vector lanes_min(lanes_vector a, lanes_vector b)
{
    return a < b ? a : b;
}

SCREEN_RULE lanes_vector lanes_max(lanes_vector a, lanes_vector b)
{
    return a > b ? a : b;
}

SCREEN_RULE unsigned lanes_above(lanes_vector a, lanes_vector b)
{
    return a > b;
}

SCREEN_RULE unsigned lanes_reach(lanes_vector a, lanes_vector b)
{
    return a >= b;
}

SCREEN_RULE lanes_vector lanes_inverse(lanes_vector x)
{
    return 1 / x;
}
#endif

#endif
