#include "trainer/nn/kernels.h"

#include <string.h>

const struct REAL(nn_kernels) * REAL(nn_kernels_best)(void)
{
    return &REAL(nn_kernels_plain);
}

const struct REAL(nn_kernels) * REAL(nn_kernels_find)(const char *name)
{
    return strcmp(name, "plain") == 0 ? &REAL(nn_kernels_plain) : NULL;
}

void REAL(nn_adam)(const struct nn_adam *adam, real *params, real *m, real *v, const real *const *grads,
                   int n_grads, size_t first, size_t n)
{
    REAL(nn_kernels_best)()->adam(adam, params, m, v, grads, n_grads, first, n);
}

double REAL(nn_grad_squares)(const real *const *grads, int n_grads, size_t first, size_t n)
{
    return REAL(nn_kernels_best)()->squares(grads, n_grads, first, n);
}
