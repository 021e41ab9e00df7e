/* Large products by OpenBLAS, everything else by the best of our own kernels. One thread each: callers split
 * rows. OpenBLAS' products are a twentieth faster than ours with AVX2 (122 and 115 GFLOP/s on one core of an
 * EPYC 9005, 2048x1024, 512 rows) and as fast with AVX-512 (226 and 213 to 229); but versions that do not
 * know a processor use kernels for an older one, and ours then are nearly twice as fast. */
#include <cblas.h>
#include <pthread.h>
#include <string.h>

#include "trainer/nn/kernels.h"

enum { LEAST_PRODUCTS = 1 << 25, LEAST_ROWS = 96 };

static const struct nn_kernels_f32 *own;
static struct nn_kernels_f32 openblas;

static bool is_large(size_t rows, int in, int out)
{
    return rows >= LEAST_ROWS && (double)rows * in * out >= LEAST_PRODUCTS;
}

static void affine(const struct nn_affine_f32 *op, float *scratch)
{
    if (!is_large(op->rows, op->in, op->out)) {
        own->affine(op, scratch);
        return;
    }
    const size_t out = (size_t)nn_round(op->out);
    for (size_t r = 0; r < op->rows; r++)
        memcpy(op->y + r * op->y_stride, op->bias, out * sizeof *op->y);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)op->rows, (int)out, op->in, 1, op->x,
                (int)op->x_stride, op->w, (int)op->w_stride, 1, op->y, (int)op->y_stride);
    own->activate(op);
}

static void pull(const struct nn_pull_f32 *op, float *scratch)
{
    if (!is_large(op->rows, op->in, op->out)) {
        own->pull(op, scratch);
        return;
    }
    const size_t padding = (size_t)(nn_round(op->in) - op->in);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)op->rows, op->in, op->out, 1, op->dy,
                (int)op->dy_stride, op->w, (int)op->w_stride, op->add ? 1 : 0, op->dx, (int)op->dx_stride);
    for (size_t r = 0; r < op->rows; r++)
        memset(op->dx + r * op->dx_stride + op->in, 0, padding * sizeof *op->dx);
    own->slope(op);
}

static void gradient(const struct nn_gradient_f32 *op, float *scratch)
{
    if (!is_large(op->rows, op->in, op->out)) {
        own->gradient(op, scratch);
        return;
    }
    own->sum_rows(op);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, op->in, nn_round(op->out), (int)op->rows, 1, op->x,
                (int)op->x_stride, op->dy, (int)op->dy_stride, 0, op->dw, (int)op->w_stride);
}

static void once(void)
{
    openblas_set_num_threads(1);
    own = nn_kernels_own_f32();
    openblas = *own;
    openblas.name = "openblas";
    openblas.affine = affine;
    openblas.pull = pull;
    openblas.gradient = gradient;
}

const struct nn_kernels_f32 *nn_kernels_openblas(bool *ret_faster)
{
    static const char *const wide[] = {"SkylakeX", "Cooperlake", "SapphireRapids"};
    static pthread_once_t done = PTHREAD_ONCE_INIT;
    pthread_once(&done, once);
    *ret_faster = strcmp(own->name, "avx512") != 0;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        *ret_faster = *ret_faster || strcmp(openblas_get_corename(), wide[i]) == 0;
    return &openblas;
}
