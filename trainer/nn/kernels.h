/* The products of a network's layers and the optimiser's passes, as each instruction set has them. Strides
 * are in numbers; `out` and `in` columns are without padding, but everything is computed and written up to
 * the next multiple of NET_LANES, where weights' padding makes it 0. Arrays that have such a stride are
 * aligned to 64 bytes. Nothing overlaps. */
#ifndef TRAINER_NN_KERNELS_H
#define TRAINER_NN_KERNELS_H

#include "indicators_gpu/isa.h"
#include "strategy/policy/net.h"
#include "trainer/nn/adam.h"

enum { NN_IDENTITY = -1 }; /* no activation; else an enum net_activation */

/* y = activation(x W + b), x [rows][in]. */
struct REAL(nn_affine) {
    size_t rows;
    int in, out;
    const real *x, *w, *bias;
    size_t x_stride, w_stride; /* x_stride: any >= in; x needs no alignment */
    int activation;
    real *y, *pre; /* pre: the activation's argument, where that is wanted, of y's stride; or NULL */
    size_t y_stride;
};

/* dx = (dy W^T) * slope of the layer below: activation's, of `kept` [rows][in]: its result (tanh, ReLU) or
 * argument (SiLU), of dx's stride. `add`: dy W^T is added to what dx holds before the slope. */
struct REAL(nn_pull) {
    size_t rows;
    int in, out;
    const real *dy, *w, *kept;
    size_t dy_stride, w_stride;
    int activation;
    bool add;
    real *dx;
    size_t dx_stride;
};

/* dw = x^T dy, db = the sum of dy's rows. dw has w_stride and `in` rows. */
struct REAL(nn_gradient) {
    size_t rows;
    int in, out;
    const real *x, *dy;
    size_t x_stride, dy_stride, w_stride;
    real *dw, *db;
};

/* Layer normalisation of `rows` rows: `centered` holds the linear part's results, padding 0, and becomes (x -
 * mean) / deviation; y = centered * weight + bias. y may be `centered`. Backward reads neither y nor bias:
 * delta is by y on entry, by the linear part's results on return. */
struct REAL(nn_norm) {
    size_t rows, stride;
    int width;
    const real *weight, *bias;
    real *centered, *inverse /* [rows] 1 / deviation */, *y;
};

struct REAL(nn_kernels) {
    const char *name;
    size_t scratch; /* scratch numbers that the products need, aligned to 64 bytes */
    void (*affine)(const struct REAL(nn_affine) * op, real *scratch);
    void (*pull)(const struct REAL(nn_pull) * op, real *scratch);
    void (*gradient)(const struct REAL(nn_gradient) * op, real *scratch);
    void (*norm_forward)(const struct REAL(nn_norm) * norm);
    void (*norm_backward)(const struct REAL(nn_norm) * norm, real *delta, real *dweight, real *dbias);
    void (*adam)(const struct nn_adam *adam, real *params, real *m, real *v, const real *const *grads,
                 int n_grads, size_t first, size_t n);
    double (*squares)(const real *const *grads, int n_grads, size_t first, size_t n);
    /* Parts of the products, for results that are computed elsewhere: y becomes activation(y), and is kept in
     * `pre`; dx times the slope; db alone. The plain loops have the first. */
    void (*activate)(const struct REAL(nn_affine) * op);
    void (*slope)(const struct REAL(nn_pull) * op);
    void (*sum_rows)(const struct REAL(nn_gradient) * op);
};

void REAL(nn_norm_forward)(const struct REAL(nn_norm) * norm);
void REAL(nn_norm_backward)(const struct REAL(nn_norm) * norm, real *delta, real *dweight, real *dbias);

extern const struct REAL(nn_kernels) REAL(nn_kernels_plain); /* loops, the reference of the others */

#ifndef NN_DOUBLE
extern const struct nn_kernels_f32 nn_kernels_baseline; /* trainer/nn/kernels/, by instruction set */
#if HAVE_AVX_SETS
extern const struct nn_kernels_f32 nn_kernels_avx2, nn_kernels_avx512;
#endif
#ifdef HAVE_OPENBLAS
/* Large products by OpenBLAS; ret_faster: whether that uses this processor's widest instructions. */
const struct nn_kernels_f32 *nn_kernels_openblas(bool *ret_faster);
#endif
#endif

/* The best of this processor; of those that use no library. */
const struct REAL(nn_kernels) * REAL(nn_kernels_best)(void);
const struct REAL(nn_kernels) * REAL(nn_kernels_own)(void);
/* By name: "plain", "baseline", "avx2", "avx512", "openblas"; NULL: not available here. */
const struct REAL(nn_kernels) * REAL(nn_kernels_find)(const char *name);

static inline int nn_round(int n)
{
    return (n + NET_LANES - 1) / NET_LANES * NET_LANES;
}

#endif
