/* Vectors of float32 for the kernels, which are compiled once for each instruction set: NN_SET is its name.
 * Products and sums are one rounding where the processor has that; activations are strategy/policy's. */
#ifndef TRAINER_NN_KERNELS_VECTOR_H
#define TRAINER_NN_KERNELS_VECTOR_H

#include "strategy/policy/activation.h"
#include "trainer/nn/kernels.h"

#define NN_JOIN_(a, b) a##_##b
#define NN_JOIN(a, b)  NN_JOIN_(a, b)
#define NN_TEXT_(a)    #a
#define NN_TEXT(a)     NN_TEXT_(a)

#if defined(__AVX512F__)
enum { LANES = 16 };
typedef activation_float16 vec;
#define VEC(name) activation_##name##16
static inline vec vec_fma(vec a, vec b, vec c)
{
    return _mm512_fmadd_ps(a, b, c);
}
static inline vec vec_all(float x)
{
    return _mm512_set1_ps(x);
}
#elif defined(__AVX2__)
enum { LANES = 8 };
typedef activation_float8 vec;
#define VEC(name) activation_##name##8
static inline vec vec_fma(vec a, vec b, vec c)
{
    return _mm256_fmadd_ps(a, b, c);
}
static inline vec vec_all(float x)
{
    return _mm256_set1_ps(x);
}
#else
enum { LANES = 4 };
typedef activation_float4 vec;
#define VEC(name) activation_##name##4
static inline vec vec_fma(vec a, vec b, vec c)
{
    return a * b + c;
}
static inline vec vec_all(float x)
{
    return x - (vec){0};
}
#endif

extern const struct nn_kernels_f32 NN_JOIN(nn_kernels, NN_SET);
void NN_JOIN(nn_adam, NN_SET)(const struct nn_adam *adam, float *params, float *m, float *v,
                              const float *const *grads, int n_grads, size_t first, size_t n);
void NN_JOIN(nn_norm_forward, NN_SET)(const struct nn_norm_f32 *norm);
void NN_JOIN(nn_norm_backward, NN_SET)(const struct nn_norm_f32 *norm, float *delta, float *dweight,
                                       float *dbias);
double NN_JOIN(nn_squares, NN_SET)(const float *const *grads, int n_grads, size_t first, size_t n);

typedef float vec_any __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

static inline vec vec_load(const float *p)
{
    return *(const vec_any *)p;
}

static inline void vec_store(float *p, vec v)
{
    *(vec_any *)p = v;
}

/* Rows to columns: v[k] gets lane k of each. Stage s exchanges what differs in bit s of row and lane. */
#if defined(__AVX512F__)
#define VEC_LANES(f, s) \
    f(0, s), f(1, s), f(2, s), f(3, s), f(4, s), f(5, s), f(6, s), f(7, s), f(8, s), f(9, s), f(10, s), \
        f(11, s), f(12, s), f(13, s), f(14, s), f(15, s)
#elif defined(__AVX2__)
#define VEC_LANES(f, s) f(0, s), f(1, s), f(2, s), f(3, s), f(4, s), f(5, s), f(6, s), f(7, s)
#else
#define VEC_LANES(f, s) f(0, s), f(1, s), f(2, s), f(3, s)
#endif
#define VEC_KEEPS(j, s) ((j) >> (s)&1 ? LANES + ((j) ^ 1 << (s)) : (j))
#define VEC_TAKES(j, s) ((j) >> (s)&1 ? LANES + (j) : ((j) ^ 1 << (s)))
#define VEC_EXCHANGE(v, s) \
    for (int row = 0; row < LANES; row++) \
        if (!(row >> (s)&1)) { \
            const vec upper = v[row], lower = v[row | 1 << (s)]; \
            v[row] = __builtin_shufflevector(upper, lower, VEC_LANES(VEC_KEEPS, s)); \
            v[row | 1 << (s)] = __builtin_shufflevector(upper, lower, VEC_LANES(VEC_TAKES, s)); \
        }

static inline void vec_transpose(vec v[LANES])
{
    VEC_EXCHANGE(v, 0)
    VEC_EXCHANGE(v, 1)
#if defined(__AVX2__)
    VEC_EXCHANGE(v, 2)
#endif
#if defined(__AVX512F__)
    VEC_EXCHANGE(v, 3)
#endif
}

#endif
