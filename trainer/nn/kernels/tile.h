/* A product's innermost part: TILE_ROWS rows of results, TILE_VECS vectors wide, in registers.
 *     c[i] = from[i] + sum over p < k of a(i, p) b[p],   a(i, p) = a[i * a_row + p * a_step]
 * With 32 registers of 64 bytes 6 x 4: 24 sums, 4 vectors of b, one number of a; ten loads for 24 fused
 * products, so two of these a cycle are the limit. With 16 registers 6 x 2 (AVX2) and 4 x 2. */
#ifndef TRAINER_NN_KERNELS_TILE_H
#define TRAINER_NN_KERNELS_TILE_H

#include "trainer/nn/kernels/vector.h"

#if defined(__AVX512F__)
enum { TILE_ROWS = 6, TILE_VECS = 4 };
#elif defined(__AVX2__)
enum { TILE_ROWS = 6, TILE_VECS = 2 };
#else
enum { TILE_ROWS = 4, TILE_VECS = 2 };
#endif
enum { TILE_COLS = TILE_VECS * LANES };

struct tile {
    size_t k;
    const float *a, *b, *from;
    float *c;
    size_t a_row, a_step, b_step, from_row, c_row;
};

static inline __attribute__((always_inline)) void tile_of(const int rows, const int vecs,
                                                          const struct tile *t)
{
    const size_t a_row = t->a_row, a_step = t->a_step, b_step = t->b_step;
    const float *a = t->a, *b = t->b;
    vec sum[TILE_ROWS][TILE_VECS];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vecs; j++)
            sum[i][j] = vec_load(t->from + (size_t)i * t->from_row + j * LANES);
    for (size_t p = t->k; p > 0; p--) {
        vec row[TILE_VECS];
        for (int j = 0; j < vecs; j++)
            row[j] = vec_load(b + j * LANES);
        for (int i = 0; i < rows; i++) {
            const vec x = vec_all(a[(size_t)i * a_row]);
            for (int j = 0; j < vecs; j++)
                sum[i][j] = vec_fma(x, row[j], sum[i][j]);
        }
        a += a_step;
        b += b_step;
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vecs; j++)
            vec_store(t->c + (size_t)i * t->c_row + j * LANES, sum[i][j]);
}

#define TILE(rows, vecs) \
    static void tile_##rows##_##vecs(const struct tile *t) \
    { \
        tile_of(rows, vecs, t); \
    }
#define TILES(vecs) TILE(1, vecs) TILE(2, vecs) TILE(3, vecs) TILE(4, vecs)
TILES(1)
TILES(2)
#if defined(__AVX2__)
TILE(5, 1)
TILE(6, 1)
TILE(5, 2)
TILE(6, 2)
#endif
#if defined(__AVX512F__)
TILES(3)
TILES(4)
TILE(5, 3)
TILE(6, 3)
TILE(5, 4)
TILE(6, 4)
#endif

typedef void tile_function(const struct tile *t);
#if defined(__AVX2__)
#define TILE_COLUMN(vecs) \
    { \
        tile_1_##vecs, tile_2_##vecs, tile_3_##vecs, tile_4_##vecs, tile_5_##vecs, tile_6_##vecs \
    }
#else
#define TILE_COLUMN(vecs) \
    { \
        tile_1_##vecs, tile_2_##vecs, tile_3_##vecs, tile_4_##vecs \
    }
#endif
static tile_function *const tile_functions[TILE_VECS][TILE_ROWS] = {
    TILE_COLUMN(1),
    TILE_COLUMN(2),
#if defined(__AVX512F__)
    TILE_COLUMN(3),
    TILE_COLUMN(4),
#endif
};

#endif
