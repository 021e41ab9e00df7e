/* Vectors of the stepping kernels: neighbouring copies side by side, one source for every instruction set.
 *
 * A file of simd/ is compiled once for each set: LANES_SET names it (baseline, avx2, avx512) and the
 * compiler's flags give it: 64-byte vectors with AVX-512 (F, VL, BW, DQ), 32 with AVX2 and FMA, else 16:
 * SSE2, or what the compiler makes of it on another processor. Everything here is static; what simd/set.c
 * lists is named LANES_NAME(step). LANES copies fill one vector of floats, LANES_D = LANES / 2 one of
 * doubles; both divide ENV_LANES, so a block of ENV_LANES copies is so many turns of a loop over either.
 *
 *     f_  lane_f  LANES floats         mask_f      i_  lane_i  LANES int32_t    mask_f
 *     d_  lane_d  LANES_D doubles      mask_d      dd_ lane_dd LANES doubles    mask_dd, two of the above
 *
 * lane_f, lane_i and lane_d take the operators + - * / (lane_dd: functions), each an IEEE operation rounded
 * once in each lane: nothing contracts here. Masks take & and |, and not_(). Comparisons are ordered: false
 * for a NaN. x_max(a, b) is a > b ? a : b and x_min(a, b) is a < b ? a : b, in every lane, so that the second
 * is taken where one is a NaN or both are zeros. x_select(m, a, b) is m ? a : b.
 *
 * Loads and stores take any address that is aligned to its element. */
#ifndef TRAINER_ENV_SIMD_LANES_H
#define TRAINER_ENV_SIMD_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h> /* a twentieth of the other's length */
#endif

#define LANES_JOIN_(a, b) env_##a##_##b
#define LANES_JOIN(a, b)  LANES_JOIN_(a, b)
#define LANES_NAME(name)  LANES_JOIN(LANES_SET, name)

#if defined(__AVX512F__)
#define LANES_BYTES 64
#define LANES_OF(f) \
    f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7), f(8), f(9), f(10), f(11), f(12), f(13), f(14), f(15)
#define LANES_OF_D(f)    f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)
#define LANES_F_OP(name) _mm512_##name##_ps
#define LANES_D_OP(name) _mm512_##name##_pd
#elif defined(__AVX2__)
#define LANES_BYTES      32
#define LANES_OF(f)      f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)
#define LANES_OF_D(f)    f(0), f(1), f(2), f(3)
#define LANES_F_OP(name) _mm256_##name##_ps
#define LANES_D_OP(name) _mm256_##name##_pd
#else
#define LANES_BYTES   16
#define LANES_OF(f)   f(0), f(1), f(2), f(3)
#define LANES_OF_D(f) f(0), f(1)
#if defined(__SSE2__)
#define LANES_F_OP(name) _mm_##name##_ps
#define LANES_D_OP(name) _mm_##name##_pd
#endif
#endif

enum {
    LANES = LANES_BYTES / 4,
    LANES_D = LANES_BYTES / 8,
    LANES_ALL = (1 << LANES) - 1, /* as f_bits() gives masks */
};

/* For what a kernel calls at more than one place. */
#define LANES_INLINE static inline __attribute__((always_inline))

typedef float lane_f __attribute__((vector_size(LANES_BYTES), may_alias));
typedef int32_t lane_i __attribute__((vector_size(LANES_BYTES), may_alias));
typedef double lane_d __attribute__((vector_size(LANES_BYTES), may_alias));
typedef int64_t lane_l __attribute__((vector_size(LANES_BYTES), may_alias));
typedef float lane_f_any __attribute__((vector_size(LANES_BYTES), may_alias, aligned(4)));
typedef int32_t lane_i_any __attribute__((vector_size(LANES_BYTES), may_alias, aligned(4)));
typedef double lane_d_any __attribute__((vector_size(LANES_BYTES), may_alias, aligned(8)));

typedef struct {
    lane_d lo, hi; /* lanes 0.., LANES_D.. */
} lane_dd;

#if LANES_BYTES == 64
typedef __mmask16 mask_f;
typedef __mmask8 mask_d;
#else /* vectors of 0 and -1 */
typedef lane_i mask_f;
typedef lane_l mask_d;
#endif

typedef struct {
    mask_d lo, hi;
} mask_dd;

#define not_(m) ((__typeof__(m))~(m))

/* ---- Loads, stores, constants ---- */

static inline lane_f f_load(const float *p)
{
    return *(const lane_f_any *)p;
}

static inline void f_store(float *p, lane_f v)
{
    *(lane_f_any *)p = v;
}

static inline lane_f f_all(float x)
{
    return x - (lane_f){0}; /* not x + 0, which would turn -0 */
}

static inline lane_i i_load(const int32_t *p)
{
    return *(const lane_i_any *)p;
}

static inline void i_store(int32_t *p, lane_i v)
{
    *(lane_i_any *)p = v;
}

static inline lane_i i_all(int32_t x)
{
    return x - (lane_i){0};
}

static inline lane_d d_load(const double *p)
{
    return *(const lane_d_any *)p;
}

static inline void d_store(double *p, lane_d v)
{
    *(lane_d_any *)p = v;
}

static inline lane_d d_all(double x)
{
    return x - (lane_d){0};
}

/* ---- Comparisons ---- */

#if LANES_BYTES == 64
#define LANES_COMPARE(name, sign, op) \
    static inline mask_f f_##name(lane_f a, lane_f b) \
    { \
        return _mm512_cmp_ps_mask(a, b, op); \
    } \
    static inline mask_d d_##name(lane_d a, lane_d b) \
    { \
        return _mm512_cmp_pd_mask(a, b, op); \
    }
#else
#define LANES_COMPARE(name, sign, op) \
    static inline mask_f f_##name(lane_f a, lane_f b) \
    { \
        return (mask_f)(a sign b); \
    } \
    static inline mask_d d_##name(lane_d a, lane_d b) \
    { \
        return (mask_d)(a sign b); \
    }
#endif
LANES_COMPARE(lt, <, _CMP_LT_OQ)
LANES_COMPARE(le, <=, _CMP_LE_OQ)
LANES_COMPARE(gt, >, _CMP_GT_OQ)
LANES_COMPARE(ge, >=, _CMP_GE_OQ)
LANES_COMPARE(eq, ==, _CMP_EQ_OQ)

static inline mask_f i_eq(lane_i a, lane_i b)
{
#if LANES_BYTES == 64
    return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b);
#else
    return (mask_f)(a == b);
#endif
}

static inline mask_f i_lt(lane_i a, lane_i b)
{
#if LANES_BYTES == 64
    return _mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b);
#else
    return (mask_f)(a < b);
#endif
}

/* ---- Masks ---- */

/* Bit j for lane j. */
static inline unsigned f_bits(mask_f m)
{
#if LANES_BYTES == 64
    return m;
#elif defined(LANES_F_OP)
    return (unsigned)LANES_F_OP(movemask)((lane_f)m);
#else
    unsigned bits = 0;
    for (unsigned j = 0; j < LANES; j++)
        bits |= (unsigned)(m[j] & 1) << j;
    return bits;
#endif
}

static inline unsigned d_bits(mask_d m)
{
#if LANES_BYTES == 64
    return m;
#elif defined(LANES_D_OP)
    return (unsigned)LANES_D_OP(movemask)((lane_d)m);
#else
    unsigned bits = 0;
    for (unsigned j = 0; j < LANES_D; j++)
        bits |= (unsigned)(m[j] & 1) << j;
    return bits;
#endif
}

static inline bool f_any(mask_f m)
{
    return f_bits(m) != 0;
}

static inline bool d_any(mask_d m)
{
    return d_bits(m) != 0;
}

/* The mask of bits, as f_bits() gives them. */
static inline mask_f f_mask(unsigned bits)
{
#if LANES_BYTES == 64
    return (mask_f)bits;
#else
#define LANES_BIT(j) 1 << (j)
    const lane_i bit = {LANES_OF(LANES_BIT)};
    return (mask_f)((i_all((int32_t)bits) & bit) != 0);
#endif
}

static inline mask_d d_mask(unsigned bits)
{
#if LANES_BYTES == 64
    return (mask_d)bits;
#else
#define LANES_BIT_D(j) 1 << (j)
    const lane_l bit = {LANES_OF_D(LANES_BIT_D)};
    return (mask_d)((((int64_t)bits - (lane_l){0}) & bit) != 0);
#endif
}

/* ---- Selections ---- */

static inline lane_f f_select(mask_f m, lane_f a, lane_f b)
{
#if LANES_BYTES == 64
    return _mm512_mask_blend_ps(m, b, a);
#elif LANES_BYTES == 32
    return _mm256_blendv_ps(b, a, (lane_f)m);
#else
    return (lane_f)((m & (lane_i)a) | (~m & (lane_i)b));
#endif
}

static inline lane_i i_select(mask_f m, lane_i a, lane_i b)
{
    return (lane_i)f_select(m, (lane_f)a, (lane_f)b);
}

static inline lane_d d_select(mask_d m, lane_d a, lane_d b)
{
#if LANES_BYTES == 64
    return _mm512_mask_blend_pd(m, b, a);
#elif LANES_BYTES == 32
    return _mm256_blendv_pd(b, a, (lane_d)m);
#else
    return (lane_d)((m & (lane_l)a) | (~m & (lane_l)b));
#endif
}

static inline lane_f f_max(lane_f a, lane_f b)
{
#ifdef LANES_F_OP
    return LANES_F_OP(max)(a, b);
#else
    return f_select(f_gt(a, b), a, b);
#endif
}

static inline lane_f f_min(lane_f a, lane_f b)
{
#ifdef LANES_F_OP
    return LANES_F_OP(min)(a, b);
#else
    return f_select(f_lt(a, b), a, b);
#endif
}

static inline lane_d d_max(lane_d a, lane_d b)
{
#ifdef LANES_D_OP
    return LANES_D_OP(max)(a, b);
#else
    return d_select(d_gt(a, b), a, b);
#endif
}

static inline lane_d d_min(lane_d a, lane_d b)
{
#ifdef LANES_D_OP
    return LANES_D_OP(min)(a, b);
#else
    return d_select(d_lt(a, b), a, b);
#endif
}

static inline lane_f f_abs(lane_f v)
{
    return (lane_f)((lane_i)v & INT32_MAX);
}

static inline lane_d d_abs(lane_d v)
{
    return (lane_d)((lane_l)v & INT64_MAX);
}

/* The largest whole number not above v; |v| <= 2^52. */
static inline lane_d d_floor(lane_d v)
{
#if LANES_BYTES == 64
    return _mm512_roundscale_pd(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#elif LANES_BYTES == 32
    return _mm256_floor_pd(v);
#else
    lane_l sign = (lane_l)v & INT64_MIN;
    lane_d large = (lane_d)((lane_l)d_all(0x1p52) | sign);
    lane_d near = (v + large) - large;
    lane_d whole = near - d_select(d_gt(near, v), d_all(1), d_all(0));
    return (lane_d)((lane_l)whole | sign);
#endif
}

/* a * b + c, rounded once: for error-free transformations; where LANES_FMA is 0 there is none. */
#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
#define LANES_FMA 1
static inline lane_d d_fma(lane_d a, lane_d b, lane_d c)
{
    return LANES_D_OP(fmadd)(a, b, c);
}

/* The whole number nearest v, the even one of two. */
static inline lane_d d_nearest(lane_d v)
{
#if LANES_BYTES == 64
    return _mm512_roundscale_pd(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
    return _mm256_round_pd(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#endif
}

/* The smallest whole number not below v. */
static inline lane_d d_ceil(lane_d v)
{
#if LANES_BYTES == 64
    return _mm512_roundscale_pd(v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
#else
    return _mm256_ceil_pd(v);
#endif
}
#else
#define LANES_FMA 0
#endif

/* ---- LANES doubles ---- */

static inline lane_dd dd_load(const double *p)
{
    return (lane_dd){d_load(p), d_load(p + LANES_D)};
}

static inline void dd_store(double *p, lane_dd v)
{
    d_store(p, v.lo);
    d_store(p + LANES_D, v.hi);
}

static inline lane_dd dd_all(double x)
{
    return (lane_dd){d_all(x), d_all(x)};
}

#define LANES_PAIRED(name, what) \
    static inline lane_dd dd_##name(lane_dd a, lane_dd b) \
    { \
        return (lane_dd){what(a.lo, b.lo), what(a.hi, b.hi)}; \
    }
#define LANES_ADD(a, b) (a) + (b)
#define LANES_SUB(a, b) (a) - (b)
#define LANES_MUL(a, b) (a) * (b)
#define LANES_DIV(a, b) (a) / (b)
LANES_PAIRED(add, LANES_ADD)
LANES_PAIRED(sub, LANES_SUB)
LANES_PAIRED(mul, LANES_MUL)
LANES_PAIRED(div, LANES_DIV)
LANES_PAIRED(max, d_max)
LANES_PAIRED(min, d_min)

#define LANES_PAIRED_COMPARE(name) \
    static inline mask_dd dd_##name(lane_dd a, lane_dd b) \
    { \
        return (mask_dd){d_##name(a.lo, b.lo), d_##name(a.hi, b.hi)}; \
    }
LANES_PAIRED_COMPARE(lt)
LANES_PAIRED_COMPARE(le)
LANES_PAIRED_COMPARE(gt)
LANES_PAIRED_COMPARE(ge)

/* Masks of floats for doubles and back. */
static inline mask_dd dd_mask(mask_f m)
{
#if LANES_BYTES == 64
    return (mask_dd){(mask_d)m, (mask_d)(m >> LANES_D)};
#elif LANES_BYTES == 32
    __m256i all = (__m256i)m;
    return (mask_dd){(mask_d)_mm256_cvtepi32_epi64(_mm256_castsi256_si128(all)),
                     (mask_d)_mm256_cvtepi32_epi64(_mm256_extracti128_si256(all, 1))};
#else
    return (mask_dd){(mask_d)__builtin_shufflevector(m, m, 0, 0, 1, 1),
                     (mask_d)__builtin_shufflevector(m, m, 2, 2, 3, 3)};
#endif
}

static inline mask_f f_mask_of(mask_dd m)
{
#if LANES_BYTES == 64
    return (mask_f)(m.lo | m.hi << LANES_D);
#else
#define LANES_EVEN(j) 2 * (j)
    return __builtin_shufflevector((lane_i)m.lo, (lane_i)m.hi, LANES_OF(LANES_EVEN));
#endif
}

static inline mask_dd dd_both(mask_dd a, mask_dd b)
{
    return (mask_dd){(mask_d)(a.lo & b.lo), (mask_d)(a.hi & b.hi)};
}

static inline lane_dd dd_pick(mask_dd m, lane_dd a, lane_dd b)
{
    return (lane_dd){d_select(m.lo, a.lo, b.lo), d_select(m.hi, a.hi, b.hi)};
}

/* By a mask of floats. */
static inline lane_dd dd_select(mask_f m, lane_dd a, lane_dd b)
{
    return dd_pick(dd_mask(m), a, b);
}

/* Exact. */
static inline lane_dd dd_of(lane_f v)
{
#if LANES_BYTES == 64
    return (lane_dd){_mm512_cvtps_pd(_mm512_castps512_ps256(v)),
                     _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1))};
#elif LANES_BYTES == 32
    return (lane_dd){_mm256_cvtps_pd(_mm256_castps256_ps128(v)),
                     _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1))};
#elif defined(__SSE2__)
    return (lane_dd){_mm_cvtps_pd(v), _mm_cvtps_pd(_mm_movehl_ps(v, v))};
#else
    return (lane_dd){{v[0], v[1]}, {v[2], v[3]}};
#endif
}

/* Rounded to nearest. */
static inline lane_f f_of(lane_dd v)
{
#if LANES_BYTES == 64
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(v.lo)), _mm512_cvtpd_ps(v.hi), 1);
#elif LANES_BYTES == 32
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(v.lo)), _mm256_cvtpd_ps(v.hi), 1);
#elif defined(__SSE2__)
    return _mm_movelh_ps(_mm_cvtpd_ps(v.lo), _mm_cvtpd_ps(v.hi));
#else
    return (lane_f){(float)v.lo[0], (float)v.lo[1], (float)v.hi[0], (float)v.hi[1]};
#endif
}

/* ---- Rows: what each copy has elsewhere. Lane j of ret[k] is row[j][k]; four numbers of each row are read,
 * by whole loads, which is faster than gathering them. ---- */

#define LANES_LOW_PAIRS(j)   (((j)&1) * LANES + (j) / 4 * 4 + (j) % 4 / 2)
#define LANES_HIGH_PAIRS(j)  (LANES_LOW_PAIRS(j) + 2)
#define LANES_LOW_HALVES(j)  (((j) / 2 & 1) * LANES + (j) / 4 * 4 + (j) % 2)
#define LANES_HIGH_HALVES(j) (LANES_LOW_HALVES(j) + 2)
#define LANES_F_MIX(a, b, f) __builtin_shufflevector((a), (b), LANES_OF(f))

/* Four rows' floats stand every fourth lane in v[0..3]; put in order. */
static inline void f_rows_order(const lane_f v[4], lane_f ret[4])
{
    lane_f a = LANES_F_MIX(v[0], v[1], LANES_LOW_PAIRS), b = LANES_F_MIX(v[2], v[3], LANES_LOW_PAIRS);
    lane_f c = LANES_F_MIX(v[0], v[1], LANES_HIGH_PAIRS), d = LANES_F_MIX(v[2], v[3], LANES_HIGH_PAIRS);
    ret[0] = LANES_F_MIX(a, b, LANES_LOW_HALVES);
    ret[1] = LANES_F_MIX(a, b, LANES_HIGH_HALVES);
    ret[2] = LANES_F_MIX(c, d, LANES_LOW_HALVES);
    ret[3] = LANES_F_MIX(c, d, LANES_HIGH_HALVES);
}

static inline void f_rows(const float *const row[LANES], lane_f ret[4])
{
    lane_f v[4];
    for (int j = 0; j < 4; j++) {
#if LANES_BYTES == 64
        __m512 all = _mm512_castps128_ps512(_mm_loadu_ps(row[j]));
        all = _mm512_insertf32x4(all, _mm_loadu_ps(row[j + 4]), 1);
        all = _mm512_insertf32x4(all, _mm_loadu_ps(row[j + 8]), 2);
        v[j] = _mm512_insertf32x4(all, _mm_loadu_ps(row[j + 12]), 3);
#elif LANES_BYTES == 32
        __m256 all = _mm256_castps128_ps256(_mm_loadu_ps(row[j]));
        v[j] = _mm256_insertf128_ps(all, _mm_loadu_ps(row[j + 4]), 1);
#else
        v[j] = f_load(row[j]);
#endif
    }
    f_rows_order(v, ret);
}

/* The same of doubles: four of each of LANES_D rows. */
static inline void d_rows(const double *const row[LANES_D], lane_d ret[4])
{
#if LANES_BYTES >= 32
#define LANES_D_LOW(j)       (((j)&1) * LANES_D + (j) / 2 * 2)
#define LANES_D_HIGH(j)      (LANES_D_LOW(j) + 1)
#define LANES_D_FIRST(j)     (((j) / 2 & 1) * LANES_D + (j) / 4 * 4 + (j) % 2)
#define LANES_D_SECOND(j)    (LANES_D_FIRST(j) + 2)
#define LANES_D_MIX(a, b, f) __builtin_shufflevector((a), (b), LANES_OF_D(f))
    lane_d v[4];
    for (int j = 0; j < 4; j++) {
#if LANES_BYTES == 64
        __m512d all = _mm512_castpd256_pd512(_mm256_loadu_pd(row[j]));
        v[j] = _mm512_insertf64x4(all, _mm256_loadu_pd(row[j + 4]), 1);
#else
        v[j] = d_load(row[j]);
#endif
    }
    lane_d a = LANES_D_MIX(v[0], v[1], LANES_D_LOW), b = LANES_D_MIX(v[2], v[3], LANES_D_LOW);
    lane_d c = LANES_D_MIX(v[0], v[1], LANES_D_HIGH), d = LANES_D_MIX(v[2], v[3], LANES_D_HIGH);
    ret[0] = LANES_D_MIX(a, b, LANES_D_FIRST);
    ret[1] = LANES_D_MIX(c, d, LANES_D_FIRST);
    ret[2] = LANES_D_MIX(a, b, LANES_D_SECOND);
    ret[3] = LANES_D_MIX(c, d, LANES_D_SECOND);
#else
    for (int k = 0; k < 4; k += 2) {
        lane_d a = d_load(row[0] + k), b = d_load(row[1] + k);
        ret[k] = __builtin_shufflevector(a, b, 0, 2);
        ret[k + 1] = __builtin_shufflevector(a, b, 1, 3);
    }
#endif
}

#endif
