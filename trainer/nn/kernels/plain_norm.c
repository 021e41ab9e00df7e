#include <math.h>

#include "trainer/nn/kernels.h"

static real sum(const real *x, size_t n)
{
    real ret = 0;
    for (size_t i = 0; i < n; i++)
        ret += x[i];
    return ret;
}

static real sum_of_products(const real *x, const real *y, size_t n)
{
    real ret = 0;
    for (size_t i = 0; i < n; i++)
        ret += x[i] * y[i];
    return ret;
}

void REAL(nn_norm_forward)(const struct REAL(nn_norm) * norm)
{
    const size_t n = (size_t)norm->width, padded = (size_t)nn_round(norm->width);
    for (size_t r = 0; r < norm->rows; r++) {
        real *x = norm->centered + r * norm->stride, *y = norm->y + r * norm->stride;
        const real mean = sum(x, n) / (real)n;
        for (size_t i = 0; i < n; i++)
            x[i] -= mean;
        const real variance = sum_of_products(x, x, n) / (real)n;
        const real inverse = (real)(1 / sqrt((double)variance + NET_NORM_EPSILON));
        norm->inverse[r] = inverse;
        for (size_t i = 0; i < n; i++)
            x[i] *= inverse;
        for (size_t i = 0; i < padded; i++)
            y[i] = x[i] * norm->weight[i] + norm->bias[i];
    }
}

/* With u = (x - mean) / s and y = u w + b: du = dy w, dx = (du - mean(du) - u mean(du u)) / s. */
void REAL(nn_norm_backward)(const struct REAL(nn_norm) * norm, real *delta, real *dweight, real *dbias)
{
    const size_t n = (size_t)norm->width, padded = (size_t)nn_round(norm->width);
    for (size_t i = 0; i < padded; i++)
        dweight[i] = dbias[i] = 0;
    for (size_t r = 0; r < norm->rows; r++) {
        const real *u = norm->centered + r * norm->stride;
        real *d = delta + r * norm->stride;
        for (size_t i = 0; i < n; i++) {
            dweight[i] += d[i] * u[i];
            dbias[i] += d[i];
            d[i] *= norm->weight[i];
        }
        const real mean = sum(d, n) / (real)n, along = sum_of_products(d, u, n) / (real)n;
        for (size_t i = 0; i < n; i++)
            d[i] = (d[i] - mean - u[i] * along) * norm->inverse[r];
    }
}
