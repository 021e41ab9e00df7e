/* Observations: into the rollout's rows, normalised, and their statistics. */
#ifndef TRAINER_PPO_CUDA_BLOCKS_OBSERVE_H
#define TRAINER_PPO_CUDA_BLOCKS_OBSERVE_H

#include "trainer/ppo/cuda/blocks/number.h"

enum {
    OBSERVE_COLUMNS = 64, /* of a block */
    OBSERVE_LANES = KERNEL_THREADS / OBSERVE_COLUMNS,
    OBSERVE_AHEAD = 8, /* rows of a thread that are loaded before they are needed */
    COPY_KEPT = 3,     /* columns of kernel_reward's `copy` that a rollout does not zero */
};
#define NORMALISE_EPSILON 1e-8

BLOCK_FN size_t observe_sums(uint32_t copies, uint32_t size)
{
    return (size_t)((copies + KERNEL_OBSERVE_TILE - 1) / KERNEL_OBSERVE_TILE) * 2 * size;
}

static inline uint32_t rollout_begin_blocks(const struct kernel_rollout *k)
{
    size_t sums = (size_t)kernel_tiles(k->copies, KERNEL_OBSERVE_TILE) * 2 * k->size;
    size_t columns = (size_t)(KERNEL_COPY_COLUMNS - COPY_KEPT) * k->copies;
    return kernel_tiles(k->observe_sums && sums > columns ? sums : columns, KERNEL_THREADS);
}

BLOCK_FN void block_rollout_begin(const struct kernel_rollout *k, unsigned x, unsigned y, void *shared)
{
    (void)y;
    (void)shared;
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        size_t i = (size_t)x * KERNEL_THREADS + t;
        if (i == 0) {
            struct kernel_figures none;
            memset(&none, 0, sizeof(none));
            *k->figures = none;
            k->clock->step = 0;
        }
        if (k->observe_sums && i < observe_sums(k->copies, k->size))
            k->observe_sums[i] = 0;
        if (i < k->copies)
            k->n_truncated[i] = 0;
        if (i < (size_t)(KERNEL_COPY_COLUMNS - COPY_KEPT) * k->copies)
            k->copy[(size_t)COPY_KEPT * k->copies + i] = 0;
    }
}

BLOCK_FN float observe_normal(float raw, float mean, float scale, float clip)
{
    return number_clip((raw - mean) * scale, -clip, clip);
}

BLOCK_FN void observe_store(const struct kernel_observe *k, size_t row, size_t copy, uint32_t column, float x)
{
    row_store(&k->rows, row, column, x);
    if (k->now.at)
        row_store(&k->now, copy, column, x);
}

/* The rows of step `step`. x: tile of copies, y: columns. Shared: sums of each lane. */
BLOCK_FN void observe_rows(const struct kernel_observe *k, uint32_t step, unsigned x, unsigned y,
                           void *shared)
{
    double *lanes = (double *)shared; /* [2][OBSERVE_LANES][OBSERVE_COLUMNS] */
    uint32_t first = x * KERNEL_OBSERVE_TILE;
    uint32_t here = k->copies - first < KERNEL_OBSERVE_TILE ? k->copies - first : KERNEL_OBSERVE_TILE;
    size_t row = (size_t)step * k->copies + first;
    bool counted = k->sums && step < k->steps;

    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        uint32_t column = y * OBSERVE_COLUMNS + t % OBSERVE_COLUMNS;
        double sum = 0, squares = 0;
        if (column < k->size) {
            float mean = k->mean[column], scale = k->scale[column];
            for (uint32_t i = t / OBSERVE_COLUMNS; i < here; i += OBSERVE_AHEAD * OBSERVE_LANES) {
                float raw[OBSERVE_AHEAD];
                BLOCK_UNROLL
                for (uint32_t j = 0; j < OBSERVE_AHEAD; j++) {
                    uint32_t at = i + j * OBSERVE_LANES < here ? i + j * OBSERVE_LANES : i;
                    raw[j] = k->raw[(size_t)(first + at) * k->size + column];
                }
                BLOCK_UNROLL
                for (uint32_t j = 0; j < OBSERVE_AHEAD; j++) {
                    uint32_t at = i + j * OBSERVE_LANES;
                    if (at >= here)
                        continue;
                    double off = (double)raw[j] - mean;
                    observe_store(k, row + at, first + at, column,
                                  observe_normal(raw[j], mean, scale, k->clip));
                    sum += off;
                    squares += off * off;
                }
            }
        } else if (column < k->rows.stride) {
            for (uint32_t i = t / OBSERVE_COLUMNS; i < here; i += OBSERVE_LANES)
                observe_store(k, row + i, first + i, column, 0);
        }
        lanes[t] = sum;
        lanes[KERNEL_THREADS + t] = squares;
        if (y == 0 && k->starts && t < here)
            k->starts[row + t] = k->started[first + t];
    }
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        uint32_t column = y * OBSERVE_COLUMNS + t % OBSERVE_COLUMNS;
        if (!counted || t >= 2 * OBSERVE_COLUMNS || column >= k->size)
            continue;
        const double *from = lanes + t / OBSERVE_COLUMNS * KERNEL_THREADS + t % OBSERVE_COLUMNS;
        double sum = 0;
        for (unsigned lane = 0; lane < OBSERVE_LANES; lane++)
            sum += from[lane * OBSERVE_COLUMNS];
        k->sums[((size_t)x * 2 + t / OBSERVE_COLUMNS) * k->size + column] += sum;
    }
}

BLOCK_FN void block_observe(const struct kernel_observe *k, unsigned x, unsigned y, void *shared)
{
    observe_rows(k, k->clock->step, x, y, shared);
}

/* x: tile of copies. */
BLOCK_FN void observe_finals(const struct kernel_finals *k, unsigned x, void *shared)
{
    uint32_t *slots = (uint32_t *)shared; /* [KERNEL_OBSERVE_TILE]; k->slots: none */
    uint32_t first = x * KERNEL_OBSERVE_TILE;
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        uint32_t copy = first + t;
        if (t < KERNEL_OBSERVE_TILE)
            slots[t] = copy < k->copies && k->truncated[copy] && !k->terminated[copy] ? k->n_truncated[copy]
                                                                                      : k->slots;
    }
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        for (uint32_t i = 0; i < KERNEL_OBSERVE_TILE; i++) {
            if (slots[i] >= k->slots)
                continue;
            size_t copy = first + i, row = (size_t)slots[i] * k->copies + copy;
            for (uint32_t c = t; c < k->rows.stride; c += KERNEL_THREADS)
                row_store(&k->rows, row, c,
                          c < k->size ? observe_normal(k->final_obs[copy * k->size + c], k->mean[c],
                                                       k->scale[c], k->clip)
                                      : 0);
        }
    }
}

/* ppo_moments_merge() of trainer/ppo/state.h. */
BLOCK_FN void moments_merge(struct kernel_moments *a, double count, double mean, double m2)
{
    if (!(count > 0) || !number_finite(mean) || !number_finite(m2))
        return;
    double total = a->count + count, off = mean - a->mean;
    a->mean += off * (count / total);
    a->m2 += m2 + off * off * (a->count * count / total);
    a->count = total;
}

BLOCK_FN float moments_scale(const struct kernel_moments *a)
{
    return a->count > 0 ? (float)(1 / sqrt(a->m2 / a->count + NORMALISE_EPSILON)) : 1;
}

BLOCK_FN void block_observed(const struct kernel_observed *k, unsigned x, unsigned y, void *shared)
{
    (void)y;
    (void)shared;
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        uint32_t column = x * KERNEL_THREADS + t;
        if (column >= k->size)
            continue;
        double sum = 0, squares = 0, count = (double)k->copies * k->steps;
        for (size_t i = 0; i < observe_sums(k->copies, k->size); i += 2 * (size_t)k->size) {
            sum += k->sums[i + column];
            squares += k->sums[i + k->size + column];
        }
        double m2 = squares - sum * (sum / count);
        moments_merge(&k->moments[column], count, k->mean[column] + sum / count, m2 > 0 ? m2 : 0);
        k->mean[column] = (float)k->moments[column].mean;
        k->scale[column] = moments_scale(&k->moments[column]);
    }
}

#endif
