/* The layers' products for one instruction set.
 *
 * All three are c = from + a b in tiles of the results, b in blocks of BLOCK_DEPTH rows and TILE_COLS
 * columns: 32 KiB with AVX-512, which stay in the first cache while all rows of `a` go by. A row of an epoch
 * with two 64x64 networks and 36 observations is 13,000 products forward, as many for the weights' gradients
 * and 8,400 for the inputs': 1,080 cycles of AVX-512 at two vectors a cycle. Its activations are 16 vectors
 * of some 15 cycles.
 *
 * b is used where it lies if it is narrow, so that its rows fill the cache's sets evenly, or if there are few
 * rows of `a`, which a copy would not pay for: then in blocks of few rows, so that memory is read in order.
 *
 * On one core of an EPYC 9005, 512 rows, forward, inputs' and weights' gradients: 2048x1024 223, 229 and 213
 * GFLOP/s, 64x64 246, 240 and 239; OpenBLAS 226, 226, 226 and 212, 206, 187 with its kernels for AVX-512. */
#include <string.h>

#include "trainer/nn/kernels/tile.h"

enum {
    BLOCK_DEPTH = 128,
    FEW_ROWS = 48,
    FEW_DEPTH = 32,
    NARROW = 64, /* columns of b that is used where it lies */
    /* Outputs of a head that is done by dot products, and of one whose gradient is done transposed. */
    NARROW_HEAD = 4,
    NARROW_GRADIENT = 8,
    SCRATCH = NET_WIDTH_MAX * NARROW_GRADIENT,
};

static const float zeros[TILE_COLS] __attribute__((aligned(64)));

struct product {
    size_t m, n, k; /* n: padded */
    const float *a, *b;
    size_t a_row, a_step, b_step;
    bool transposed; /* b is [n_real][k]: column j is row j */
    size_t n_real;
    const float *from; /* [n], the same for each row; NULL: 0 */
    bool add;          /* from c itself */
    float *c;
    size_t c_row;
    /* Applied to complete results. */
    int activation;
    float *pre;        /* forward: the argument is kept here; NULL */
    const float *kept; /* backward: c *= slope(kept) */
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void pack(const struct product *q, size_t first, size_t depth, size_t column, size_t cols, float *ret)
{
    const float *b = q->b + first * q->b_step + column;
    for (size_t p = 0; p < depth; p++, b += q->b_step)
        for (size_t j = 0; j < cols; j += LANES)
            vec_store(ret + p * TILE_COLS + j, vec_load(b + j));
}

/* Of b as [n_real][k], whose rows are padded to whole vectors; so `depth` is rounded up. */
static void pack_transposed(const struct product *q, size_t first, size_t depth, size_t column, size_t cols,
                            float *ret)
{
    for (size_t j = 0; j < cols; j += LANES)
        for (size_t p = 0; p < depth; p += LANES) {
            vec v[LANES];
            for (size_t i = 0; i < LANES; i++)
                v[i] = column + j + i < q->n_real ? vec_load(q->b + (column + j + i) * q->b_step + first + p)
                                                  : (vec){0};
            vec_transpose(v);
            for (size_t i = 0; i < LANES; i++)
                vec_store(ret + (p + i) * TILE_COLS + j, v[i]);
        }
}

#define FOR_TILE(statement) \
    for (size_t i = 0; i < rows; i++) \
        for (size_t j = 0; j < cols; j += LANES) { \
            float *at = c + i * q->c_row + j; \
            const vec x = vec_load(at); \
            vec_store(at, statement); \
        }

static void finish(const struct product *q, size_t row, size_t rows, size_t column, size_t cols)
{
    float *c = q->c + row * q->c_row + column;
    if (q->kept) {
        const float *kept = q->kept + row * q->c_row + column;
        switch (q->activation) {
        case NET_TANH:
            FOR_TILE(x * VEC(tanh_slope)(vec_load(kept + i * q->c_row + j)));
            break;
        case NET_RELU:
            FOR_TILE((vec)((VEC(int))x & (VEC(int))(vec_load(kept + i * q->c_row + j) > (vec){0})));
            break;
        default:
            FOR_TILE(x * VEC(silu_slope)(vec_load(kept + i * q->c_row + j)));
        }
        return;
    }
    for (size_t i = 0; q->pre && i < rows; i++)
        memcpy(q->pre + (row + i) * q->c_row + column, c + i * q->c_row, cols * sizeof *c);
    switch (q->activation) {
    case NET_TANH:
        FOR_TILE(VEC(tanh)(x));
        break;
    case NET_RELU:
        FOR_TILE(VEC(relu)(x));
        break;
    case NET_SILU:
        FOR_TILE(VEC(silu)(x));
        break;
    default:
        break;
    }
}

/* One block of b, [depth][cols] and b_step apart, for all rows. Tiles are as even as can be. */
static void block(const struct product *q, size_t first, size_t depth, size_t column, size_t cols,
                  const float *b, size_t b_step)
{
    const size_t n = (q->m + TILE_ROWS - 1) / TILE_ROWS;
    const bool whole = first + depth == q->k && q->activation != NN_IDENTITY;
    const bool begins = first == 0 && !q->add;
    const float *from = q->from ? q->from + column : zeros;
    for (size_t i = 0; i < n; i++) {
        const size_t row = q->m * i / n, rows = q->m * (i + 1) / n - row;
        float *c = q->c + row * q->c_row + column;
        const struct tile tile = {
            .k = depth,
            .a = q->a + row * q->a_row + first * q->a_step,
            .b = b,
            .from = begins ? from : c,
            .c = c,
            .a_row = q->a_row,
            .a_step = q->a_step,
            .b_step = b_step,
            .from_row = begins ? 0 : q->c_row,
            .c_row = q->c_row,
        };
        tile_functions[cols / LANES - 1][rows - 1](&tile);
        if (whole)
            finish(q, row, rows, column, cols);
    }
}

/* Blocks of b where it lies, row by row. */
static void multiply_direct(const struct product *q, size_t most)
{
    for (size_t first = 0; first < q->k; first += most)
        for (size_t column = 0; column < q->n; column += TILE_COLS)
            block(q, first, least(most, q->k - first), column, least(TILE_COLS, q->n - column),
                  q->b + first * q->b_step + column, q->b_step);
}

static void multiply(const struct product *q, float *scratch)
{
    const bool few = q->m <= FEW_ROWS;
    if (!q->transposed && (few || q->n <= NARROW)) {
        multiply_direct(q, q->n <= NARROW ? BLOCK_DEPTH : FEW_DEPTH);
        return;
    }
    /* Column by column, so that a column of results stays in the second-level cache. */
    for (size_t column = 0; column < q->n; column += TILE_COLS)
        for (size_t first = 0; first < q->k; first += BLOCK_DEPTH) {
            const size_t depth = least(BLOCK_DEPTH, q->k - first), cols = least(TILE_COLS, q->n - column);
            (q->transposed ? pack_transposed : pack)(q, first, depth, column, cols, scratch);
            block(q, first, depth, column, cols, scratch, TILE_COLS);
        }
}

/* A head of few outputs, whose inputs can be read in whole vectors: what has such a stride is padded with
 * zeros, or needs no padding. */
static bool is_narrow(int in, int out, size_t x_stride, int most)
{
    return out <= most && in <= NET_WIDTH_MAX && x_stride % NET_LANES == 0;
}

/* Dot products with the weight's columns, which are copied to rows: LANES rows of x at a time, whose sums of
 * lanes are one vector's. */
static void affine_narrow(const struct nn_affine_f32 *op, float *scratch)
{
    const size_t in = (size_t)op->in, out = (size_t)op->out, step = (size_t)nn_round(op->in);
    for (size_t j = 0; j < out; j++)
        for (size_t i = 0; i < step; i++)
            scratch[j * step + i] = i < in ? op->w[i * op->w_stride + j] : 0;
    for (size_t r = 0; r < op->rows; r++)
        memset(op->y + r * op->y_stride, 0, NET_LANES * sizeof *op->y);
    for (size_t first = 0; first < op->rows; first += LANES) {
        const size_t rows = least(LANES, op->rows - first);
        for (size_t j = 0; j < out; j++) {
            const float *w = scratch + j * step;
            vec sums[LANES] = {{0}}, all = vec_all(op->bias[j]);
            for (size_t r = 0; r < rows; r++)
                for (size_t i = 0; i < step; i += LANES)
                    sums[r] =
                        vec_fma(vec_load(op->x + (first + r) * op->x_stride + i), vec_load(w + i), sums[r]);
            vec_transpose(sums);
            for (size_t k = 0; k < LANES; k++)
                all += sums[k];
            float results[LANES];
            vec_store(results, all);
            for (size_t r = 0; r < rows; r++)
                op->y[(first + r) * op->y_stride + j] = results[r];
        }
    }
}

static struct product affine_product(const struct nn_affine_f32 *op)
{
    return (struct product){
        .m = op->rows,
        .n = (size_t)nn_round(op->out),
        .k = (size_t)op->in,
        .a = op->x,
        .b = op->w,
        .a_row = op->x_stride,
        .a_step = 1,
        .b_step = op->w_stride,
        .from = op->bias,
        .c = op->y,
        .c_row = op->y_stride,
        .activation = op->activation,
        .pre = op->pre,
    };
}

static void affine(const struct nn_affine_f32 *op, float *scratch)
{
    const struct product product = affine_product(op);
    if (is_narrow(op->in, op->out, op->x_stride, NARROW_HEAD) && op->activation == NN_IDENTITY)
        affine_narrow(op, scratch);
    else
        multiply(&product, scratch);
}

static void activate(const struct nn_affine_f32 *op)
{
    const struct product product = affine_product(op);
    finish(&product, 0, product.m, 0, product.n);
}

static struct product pull_product(const struct nn_pull_f32 *op)
{
    return (struct product){
        .m = op->rows,
        .n = (size_t)nn_round(op->in),
        .k = (size_t)op->out,
        .a = op->dy,
        .b = op->w,
        .a_row = op->dy_stride,
        .a_step = 1,
        .b_step = op->w_stride,
        .transposed = true,
        .n_real = (size_t)op->in,
        .add = op->add,
        .c = op->dx,
        .c_row = op->dx_stride,
        .activation = op->activation,
        .kept = op->activation == NN_IDENTITY ? NULL : op->kept,
    };
}

static void pull(const struct nn_pull_f32 *op, float *scratch)
{
    const struct product product = pull_product(op);
    multiply(&product, scratch);
}

static void slope(const struct nn_pull_f32 *op)
{
    const struct product product = pull_product(op);
    finish(&product, 0, product.m, 0, product.n);
}

/* The sum of rows of dy, four vectors at a time. */
static void sum_rows(const struct nn_gradient_f32 *op)
{
    const size_t n = (size_t)nn_round(op->out);
    for (size_t j = 0; j < n; j += NET_LANES) {
        vec sums[NET_LANES / LANES] = {{0}};
        for (size_t r = 0; r < op->rows; r++)
            for (size_t k = 0; k < NET_LANES / LANES; k++)
                sums[k] += vec_load(op->dy + r * op->dy_stride + j + k * LANES);
        for (size_t k = 0; k < NET_LANES / LANES; k++)
            vec_store(op->db + j + k * LANES, sums[k]);
    }
}

/* A head of few outputs: the transposed gradient, whose rows are long. */
static void gradient_narrow(const struct nn_gradient_f32 *op, float *scratch)
{
    const size_t in = (size_t)op->in, out = (size_t)op->out, step = (size_t)nn_round(op->in);
    const struct product product = {
        .m = out,
        .n = step,
        .k = op->rows,
        .a = op->dy,
        .b = op->x,
        .a_row = 1,
        .a_step = op->dy_stride,
        .b_step = op->x_stride,
        .c = scratch,
        .c_row = step,
        .activation = NN_IDENTITY,
    };
    multiply(&product, NULL); /* few rows: b is used where it lies */
    memset(op->dw, 0, in * op->w_stride * sizeof *op->dw);
    for (size_t j = 0; j < out; j++)
        for (size_t i = 0; i < in; i++)
            op->dw[i * op->w_stride + j] = scratch[j * step + i];
}

static void gradient(const struct nn_gradient_f32 *op, float *scratch)
{
    sum_rows(op);
    if (is_narrow(op->in, op->out, op->x_stride, NARROW_GRADIENT)) {
        gradient_narrow(op, scratch);
        return;
    }
    const struct product product = {
        .m = (size_t)op->in,
        .n = (size_t)nn_round(op->out),
        .k = op->rows,
        .a = op->x,
        .b = op->dy,
        .a_row = 1,
        .a_step = op->x_stride,
        .b_step = op->dy_stride,
        .c = op->dw,
        .c_row = op->w_stride,
        .activation = NN_IDENTITY,
    };
    multiply(&product, scratch);
}

const struct nn_kernels_f32 NN_JOIN(nn_kernels, NN_SET) = {
    .name = NN_TEXT(NN_SET),
    .scratch = SCRATCH,
    .affine = affine,
    .pull = pull,
    .gradient = gradient,
    .adam = NN_JOIN(nn_adam, NN_SET),
    .squares = NN_JOIN(nn_squares, NN_SET),
    .norm_forward = NN_JOIN(nn_norm_forward, NN_SET),
    .norm_backward = NN_JOIN(nn_norm_backward, NN_SET),
    .activate = activate,
    .slope = slope,
    .sum_rows = sum_rows,
};
