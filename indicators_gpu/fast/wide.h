/* Vectors of doubles in either precision, W or W / 2 lanes of them; and W doubles, one such vector or two,
 * for intermediate values that need more than float32. */
#ifndef INDICATORS_GPU_FAST_WIDE_H
#define INDICATORS_GPU_FAST_WIDE_H

#include "indicators_gpu/fast/simd.h"

enum { WIDE = VEC_BYTES / sizeof(double) };

#if VEC_BYTES == 64
#define LOG_WIDE      3
#define WIDE_LANES(f) f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)
#elif VEC_BYTES == 32
#define LOG_WIDE      2
#define WIDE_LANES(f) f(0), f(1), f(2), f(3)
#else
#define LOG_WIDE      1
#define WIDE_LANES(f) f(0), f(1)
#endif

typedef double vec_double __attribute__((vector_size(VEC_BYTES), may_alias));
typedef double wide_any __attribute__((vector_size(VEC_BYTES), may_alias, aligned(8)));

/* From and to any address that is aligned to its type. */
static inline vec_double wide_load(const double *p)
{
    return *(const wide_any *)p;
}

static inline void wide_store(double *p, vec_double v)
{
    *(wide_any *)p = v;
}

static inline vec_double wide_all(double x)
{
    return x - (vec_double){0}; /* not + x, which would turn -0 */
}

/* Where they are equal or one is a NaN, b. */
static inline vec_double wide_max(vec_double a, vec_double b)
{
#if VEC_BYTES == 64
    return _mm512_max_pd(a, b);
#elif VEC_BYTES == 32
    return _mm256_max_pd(a, b);
#elif defined(__SSE2__)
    return _mm_max_pd(a, b);
#else
    return (vec_double){a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]};
#endif
}

static inline vec_double wide_min(vec_double a, vec_double b)
{
#if VEC_BYTES == 64
    return _mm512_min_pd(a, b);
#elif VEC_BYTES == 32
    return _mm256_min_pd(a, b);
#elif defined(__SSE2__)
    return _mm_min_pd(a, b);
#else
    return (vec_double){a[0] < b[0] ? a[0] : b[0], a[1] < b[1] ? a[1] : b[1]};
#endif
}

static inline vec_double wide_abs(vec_double v)
{
    typedef int64_t bits __attribute__((vector_size(VEC_BYTES), may_alias));
    return (vec_double)((bits)v & INT64_MAX);
}

/* Whether a is above b in every lane. */
static inline bool wide_above(vec_double a, vec_double b)
{
#if VEC_BYTES == 64
    return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ) == 0xff;
#elif VEC_BYTES == 32
    return _mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_GT_OQ)) == 0xf;
#else
    return a[0] > b[0] && a[1] > b[1];
#endif
}

/* Lanes of the second moved up by 1, 2 or 4; the first's last ones before them. */
#define WIDE_BY_1(j)           (WIDE - 1 + (j))
#define WIDE_BY_2(j)           (WIDE - 2 + (j))
#define WIDE_BY_4(j)           (WIDE - 4 + (j))
#define WIDE_LAST(j)           (WIDE - 1)
#define WIDE_SHUFFLE(a, b, by) __builtin_shufflevector((a), (b), WIDE_LANES(by))

/* Lanes moved up, with 0 before them. */
#if VEC_BYTES == 64
#define WIDE_UP(v, by) \
    (vec_double) _mm512_maskz_alignr_epi64((__mmask8)(0xff << (by)), (__m512i)(v), (__m512i)(v), WIDE - (by))
#else
#define WIDE_UP(v, by) WIDE_SHUFFLE((vec_double){0}, (v), WIDE_BY_##by)
#endif

/* Lane j becomes the sum of lanes 0 to j. */
static inline vec_double wide_scan(vec_double v)
{
    v += WIDE_UP(v, 1);
#if VEC_BYTES > 16
    v += WIDE_UP(v, 2);
#endif
#if VEC_BYTES > 32
    v += WIDE_UP(v, 4);
#endif
    return v;
}

static inline vec_double wide_last(vec_double v)
{
    return WIDE_SHUFFLE(v, v, WIDE_LAST);
}

/* ---- W doubles ---- */

typedef struct {
#if FAST_F32
    vec_double lo, hi;
#else
    vec_double lo;
#endif
} vec_wide;

#if FAST_F32
typedef float vec_half __attribute__((vector_size(VEC_BYTES / 2), may_alias));

static inline vec_double half_widen(vec_half v)
{
#if VEC_BYTES == 64 /* these two the compiler would widen in two parts */
    return _mm512_cvtps_pd(v);
#elif VEC_BYTES == 32
    return _mm256_cvtps_pd(v);
#else
    return __builtin_convertvector(v, vec_double);
#endif
}
#endif

/* Of a column: WIDE values. */
static inline vec_double wide_load_real(const real *p)
{
#if FAST_F32
    typedef float half_any __attribute__((vector_size(VEC_BYTES / 2), may_alias, aligned(REAL_BYTES)));
    return half_widen(*(const half_any *)p);
#else
    return wide_load(p);
#endif
}

/* Of a column: W values. */
static inline vec_wide vec_load_wide(const real *p)
{
#if FAST_F32
    return (vec_wide){wide_load_real(p), wide_load_real(p + WIDE)};
#else
    return (vec_wide){wide_load_real(p)};
#endif
}

/* Both halves by shuffles: what goes through memory in halves and comes back whole waits for them. */
#define WIDE_LANE_UPPER(j) (WIDE + (j))
static inline vec_wide vec_widen(vec v)
{
#if FAST_F32
    return (vec_wide){half_widen(__builtin_shufflevector(v, v, WIDE_LANES(VEC_LANE_INDEX))),
                      half_widen(__builtin_shufflevector(v, v, WIDE_LANES(WIDE_LANE_UPPER)))};
#else
    return (vec_wide){v};
#endif
}

static inline vec vec_narrow(vec_wide v)
{
#if FAST_F32
    vec_half lo = __builtin_convertvector(v.lo, vec_half), hi = __builtin_convertvector(v.hi, vec_half);
    return __builtin_shufflevector(lo, hi, VEC_LANES(VEC_LANE_INDEX));
#else
    return v.lo;
#endif
}

#endif
