/* Vectors of the block kernels: one source for every instruction set and precision.
 *
 * A file of fast/ is compiled once for each pair (meson.build): FAST_F32 is 1 or 0, FAST_SET names the pair
 * (avx512_f32) and the compiler's flags give the instruction set: 64-byte vectors with AVX-512 (F, VL, BW,
 * DQ), 32 with AVX2 and FMA, else 16: SSE2, or what the compiler makes of it on another processor. Everything
 * here is static; a kernel that fast/set.c is to list is named FAST(row).
 *
 * Arithmetic is the vectors' own + - * /, and a * b + c becomes one rounding where the processor has it.
 * Shuffles have constant lanes: VEC_SHUFFLE(v, LANE) with a macro LANE(j), which lane j comes from. */
#ifndef INDICATORS_GPU_FAST_SIMD_H
#define INDICATORS_GPU_FAST_SIMD_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h> /* a twentieth of the other's length */
#endif

#define FAST_JOIN_(a, b) fast_##a##_##b
#define FAST_JOIN(a, b)  FAST_JOIN_(a, b)
#define FAST(name)       FAST_JOIN(name, FAST_SET)

#if FAST_F32
typedef float real;
typedef int32_t lane_int;
#define REAL_BYTES 4
#else
typedef double real;
typedef int64_t lane_int;
#define REAL_BYTES 8
#endif

#if defined(__AVX512F__)
#define VEC_BYTES 64
#elif defined(__AVX2__)
#define VEC_BYTES 32
#else
#define VEC_BYTES 16
#endif

/* Lanes of a vector, and their logarithm. */
#define W (VEC_BYTES / REAL_BYTES)
#if W == 16
#define LOG_W 4
#define VEC_LANES(f) \
    f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7), f(8), f(9), f(10), f(11), f(12), f(13), f(14), f(15)
#elif W == 8
#define LOG_W        3
#define VEC_LANES(f) f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)
#elif W == 4
#define LOG_W        2
#define VEC_LANES(f) f(0), f(1), f(2), f(3)
#else
#define LOG_W        1
#define VEC_LANES(f) f(0), f(1)
#endif

typedef real vec __attribute__((vector_size(VEC_BYTES), may_alias));
typedef real vec_any __attribute__((vector_size(VEC_BYTES), may_alias, aligned(REAL_BYTES)));
typedef lane_int ivec __attribute__((vector_size(VEC_BYTES), may_alias));

#if VEC_BYTES == 64
#define VEC_STREAM_AS(type) _mm512_stream_##type
#elif VEC_BYTES == 32
#define VEC_STREAM_AS(type) _mm256_stream_##type
#elif defined(__SSE2__)
#define VEC_STREAM_AS(type) _mm_stream_##type
#endif
#if !defined(VEC_STREAM_AS)
#define VEC_STREAM vec_store
#elif FAST_F32
#define VEC_STREAM VEC_STREAM_AS(ps)
#else
#define VEC_STREAM VEC_STREAM_AS(pd)
#endif

#define VEC_SHUFFLE(v, LANE) __builtin_shufflevector((v), (v), VEC_LANES(LANE))
/* Lanes 0..W-1 of `a`, W..2W-1 of `b`. */
#define VEC_SHUFFLE2(a, b, LANE) __builtin_shufflevector((a), (b), VEC_LANES(LANE))

/* From and to any address that is aligned to its type. */
static inline vec vec_load(const real *p)
{
    return *(const vec_any *)p;
}

static inline void vec_store(real *p, vec v)
{
    *(vec_any *)p = v;
}

/* Outwards: past the cache if `stream`, which takes an address aligned to the vector. */
static inline void vec_put(real *p, vec v, bool stream)
{
    if (stream)
        VEC_STREAM(p, v);
    else
        vec_store(p, v);
}

static inline vec vec_all(real x)
{
    return x - (vec){0}; /* not x + 0, which would turn -0 */
}

#define VEC_LANE_LAST(j) (W - 1)
static inline vec vec_last(vec v)
{
    return VEC_SHUFFLE(v, VEC_LANE_LAST);
}

/* Every value one bar later: lane 0 is the last of `before`. */
#define VEC_LANE_LATER(j) (W - 1 + (j))
static inline vec vec_later(vec before, vec v)
{
    return VEC_SHUFFLE2(before, v, VEC_LANE_LATER);
}

#define VEC_LANE_INDEX(j) (j)
static inline ivec vec_index(void)
{
    return (ivec){VEC_LANES(VEC_LANE_INDEX)};
}

/* Rows to columns: v[k] gets lane k of each. Stage s exchanges what differs in bit s of row and lane. */
#define VEC_KEEPS(j, s) ((j) >> (s)&1 ? W + ((j) ^ 1 << (s)) : (j))
#define VEC_TAKES(j, s) ((j) >> (s)&1 ? W + (j) : ((j) ^ 1 << (s)))
#define VEC_KEEPS_0(j)  VEC_KEEPS(j, 0)
#define VEC_KEEPS_1(j)  VEC_KEEPS(j, 1)
#define VEC_KEEPS_2(j)  VEC_KEEPS(j, 2)
#define VEC_KEEPS_3(j)  VEC_KEEPS(j, 3)
#define VEC_TAKES_0(j)  VEC_TAKES(j, 0)
#define VEC_TAKES_1(j)  VEC_TAKES(j, 1)
#define VEC_TAKES_2(j)  VEC_TAKES(j, 2)
#define VEC_TAKES_3(j)  VEC_TAKES(j, 3)
#define VEC_EXCHANGE(v, s) \
    for (int row = 0; row < W; row++) \
        if (!(row >> (s)&1)) { \
            vec upper = v[row], lower = v[row | 1 << (s)]; \
            v[row] = VEC_SHUFFLE2(upper, lower, VEC_KEEPS_##s); \
            v[row | 1 << (s)] = VEC_SHUFFLE2(upper, lower, VEC_TAKES_##s); \
        }

static inline void vec_transpose(vec v[W])
{
    VEC_EXCHANGE(v, 0)
#if LOG_W > 1
    VEC_EXCHANGE(v, 1)
#endif
#if LOG_W > 2
    VEC_EXCHANGE(v, 2)
#endif
#if LOG_W > 3
    VEC_EXCHANGE(v, 3)
#endif
}

/* Integers as values and back; f32 holds whole numbers up to 2^24. */
static inline vec vec_of_int(ivec v)
{
    return __builtin_convertvector(v, vec);
}

/* ---- Comparisons give a mask; vec_select(m, a, b) is m ? a : b in each lane. ---- */

#if VEC_BYTES == 64
#if FAST_F32
typedef __mmask16 vec_mask;
#define VEC_OP(name) _mm512_##name##_ps
#define VEC_COMPARE  _mm512_cmp_ps_mask
#else
typedef __mmask8 vec_mask;
#define VEC_OP(name) _mm512_##name##_pd
#define VEC_COMPARE  _mm512_cmp_pd_mask
#endif
static inline vec_mask vec_gt(vec a, vec b)
{
    return VEC_COMPARE(a, b, _CMP_GT_OQ);
}

static inline vec_mask vec_ge(vec a, vec b)
{
    return VEC_COMPARE(a, b, _CMP_GE_OQ);
}

static inline vec_mask vec_eq(vec a, vec b)
{
    return VEC_COMPARE(a, b, _CMP_EQ_OQ);
}

static inline vec_mask vec_less_int(ivec a, ivec b)
{
#if FAST_F32
    return _mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b);
#else
    return _mm512_cmplt_epi64_mask((__m512i)a, (__m512i)b);
#endif
}

static inline vec vec_select(vec_mask m, vec a, vec b)
{
    return VEC_OP(mask_blend)(m, b, a);
}

static inline vec_mask mask_not(vec_mask m)
{
    return (vec_mask)~m;
}

static inline bool mask_any(vec_mask m)
{
    return m != 0;
}

/* Bit j for lane j. */
static inline unsigned mask_bits(vec_mask m)
{
    return m;
}
#else /* a mask is a vector of 0 and -1 */
typedef ivec vec_mask;

static inline vec_mask vec_gt(vec a, vec b)
{
    return (vec_mask)(a > b);
}

static inline vec_mask vec_ge(vec a, vec b)
{
    return (vec_mask)(a >= b);
}

static inline vec_mask vec_eq(vec a, vec b)
{
    return (vec_mask)(a == b);
}

static inline vec_mask vec_less_int(ivec a, ivec b)
{
    return (vec_mask)(a < b);
}

static inline vec_mask mask_not(vec_mask m)
{
    return ~m;
}

#if VEC_BYTES == 32
#if FAST_F32
#define VEC_OP(name) _mm256_##name##_ps
#else
#define VEC_OP(name) _mm256_##name##_pd
#endif
static inline vec vec_select(vec_mask m, vec a, vec b)
{
    return VEC_OP(blendv)(b, a, (vec)m);
}

static inline unsigned mask_bits(vec_mask m)
{
    return (unsigned)VEC_OP(movemask)((vec)m);
}
#else
#if defined(__SSE2__)
#if FAST_F32
#define VEC_OP(name) _mm_##name##_ps
#else
#define VEC_OP(name) _mm_##name##_pd
#endif
#endif
static inline vec vec_select(vec_mask m, vec a, vec b)
{
    return (vec)((m & (ivec)a) | (~m & (ivec)b));
}

static inline unsigned mask_bits(vec_mask m)
{
#if defined(__SSE2__)
    return (unsigned)VEC_OP(movemask)((vec)m);
#else
    unsigned bits = 0;
    for (unsigned j = 0; j < W; j++)
        bits |= (unsigned)(m[j] & 1) << j;
    return bits;
#endif
}
#endif

static inline bool mask_any(vec_mask m)
{
    return mask_bits(m) != 0;
}
#endif

/* ---- Largest, smallest, absolute ---- */

/* Where they are equal or one is a NaN, b. */
static inline vec vec_max(vec a, vec b)
{
#ifdef VEC_OP
    return VEC_OP(max)(a, b);
#else
    return vec_select(vec_gt(a, b), a, b);
#endif
}

static inline vec vec_min(vec a, vec b)
{
#ifdef VEC_OP
    return VEC_OP(min)(a, b);
#else
    return vec_select(vec_gt(b, a), a, b);
#endif
}

static inline vec vec_abs(vec v)
{
    const ivec sign = (ivec)vec_all((real)-0.0);
    return (vec)((ivec)v & ~sign);
}

#endif
