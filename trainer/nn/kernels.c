#include "trainer/nn/kernels.h"

#include <string.h>

#if defined(NN_DOUBLE) || !HAVE_AVX_SETS
static bool usable(const struct REAL(nn_kernels) * kernels)
{
    (void)kernels;
    return true;
}
#else
static bool usable(const struct REAL(nn_kernels) * kernels)
{
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (kernels == &nn_kernels_avx512)
        return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    return avx2 || kernels != &nn_kernels_avx2;
}
#endif

/* The best first. */
static const struct REAL(nn_kernels) *const sets[] = {
#ifndef NN_DOUBLE
#if HAVE_AVX_SETS
    &nn_kernels_avx512,
    &nn_kernels_avx2,
#endif
    &nn_kernels_baseline,
#endif
    &REAL(nn_kernels_plain),
};

const struct REAL(nn_kernels) * REAL(nn_kernels_own)(void)
{
    size_t i = 0;
    while (!usable(sets[i]))
        i++;
    return sets[i];
}

const struct REAL(nn_kernels) * REAL(nn_kernels_best)(void)
{
#if defined(HAVE_OPENBLAS) && !defined(NN_DOUBLE)
    bool faster;
    const struct nn_kernels_f32 *openblas = nn_kernels_openblas(&faster);
    if (faster)
        return openblas;
#endif
    return REAL(nn_kernels_own)();
}

const struct REAL(nn_kernels) * REAL(nn_kernels_find)(const char *name)
{
#if defined(HAVE_OPENBLAS) && !defined(NN_DOUBLE)
    bool faster;
    if (strcmp(name, "openblas") == 0)
        return nn_kernels_openblas(&faster);
#endif
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (strcmp(sets[i]->name, name) == 0)
            return usable(sets[i]) ? sets[i] : NULL;
    return NULL;
}

void REAL(nn_adam)(const struct nn_adam *adam, real *params, real *m, real *v, const real *const *grads,
                   int n_grads, size_t first, size_t n)
{
    REAL(nn_kernels_own)()->adam(adam, params, m, v, grads, n_grads, first, n);
}

double REAL(nn_grad_squares)(const real *const *grads, int n_grads, size_t first, size_t n)
{
    return REAL(nn_kernels_own)()->squares(grads, n_grads, first, n);
}
