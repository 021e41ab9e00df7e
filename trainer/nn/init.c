#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/clones.h"
#include "trainer/env/philox.h"
#include "trainer/nn/train.h"

#define TWO_PI 6.283185307179586476925

/* Standard normal numbers by Box-Muller: number i of tensor `tensor`. */
static double normal(uint64_t seed, uint32_t tensor, uint64_t i)
{
    const uint64_t pair = i / 2;
    const struct philox words =
        philox(seed, tensor, (uint32_t)pair, (uint32_t)(pair >> 32), (uint32_t)PPO_DRAW_INIT << 24);
    const uint64_t a = (uint64_t)words.word[0] << 21 ^ words.word[1],
                   b = (uint64_t)words.word[2] << 21 ^ words.word[3];
    const uint64_t mask = (UINT64_C(1) << 53) - 1;
    const double u = ((double)(a & mask) + 0.5) * 0x1p-53, v = (double)(b & mask) * 0x1p-53;
    const double radius = sqrt(-2 * log(u));
    return i % 2 ? radius * sin(TWO_PI * v) : radius * cos(TWO_PI * v);
}

/* Eight sums beside each other, whatever the processor adds at once. */
typedef double lanes __attribute__((vector_size(64), aligned(8)));
enum { LANES = 8 };

static double total(const lanes *l)
{
    return (((*l)[0] + (*l)[1]) + ((*l)[2] + (*l)[3])) + (((*l)[4] + (*l)[5]) + ((*l)[6] + (*l)[7]));
}

CLONES static double dot(const double *a, const double *b, size_t n)
{
    lanes sum = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        sum += *(const lanes *)(a + i) * *(const lanes *)(b + i);
    for (size_t k = 0; i + k < n; k++)
        sum[k] += a[i + k] * b[i + k];
    return total(&sum);
}

/* v[0] and v[1] less factor[0] and factor[1] times `along`; factor[] is then what they have along `next`. */
CLONES static void subtract(double *const v[2], double factor[2], const double *along, const double *next,
                            size_t n)
{
    double *a = v[0], *b = v[1];
    lanes sum_a = {0}, sum_b = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const lanes x = *(const lanes *)(along + i), y = *(const lanes *)(next + i);
        const lanes a_now = *(lanes *)(a + i) - factor[0] * x, b_now = *(lanes *)(b + i) - factor[1] * x;
        *(lanes *)(a + i) = a_now;
        *(lanes *)(b + i) = b_now;
        sum_a += a_now * y;
        sum_b += b_now * y;
    }
    for (size_t k = 0; i + k < n; k++) {
        a[i + k] -= factor[0] * along[i + k];
        b[i + k] -= factor[1] * along[i + k];
        sum_a[k] += a[i + k] * next[i + k];
        sum_b[k] += b[i + k] * next[i + k];
    }
    factor[0] = total(&sum_a);
    factor[1] = total(&sum_b);
}

/* Makes `count` vectors of `n` >= count numbers orthonormal: Gram and Schmidt, each vector twice: a vector's
 * second round and the next one's first go over the finished ones together. Behind them is one of zeros. The
 * first component along each vector stays positive, so that the result is uniform over all orthonormal
 * sets. */
static void orthonormal(double *vectors, size_t count, size_t n)
{
    for (size_t i = 0; i < count; i++) {
        double *v = vectors + i * n, *const both[2] = {v, v + n};
        double factor[2] = {dot(v, vectors, n), dot(v + n, vectors, n)};
        for (size_t j = 0; j < i; j++)
            subtract(both, factor, vectors + j * n, vectors + (j + 1) * n, n);
        const double length = sqrt(dot(v, v, n));
        for (size_t k = 0; k < n; k++)
            v[k] /= length;
        const double rest = dot(v + n, v, n);
        for (size_t k = 0; k < n; k++)
            v[n + k] -= rest * v[k];
    }
}

/* Along a weight's shorter side the vectors are orthonormal. */
static int fill_weight(const struct net_tensor *tensor, uint64_t seed, uint32_t number, int first, int cols,
                       double gain, float *params)
{
    const size_t rows = (size_t)tensor->rows, n_cols = (size_t)cols;
    const bool by_rows = rows < n_cols;
    const size_t count = by_rows ? rows : n_cols, n = by_rows ? n_cols : rows;
    double *vectors = calloc((count + 1) * n, sizeof *vectors);
    if (!vectors)
        return -ENOMEM;
    for (size_t i = 0; i < count * n; i++)
        vectors[i] = normal(seed, number, i);
    orthonormal(vectors, count, n);
    float *weight = params + tensor->offset + first;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < n_cols; j++)
            weight[i * (size_t)tensor->stride + j] = (float)(gain * vectors[by_rows ? i * n + j : j * n + i]);
    free(vectors);
    return 0;
}

static int fill_layer(const struct net_layout *layout, const struct net_layer *layer, uint64_t seed,
                      double gain, float *params)
{
    const struct net_tensor *tensor = &layout->tensors[layer->weight];
    for (int i = 0; layer->norm_weight >= 0 && i < layer->out; i++)
        params[layout->tensors[layer->norm_weight].offset + (size_t)i] = 1;
    return fill_weight(tensor, seed, (uint32_t)layer->weight, 0, tensor->cols, gain, params);
}

int nn_init(const struct net_layout *layout, uint64_t seed, double policy_gain, double log_std, float *ret)
{
    int rc = 0;
    memset(ret, 0, layout->n_params * sizeof *ret);
    for (enum net_part part = NET_PI; part <= NET_SHARED && rc == 0; part++) {
        const struct net_chain *chain = &layout->chains[part];
        for (int i = 0; i < chain->n_hidden && rc == 0; i++)
            rc = fill_layer(layout, &chain->hidden[i], seed, sqrt(2), ret);
        if (chain->has_recurrent && rc == 0) { /* z and c separately */
            const struct net_tensor *tensor = &layout->tensors[chain->recurrent.weight];
            const int units = layout->shape.recurrent, number = chain->recurrent.weight;
            rc = fill_weight(tensor, seed, (uint32_t)number, 0, units, 1, ret);
            if (rc == 0)
                rc = fill_weight(tensor, seed, (uint32_t)number | 1u << 16, units, units, 1, ret);
        }
        if (chain->has_head && rc == 0)
            rc = fill_layer(layout, &chain->head, seed, part == NET_PI ? policy_gain : 1, ret);
    }
    for (int a = 0; layout->log_std >= 0 && a < layout->shape.actions; a++)
        ret[layout->tensors[layout->log_std].offset + (size_t)a] = (float)log_std;
    return rc;
}
