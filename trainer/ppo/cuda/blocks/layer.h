/* What follows a product: bias, norm and activation of its rows, forward and backward. A block takes
 * KERNEL_SUM_TILE rows of up to 256 columns: a thread has eight columns, which it keeps, and every so many of
 * the rows, so that sums over rows stay in its registers and each warp moves runs of 512 bytes (bfloat16).
 * Narrow layers have fewer columns and more rows at once.
 *
 * The activation is a constant of each kernel: no branch an element, and no registers for the others'
 * formulas. */
#ifndef TRAINER_PPO_CUDA_BLOCKS_LAYER_H
#define TRAINER_PPO_CUDA_BLOCKS_LAYER_H

#include "strategy/policy/activation.h"
#include "trainer/ppo/cuda/blocks/number.h"

enum { LAYER_PIECES = 32 /* of a row, of a block at most */, LAYER_SUMS = 3 };
#define LAYER_NORM_EPSILON 1e-5f /* NET_NORM_EPSILON */

/* Threads side by side along a row: a power of two. */
FILL_RULE uint32_t layer_across(uint32_t stride, uint32_t most)
{
    uint32_t across = 1;
    while (across < most && across * KERNEL_PIECE < stride)
        across *= 2;
    return across;
}

static inline uint32_t layer_columns(uint32_t stride)
{
    return kernel_tiles(stride, LAYER_PIECES * KERNEL_PIECE);
}

/* A thread's eight columns of what is the same for all rows. */
struct layer_column {
    struct eight bias, weight, shift;
};

BLOCK_FN struct layer_column layer_column_of(const struct kernel_layer *k, uint32_t column)
{
    struct layer_column ret;
    BLOCK_UNROLL
    for (int j = 0; j < KERNEL_PIECE; j++) {
        bool there = column + (uint32_t)j < k->cols;
        ret.bias.at[j] = there && k->bias ? k->bias[column + (uint32_t)j] : 0;
        ret.weight.at[j] = there && k->norm_weight ? k->norm_weight[column + (uint32_t)j] : 1;
        ret.shift.at[j] = there && k->norm_weight ? k->norm_bias[column + (uint32_t)j] : 0;
    }
    return ret;
}

BLOCK_FN float layer_activate(enum kernel_activation activation, float x)
{
    switch (activation) {
    case KERNEL_TANH:
        return activation_tanh(x);
    case KERNEL_RELU:
        return x > 0 ? x : x <= 0 ? 0 : x; /* NaN stays */
    case KERNEL_SILU:
        return activation_silu(x);
    case KERNEL_IDENTITY:
        break;
    }
    return x;
}

/* d y / d x by x. */
BLOCK_FN float layer_slope_at(enum kernel_activation activation, float x)
{
    float y;
    switch (activation) {
    case KERNEL_TANH:
        y = activation_tanh(x);
        return 1 - y * y;
    case KERNEL_RELU:
        return x > 0;
    case KERNEL_SILU:
        y = activation_sigmoid(x);
        return y * (1 + x * (1 - y));
    case KERNEL_IDENTITY:
        break;
    }
    return 1;
}

/* d y / d x by y, for activations whose slope y determines. */
BLOCK_FN float layer_slope_of(enum kernel_activation activation, float y)
{
    return activation == KERNEL_TANH ? 1 - y * y : activation == KERNEL_RELU ? (float)(y > 0) : 1;
}

/* x: tile of rows, y: columns. */
BLOCK_FN void layer_activate_rows(const struct kernel_layer *k, enum kernel_activation activation, unsigned x,
                                  unsigned y)
{
    uint32_t across = layer_across(k->y.stride, LAYER_PIECES), first = x * KERNEL_SUM_TILE;
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        uint32_t column = (y * LAYER_PIECES + t % across) * KERNEL_PIECE;
        if (column >= k->y.stride)
            continue;
        struct layer_column own = layer_column_of(k, column);
        for (uint32_t i = t / across; i < KERNEL_SUM_TILE && first + i < k->rows;
             i += KERNEL_THREADS / across) {
            struct eight at = row_load8(&k->x, first + i, column);
            BLOCK_UNROLL
            for (int j = 0; j < KERNEL_PIECE; j++)
                at.at[j] = column + (uint32_t)j < k->cols
                               ? layer_activate(activation, at.at[j] + own.bias.at[j])
                               : 0;
            row_store8(&k->y, first + i, column, &at);
        }
    }
}

/* ---- layer normalisation: threads side by side have a whole row ---- */

FILL_RULE uint32_t norm_rows(uint32_t stride)
{
    return KERNEL_THREADS / layer_across(stride, KERNEL_THREADS);
}

static inline uint32_t norm_blocks(const struct kernel_layer *k, uint32_t stride)
{
    return kernel_tiles(k->rows, norm_rows(stride));
}

/* Adds up the sums of the `across` threads of each row: the first of each has the result. */
BLOCK_FN void norm_add(float *at, unsigned n, uint32_t across)
{
    for (uint32_t half = across / 2; half > 0; half /= 2)
        BLOCK_PHASE(t, KERNEL_THREADS)
        {
            if (t % across < half)
                for (unsigned i = 0; i < n; i++)
                    at[i * KERNEL_THREADS + t] += at[i * KERNEL_THREADS + t + half];
        }
}

/* x: rows. */
BLOCK_FN void layer_activate_norm(const struct kernel_layer *k, enum kernel_activation activation, unsigned x,
                                  void *shared)
{
    float *sums = (float *)shared; /* [2][KERNEL_THREADS]: means, then squares */
    uint32_t across = layer_across(k->x.stride, KERNEL_THREADS);
    uint32_t first = x * (KERNEL_THREADS / across);
    for (int pass = 0; pass < 2; pass++) {
        BLOCK_PHASE(t, KERNEL_THREADS)
        {
            uint32_t row = first + t / across;
            float sum = 0, mean = pass ? sums[t / across * across] / (float)k->cols : 0;
            for (uint32_t c = t % across * KERNEL_PIECE; row < k->rows && c < k->cols;
                 c += across * KERNEL_PIECE) {
                struct eight at = row_load8(&k->x, row, c);
                BLOCK_UNROLL
                for (uint32_t j = 0; j < KERNEL_PIECE; j++) {
                    float off = at.at[j] + (k->bias && c + j < k->cols ? k->bias[c + j] : 0) - mean;
                    sum += c + j >= k->cols ? 0 : pass ? off * off : off;
                }
            }
            sums[pass * KERNEL_THREADS + t] = sum;
        }
        norm_add(sums + pass * KERNEL_THREADS, 1, across);
    }
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        uint32_t row = first + t / across;
        float mean = sums[t / across * across] / (float)k->cols;
        float variance = sums[KERNEL_THREADS + t / across * across] / (float)k->cols;
        float inverse = 1 / sqrtf(variance + LAYER_NORM_EPSILON);
        if (row >= k->rows)
            continue;
        if (t % across == 0) {
            k->norm_stats[(size_t)row * 2] = mean;
            k->norm_stats[(size_t)row * 2 + 1] = inverse;
        }
        for (uint32_t c = t % across * KERNEL_PIECE; c < k->y.stride; c += across * KERNEL_PIECE) {
            struct layer_column own = layer_column_of(k, c);
            struct eight at = row_load8(&k->x, row, c);
            BLOCK_UNROLL
            for (uint32_t j = 0; j < KERNEL_PIECE; j++) {
                float normal = (at.at[j] + own.bias.at[j] - mean) * inverse;
                at.at[j] = c + j < k->cols
                               ? layer_activate(activation, normal * own.weight.at[j] + own.shift.at[j])
                               : 0;
            }
            row_store8(&k->y, row, c, &at);
        }
    }
}

/* One element backward through the activation: *ret_normal is (x - mean) / deviation. */
BLOCK_FN float norm_pull(enum kernel_activation activation, const struct layer_column *own, int j, float x,
                         float dy, float mean, float inverse, float *ret_normal)
{
    float normal = (x + own->bias.at[j] - mean) * inverse;
    *ret_normal = normal;
    return dy * layer_slope_at(activation, normal * own->weight.at[j] + own->shift.at[j]);
}

/* The means over a row that its elements' gradients need. x: rows. */
BLOCK_FN void layer_norm_pulls(const struct kernel_layer *k, enum kernel_activation activation, unsigned x,
                               void *shared)
{
    float *sums = (float *)shared; /* [2][KERNEL_THREADS] */
    uint32_t across = layer_across(k->dy.stride, KERNEL_THREADS);
    uint32_t first = x * (KERNEL_THREADS / across);
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        uint32_t row = first + t / across;
        float pull = 0, normals = 0;
        for (uint32_t c = t % across * KERNEL_PIECE; row < k->rows && c < k->cols;
             c += across * KERNEL_PIECE) {
            struct layer_column own = layer_column_of(k, c);
            struct eight at = row_load8(&k->x, row, c), dy = row_load8(&k->dy, row, c);
            float mean = k->norm_stats[(size_t)row * 2], inverse = k->norm_stats[(size_t)row * 2 + 1];
            BLOCK_UNROLL
            for (int j = 0; j < KERNEL_PIECE; j++) {
                float normal, g = norm_pull(activation, &own, j, at.at[j], dy.at[j], mean, inverse, &normal);
                if (c + (uint32_t)j >= k->cols)
                    continue;
                pull += g * own.weight.at[j];
                normals += g * own.weight.at[j] * normal;
            }
        }
        sums[t] = pull;
        sums[KERNEL_THREADS + t] = normals;
    }
    norm_add(sums, 2, across);
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        uint32_t row = first + t / across;
        if (row >= k->rows || t % across != 0)
            continue;
        k->norm_pulls[(size_t)row * 2] = sums[t] / (float)k->cols;
        k->norm_pulls[(size_t)row * 2 + 1] = sums[KERNEL_THREADS + t] / (float)k->cols;
    }
}

/* ---- backward ---- */

struct layer_sums {
    struct eight at[LAYER_SUMS]; /* d bias, d norm weight, d norm bias */
};

/* dx of eight columns of a row, and their part of the sums. */
BLOCK_FN struct eight layer_pull(const struct kernel_layer *k, enum kernel_activation activation,
                                 const struct layer_column *own, uint32_t row, uint32_t column, bool norm,
                                 struct layer_sums *sums)
{
    struct eight dx = row_load8(&k->dy, row, column), at;
    bool from_x = norm || activation == KERNEL_SILU;
    float mean = 0, inverse = 1, pull = 0, normals = 0;
    if (norm) {
        mean = k->norm_stats[(size_t)row * 2];
        inverse = k->norm_stats[(size_t)row * 2 + 1];
        pull = k->norm_pulls[(size_t)row * 2];
        normals = k->norm_pulls[(size_t)row * 2 + 1];
    }
    if (activation == KERNEL_IDENTITY && !norm)
        memset(&at, 0, sizeof(at));
    else
        at = from_x ? row_load8(&k->x, row, column) : row_load8(&k->y, row, column);
    BLOCK_UNROLL
    for (int j = 0; j < KERNEL_PIECE; j++) {
        float d;
        if (norm) {
            float normal, g = norm_pull(activation, own, j, at.at[j], dx.at[j], mean, inverse, &normal);
            d = inverse * (g * own->weight.at[j] - pull - normal * normals);
            sums->at[1].at[j] += g * normal;
            sums->at[2].at[j] += g;
        } else if (from_x) {
            d = dx.at[j] * layer_slope_at(activation, at.at[j] + own->bias.at[j]);
        } else {
            d = dx.at[j] * layer_slope_of(activation, at.at[j]);
        }
        sums->at[0].at[j] += d;
        dx.at[j] = column + (uint32_t)j < k->cols ? d : 0;
    }
    return dx;
}

/* x: tile of rows, y: columns. Shared: [KERNEL_THREADS][KERNEL_PIECE], a thread's eight together. */
BLOCK_FN void layer_pull_back(const struct kernel_layer *k, enum kernel_activation activation, bool norm,
                              unsigned x, unsigned y, void *shared)
{
    struct eight *lanes = (struct eight *)shared;
    uint32_t stride = k->dy.stride, across = layer_across(stride, LAYER_PIECES), first = x * KERNEL_SUM_TILE;
    BLOCK_OWN(struct layer_sums, own_sums, KERNEL_THREADS);

    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        uint32_t column = (y * LAYER_PIECES + t % across) * KERNEL_PIECE;
        struct layer_sums sums;
        memset(&sums, 0, sizeof(sums));
        if (column < stride) {
            struct layer_column own = layer_column_of(k, column);
            for (uint32_t i = t / across; i < KERNEL_SUM_TILE && first + i < k->rows;
                 i += KERNEL_THREADS / across) {
                struct eight dx = layer_pull(k, activation, &own, first + i, column, norm, &sums);
                if (k->dx.at)
                    row_store8(&k->dx, first + i, column, &dx);
            }
        }
        BLOCK_MINE(own_sums, t) = sums;
    }
    BLOCK_UNROLL
    for (int s = 0; s < LAYER_SUMS; s++) {
        float *to = s == 0 ? k->bias_sums : s == 1 ? k->norm_weight_sums : k->norm_bias_sums;
        if (!to || (s > 0 && !norm))
            continue;
        BLOCK_PHASE(t, KERNEL_THREADS)
        {
            lanes[t] = BLOCK_MINE(own_sums, t).at[s];
        }
        BLOCK_PHASE(t, KERNEL_THREADS)
        {
            uint32_t column = y * LAYER_PIECES * KERNEL_PIECE + t;
            float sum = 0;
            if (t >= across * KERNEL_PIECE || column >= stride)
                continue;
            for (uint32_t lane = 0; lane < KERNEL_THREADS / across; lane++)
                sum += lanes[lane * across + t / KERNEL_PIECE].at[t % KERNEL_PIECE];
            to[(size_t)x * stride + column] = column < k->cols ? sum : 0;
        }
    }
}

/* The kernels of one activation; norm's blocks are across alone. */
#define LAYER_BLOCKS(name, activation) \
    BLOCK_FN void block_activate_##name(const struct kernel_layer *k, unsigned x, unsigned y, void *shared) \
    { \
        (void)shared; \
        layer_activate_rows(k, activation, x, y); \
    } \
    BLOCK_FN void block_activate_norm_##name(const struct kernel_layer *k, unsigned x, unsigned y, \
                                             void *shared) \
    { \
        (void)y; \
        layer_activate_norm(k, activation, x, shared); \
    } \
    BLOCK_FN void block_norm_pulls_##name(const struct kernel_layer *k, unsigned x, unsigned y, \
                                          void *shared) \
    { \
        (void)y; \
        layer_norm_pulls(k, activation, x, shared); \
    } \
    BLOCK_FN void block_pull_back_##name(const struct kernel_layer *k, unsigned x, unsigned y, void *shared) \
    { \
        layer_pull_back(k, activation, false, x, y, shared); \
    } \
    BLOCK_FN void block_pull_back_norm_##name(const struct kernel_layer *k, unsigned x, unsigned y, \
                                              void *shared) \
    { \
        layer_pull_back(k, activation, true, x, y, shared); \
    }

LAYER_BLOCKS(tanh, KERNEL_TANH)
LAYER_BLOCKS(relu, KERNEL_RELU)
LAYER_BLOCKS(silu, KERNEL_SILU)

/* Sums alone. */
BLOCK_FN void block_pull_back_none(const struct kernel_layer *k, unsigned x, unsigned y, void *shared)
{
    layer_pull_back(k, KERNEL_IDENTITY, false, x, y, shared);
}

#endif
