/* Layer normalisation for one instruction set. Rows are whole vectors: the padding beyond their width is 0 on
 * entry, and is zeroed again where a mean was subtracted. */
#include <math.h>
#include <string.h>

#include "trainer/nn/kernels/vector.h"

/* The sum of the lanes, halves first. */
static float sum_of_lanes(vec v)
{
    float x[LANES];
    vec_store(x, v);
    for (int n = LANES / 2; n > 0; n /= 2)
        for (int i = 0; i < n; i++)
            x[i] += x[i + n];
    return x[0];
}

static void clear_padding(float *x, size_t n, size_t padded)
{
    memset(x + n, 0, (padded - n) * sizeof *x);
}

static void forward_row(const struct nn_norm_f32 *norm, size_t r, size_t n, size_t padded)
{
    float *x = norm->centered + r * norm->stride, *y = norm->y + r * norm->stride;
    vec sum = {0}, squares = {0};
    for (size_t i = 0; i < padded; i += LANES)
        sum += vec_load(x + i);
    const vec mean = vec_all(sum_of_lanes(sum) / (float)n);
    for (size_t i = 0; i < padded; i += LANES)
        vec_store(x + i, vec_load(x + i) - mean);
    clear_padding(x, n, padded);
    for (size_t i = 0; i < padded; i += LANES)
        squares = vec_fma(vec_load(x + i), vec_load(x + i), squares);
    const double variance = (double)(sum_of_lanes(squares) / (float)n);
    norm->inverse[r] = (float)(1 / sqrt(variance + NET_NORM_EPSILON));
    const vec inverse = vec_all(norm->inverse[r]);
    for (size_t i = 0; i < padded; i += LANES) {
        const vec u = vec_load(x + i) * inverse;
        vec_store(x + i, u);
        vec_store(y + i, vec_fma(u, vec_load(norm->weight + i), vec_load(norm->bias + i)));
    }
}

void NN_JOIN(nn_norm_forward, NN_SET)(const struct nn_norm_f32 *norm)
{
    for (size_t r = 0; r < norm->rows; r++)
        forward_row(norm, r, (size_t)norm->width, (size_t)nn_round(norm->width));
}

static void backward_row(const struct nn_norm_f32 *norm, size_t r, size_t n, size_t padded, float *delta,
                         float *dweight, float *dbias)
{
    const float *centered = norm->centered + r * norm->stride;
    float *d = delta + r * norm->stride;
    vec sum = {0}, products = {0};
    for (size_t i = 0; i < padded; i += LANES) {
        const vec u = vec_load(centered + i), dy = vec_load(d + i);
        vec_store(dweight + i, vec_fma(dy, u, vec_load(dweight + i)));
        vec_store(dbias + i, dy + vec_load(dbias + i));
        const vec du = dy * vec_load(norm->weight + i);
        sum += du;
        products = vec_fma(du, u, products);
        vec_store(d + i, du);
    }
    const vec mean = vec_all(sum_of_lanes(sum) / (float)n),
              along = vec_all(sum_of_lanes(products) / (float)n);
    const vec inverse = vec_all(norm->inverse[r]);
    for (size_t i = 0; i < padded; i += LANES)
        vec_store(d + i, (vec_load(d + i) - mean - vec_load(centered + i) * along) * inverse);
    clear_padding(d, n, padded);
}

void NN_JOIN(nn_norm_backward, NN_SET)(const struct nn_norm_f32 *norm, float *delta, float *dweight,
                                       float *dbias)
{
    const size_t padded = (size_t)nn_round(norm->width);
    memset(dweight, 0, padded * sizeof *dweight);
    memset(dbias, 0, padded * sizeof *dbias);
    for (size_t r = 0; r < norm->rows; r++)
        backward_row(norm, r, (size_t)norm->width, padded, delta, dweight, dbias);
}
