/* Loops in the obvious order: float64's kernels, and what float32's fast ones are compared with. */
#include <math.h>

#include "trainer/nn/activate.h"
#include "trainer/nn/kernels.h"

static void activate_rows(const struct REAL(nn_affine) * op)
{
    const size_t out = (size_t)nn_round(op->out);
    for (size_t r = 0; r < op->rows; r++) {
        real *y = op->y + r * op->y_stride;
        for (size_t j = 0; j < out; j++) {
            if (op->pre)
                op->pre[r * op->y_stride + j] = y[j];
            y[j] = activate(op->activation, y[j]);
        }
    }
}

static void affine(const struct REAL(nn_affine) * op, real *scratch)
{
    (void)scratch;
    const size_t out = (size_t)nn_round(op->out), in = (size_t)op->in;
    for (size_t r = 0; r < op->rows; r++) {
        real *y = op->y + r * op->y_stride;
        const real *x = op->x + r * op->x_stride;
        for (size_t j = 0; j < out; j++)
            y[j] = op->bias[j];
        for (size_t i = 0; i < in; i++)
            for (size_t j = 0; j < out; j++)
                y[j] += x[i] * op->w[i * op->w_stride + j];
    }
    activate_rows(op);
}

static void pull(const struct REAL(nn_pull) * op, real *scratch)
{
    (void)scratch;
    const size_t in = (size_t)op->in, out = (size_t)op->out, padded = (size_t)nn_round(op->in);
    for (size_t r = 0; r < op->rows; r++) {
        const real *dy = op->dy + r * op->dy_stride;
        real *dx = op->dx + r * op->dx_stride;
        for (size_t i = 0; i < padded; i++) {
            real sum = op->add ? dx[i] : 0;
            for (size_t j = 0; i < in && j < out; j++)
                sum += dy[j] * op->w[i * op->w_stride + j];
            if (op->activation != NN_IDENTITY)
                sum *= activate_slope(op->activation, op->kept[r * op->dx_stride + i]);
            dx[i] = sum;
        }
    }
}

static void gradient(const struct REAL(nn_gradient) * op, real *scratch)
{
    (void)scratch;
    const size_t in = (size_t)op->in, out = (size_t)nn_round(op->out);
    for (size_t j = 0; j < out; j++)
        op->db[j] = 0;
    for (size_t i = 0; i < in; i++)
        for (size_t j = 0; j < out; j++)
            op->dw[i * op->w_stride + j] = 0;
    for (size_t r = 0; r < op->rows; r++) {
        const real *x = op->x + r * op->x_stride, *dy = op->dy + r * op->dy_stride;
        for (size_t j = 0; j < out; j++)
            op->db[j] += dy[j];
        for (size_t i = 0; i < in; i++)
            for (size_t j = 0; j < out; j++)
                op->dw[i * op->w_stride + j] += x[i] * dy[j];
    }
}

static real added(const real *const *grads, int n_grads, size_t i)
{
    real g = grads[0][i];
    for (int k = 1; k < n_grads; k++)
        g += grads[k][i];
    return g;
}

static void adam(const struct nn_adam *adam, real *params, real *m, real *v, const real *const *grads,
                 int n_grads, size_t first, size_t n)
{
    const real b1 = (real)adam->beta1, b2 = (real)adam->beta2, scale = (real)adam->scale;
    const real rest1 = (real)(1 - adam->beta1), rest2 = (real)(1 - adam->beta2);
    const real step = (real)(adam->lr / adam->correction1), root = (real)sqrt(adam->correction2);
    const real epsilon = (real)adam->epsilon;
    for (size_t i = first; i < first + n; i++) {
        real g = added(grads, n_grads, i) * scale;
        m[i] = b1 * m[i] + rest1 * g;
        v[i] = b2 * v[i] + rest2 * (g * g);
#ifdef NN_DOUBLE
        params[i] -= step * (m[i] / (sqrt(v[i]) / root + epsilon));
#else
        params[i] -= step * (m[i] / (sqrtf(v[i]) / root + epsilon));
#endif
    }
}

static double squares(const real *const *grads, int n_grads, size_t first, size_t n)
{
    double sum = 0;
    for (size_t i = first; i < first + n; i++) {
        double g = (double)added(grads, n_grads, i);
        sum += g * g;
    }
    return sum;
}

const struct REAL(nn_kernels) REAL(nn_kernels_plain) = {.name = "plain",
                                                        .affine = affine,
                                                        .pull = pull,
                                                        .gradient = gradient,
                                                        .adam = adam,
                                                        .squares = squares,
                                                        .norm_forward = REAL(nn_norm_forward),
                                                        .norm_backward = REAL(nn_norm_backward),
                                                        .activate = activate_rows};
