/* Numbers of the kernels: bfloat16, pieces of rows, and sums of a block in a fixed order. */
#ifndef TRAINER_PPO_CUDA_BLOCKS_NUMBER_H
#define TRAINER_PPO_CUDA_BLOCKS_NUMBER_H

#include <math.h>
#include <string.h>

#include "indicators_gpu/cuda/block.h"
#include "trainer/ppo/cuda/kernels.h"

/* Neighbouring threads' unit of memory. */
struct piece {
    uint32_t word[4];
} __attribute__((aligned(16)));

/* Eight columns of a row, as float32. */
struct eight {
    float at[KERNEL_PIECE];
} __attribute__((aligned(16)));

BLOCK_FN uint32_t number_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

BLOCK_FN float number_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* Rounded to nearest, ties to even; a NaN stays one. */
BLOCK_FN uint16_t number_half(float x)
{
    uint32_t bits = number_bits(x);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
        return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

BLOCK_FN float number_whole(uint16_t half)
{
    return number_of_bits((uint32_t)half << 16);
}

BLOCK_FN bool number_finite(double x)
{
    return x - x == 0;
}

/* NaN stays. */
BLOCK_FN float number_clip(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}

/* ---- rows ---- */

BLOCK_FN float row_load(const struct kernel_matrix *m, size_t row, uint32_t column)
{
    size_t i = row * m->stride + column;
    return m->half ? number_whole(((const uint16_t *)m->at)[i]) : ((const float *)m->at)[i];
}

BLOCK_FN void row_store(const struct kernel_matrix *m, size_t row, uint32_t column, float x)
{
    size_t i = row * m->stride + column;
    if (m->half)
        ((uint16_t *)m->at)[i] = number_half(x);
    else
        ((float *)m->at)[i] = x;
}

/* Columns from `column`, a multiple of eight, on. */
BLOCK_FN struct eight row_load8(const struct kernel_matrix *m, size_t row, uint32_t column)
{
    size_t i = (row * m->stride + column) / 4;
    struct eight ret;
    if (m->half) {
        struct piece p = ((const struct piece *)m->at)[i / 2];
        BLOCK_UNROLL
        for (int k = 0; k < KERNEL_PIECE; k++)
            ret.at[k] = number_of_bits(k & 1 ? p.word[k / 2] & 0xFFFF0000u : p.word[k / 2] << 16);
        return ret;
    }
    struct piece p[2] = {((const struct piece *)m->at)[i], ((const struct piece *)m->at)[i + 1]};
    BLOCK_UNROLL
    for (int k = 0; k < KERNEL_PIECE; k++)
        ret.at[k] = number_of_bits(p[k / 4].word[k % 4]);
    return ret;
}

BLOCK_FN void row_store8(const struct kernel_matrix *m, size_t row, uint32_t column, const struct eight *x)
{
    size_t i = (row * m->stride + column) / 4;
    struct piece p[2];
    if (m->half) {
        BLOCK_UNROLL
        for (int k = 0; k < 4; k++)
            p[0].word[k] = (uint32_t)number_half(x->at[2 * k]) | (uint32_t)number_half(x->at[2 * k + 1])
                                                                     << 16;
        ((struct piece *)m->at)[i / 2] = p[0];
        return;
    }
    BLOCK_UNROLL
    for (int k = 0; k < KERNEL_PIECE; k++)
        p[k / 4].word[k % 4] = number_bits(x->at[k]);
    ((struct piece *)m->at)[i] = p[0];
    ((struct piece *)m->at)[i + 1] = p[1];
}

/* ---- sums of a block ---- */

/* A barrier between reads of all threads outside of phases and a write to the same memory. */
BLOCK_FN void block_meet(void)
{
    BLOCK_PHASE(t, 1)
    {
        if (t > 0)
            continue;
    }
}

/* Adds each of `n` arrays [width], one after the other, into its first: by halves; width: a power of 2. */
BLOCK_FN void block_add(double *arrays, unsigned n, unsigned width)
{
    for (unsigned half = width / 2; half > 0; half /= 2)
        BLOCK_PHASE(t, KERNEL_THREADS)
        {
            for (unsigned i = t; i < n * half; i += KERNEL_THREADS)
                arrays[i / half * width + i % half] += arrays[i / half * width + half + i % half];
        }
}

/* Adds up `tiles` rows of `n` doubles: sums[i * KERNEL_THREADS] are the results. All blocks of a launch do
 * the same. */
BLOCK_FN void block_add_tiles(const double *tiles, uint32_t n_tiles, unsigned n, double *sums)
{
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        for (unsigned i = 0; i < n; i++) {
            double sum = 0;
            for (uint32_t tile = t; tile < n_tiles; tile += KERNEL_THREADS)
                sum += tiles[(size_t)tile * n + i];
            sums[i * KERNEL_THREADS + t] = sum;
        }
    }
    block_add(sums, n, KERNEL_THREADS);
}

#endif
