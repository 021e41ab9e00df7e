/* The optimiser's passes over all parameters for one instruction set. Adam moves 28 bytes a parameter and 4
 * a gradient array, which is what it costs with large networks: parts of CHUNK numbers, so that the added
 * gradients stay in the first cache. */
#include <math.h>

#include "trainer/nn/kernels/vector.h"

enum { CHUNK = 1024, SUMS = 32 };

/* The added gradients [first, first + n), n <= CHUNK. One array is used where it lies. */
static const float *add(const float *const *grads, int n_grads, size_t first, size_t n, float *sum)
{
    if (n_grads == 1)
        return grads[0] + first;
    const float *a = grads[0] + first, *b = grads[1] + first;
    for (size_t i = 0; i < n; i++)
        sum[i] = a[i] + b[i];
    for (int k = 2; k < n_grads; k++) {
        const float *g = grads[k] + first;
        for (size_t i = 0; i < n; i++)
            sum[i] += g[i];
    }
    return sum;
}

/* Moments of weights that no longer learn decay to denormals, which some processors compute slowly: here they
 * become 0. Returns the processor's previous mode. */
static unsigned int flush_denormals(void)
{
#ifdef __SSE2__
    const unsigned int before = _mm_getcsr();
    _mm_setcsr(before | 0x8040); /* flush to zero, denormals are zeros */
    return before;
#else
    return 0;
#endif
}

static void restore_denormals(unsigned int before)
{
#ifdef __SSE2__
    _mm_setcsr(before);
#else
    (void)before;
#endif
}

struct factors {
    float b1, b2, rest1, rest2, scale, step, root, epsilon;
};

static void chunk(const struct factors *f, float *restrict p, float *restrict m, float *restrict v,
                  const float *restrict grad, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const float g = grad[i] * f->scale;
        m[i] = f->b1 * m[i] + f->rest1 * g;
        v[i] = f->b2 * v[i] + f->rest2 * (g * g);
        p[i] -= f->step * (m[i] / (sqrtf(v[i]) / f->root + f->epsilon));
    }
}

void NN_JOIN(nn_adam, NN_SET)(const struct nn_adam *adam, float *params, float *m, float *v,
                              const float *const *grads, int n_grads, size_t first, size_t n)
{
    const struct factors factors = {
        .b1 = (float)adam->beta1,
        .b2 = (float)adam->beta2,
        .rest1 = (float)(1 - adam->beta1),
        .rest2 = (float)(1 - adam->beta2),
        .scale = (float)adam->scale,
        .step = (float)(adam->lr / adam->correction1),
        .root = (float)sqrt(adam->correction2),
        .epsilon = (float)adam->epsilon,
    };
    const unsigned int before = flush_denormals();
    float sum[CHUNK];
    for (size_t at = first; at < first + n; at += CHUNK) {
        const size_t left = first + n - at, count = left < CHUNK ? left : CHUNK;
        chunk(&factors, params + at, m + at, v + at, add(grads, n_grads, at, count, sum), count);
    }
    restore_denormals(before);
}

double NN_JOIN(nn_squares, NN_SET)(const float *const *grads, int n_grads, size_t first, size_t n)
{
    double sums[SUMS] = {0};
    float sum[CHUNK];
    for (size_t at = first; at < first + n; at += CHUNK) {
        const size_t left = first + n - at, count = left < CHUNK ? left : CHUNK;
        const float *g = add(grads, n_grads, at, count, sum);
        size_t i = 0;
        for (; i + SUMS <= count; i += SUMS)
            for (size_t k = 0; k < SUMS; k++)
                sums[k] += (double)g[i + k] * (double)g[i + k];
        for (size_t k = 0; i + k < count; k++)
            sums[k] += (double)g[i + k] * (double)g[i + k];
    }
    double ret = 0;
    for (size_t k = 0; k < SUMS; k++)
        ret += sums[k];
    return ret;
}
