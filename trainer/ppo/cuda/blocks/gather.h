/* A minibatch's rows out of the rollout, in the shuffle's order. */
#ifndef TRAINER_PPO_CUDA_BLOCKS_GATHER_H
#define TRAINER_PPO_CUDA_BLOCKS_GATHER_H

#include "trainer/ppo/cuda/blocks/number.h"

BLOCK_FN void block_update_begin(const struct kernel_order *k, unsigned x, unsigned y, void *shared)
{
    (void)x;
    (void)y;
    (void)shared;
    BLOCK_PHASE(t, 1)
    {
        k->clock->minibatch = k->clock->started = k->clock->skip = k->clock->stop = t;
        k->clock->shuffle = ppo_shuffle_make(k->seed, k->clock->epoch, k->sequences);
    }
}

/* Places of the tile's rows: in the rollout, and of their sequences' first ones. */
struct gather_from {
    uint32_t row[KERNEL_GATHER_TILE], sequence[KERNEL_GATHER_TILE];
};

/* Rows of the tile [KERNEL_GATHER_TILE][width] of any unit, neighbours by neighbouring threads. */
#define GATHER_ROWS(type, to, from, width, places, first, here) \
    BLOCK_PHASE(t, KERNEL_THREADS) \
    { \
        uint32_t i = t / (width), c = t % (width); \
        while (i < (here)) { \
            ((type *)(to))[(size_t)((first) + i) * (width) + c] = \
                ((const type *)(from))[(size_t)(places)[i] * (width) + c]; \
            i += KERNEL_THREADS / (width); \
            c += KERNEL_THREADS % (width); \
            if (c >= (width)) { \
                c -= (width); \
                i++; \
            } \
        } \
    }

BLOCK_FN void block_gather(const struct kernel_gather *k, unsigned x, unsigned y, void *shared)
{
    double *sums = (double *)shared; /* [2][KERNEL_GATHER_TILE] */
    struct gather_from *from = (struct gather_from *)(sums + 2 * KERNEL_GATHER_TILE);
    uint32_t first = x * KERNEL_GATHER_TILE, sequences = k->rows / k->sequence;
    uint32_t here = k->rows - first < KERNEL_GATHER_TILE ? k->rows - first : KERNEL_GATHER_TILE;
    uint32_t pieces = k->obs.stride * (k->obs.half ? 2 : 4) / (uint32_t)sizeof(struct piece);
    (void)y;
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        uint32_t row = first + t;
        if (t >= here)
            continue;
        uint32_t q = ppo_shuffle_at(&k->clock->shuffle, k->clock->minibatch * sequences + row % sequences);
        from->sequence[t] = q;
        from->row[t] = (q / k->copies * k->sequence + row / sequences) * k->copies + q % k->copies;
    }
    GATHER_ROWS(struct piece, k->to_obs.at, k->obs.at, pieces, from->row, first, here)
    GATHER_ROWS(float, k->to_taken, k->taken, k->actions, from->row, first, here)
    if (k->hidden && first < sequences) {
        uint32_t begin = sequences - first < here ? sequences - first : here; /* rows that begin one */
        GATHER_ROWS(float, k->to_hidden, k->hidden, k->hidden_size, from->sequence, first, begin)
    }
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        if (t >= KERNEL_GATHER_TILE)
            continue;
        double advantage = 0;
        if (t < here) {
            uint32_t at = from->row[t];
            k->to_logp[first + t] = k->logp[at];
            k->to_values[first + t] = k->values[at];
            k->to_returns[first + t] = k->returns[at];
            k->to_advantages[first + t] = k->advantages[at];
            if (k->starts)
                k->to_starts[first + t] = k->starts[at];
            advantage = k->advantages[at];
        }
        sums[t] = advantage;
        sums[KERNEL_GATHER_TILE + t] = advantage * advantage;
    }
    block_add(sums, 2, KERNEL_GATHER_TILE);
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        if (t < 2)
            k->advantage_sums[(size_t)x * 2 + t] = sums[t * KERNEL_GATHER_TILE];
    }
}

#endif
