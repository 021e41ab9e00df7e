/* Rewards: a step's, the running return's statistics, advantages, and how well values explain returns. */
#ifndef TRAINER_PPO_CUDA_BLOCKS_REWARD_H
#define TRAINER_PPO_CUDA_BLOCKS_REWARD_H

#include "strategy/policy/activation.h"
#include "trainer/ppo/cuda/blocks/observe.h"

enum {
    ADVANTAGE_THREADS = 64,
    ADVANTAGE_AHEAD = 8, /* steps that are loaded before they are needed */
    EXPLAINED_SUMS = 4,
};
enum { END_TERMINATED = 1, END_TRUNCATED = 2 };

/* Columns of kernel_reward's `copy`. */
enum copy_column {
    COPY_RUNNING,
    COPY_RETURN,
    COPY_LENGTH,
    COPY_MEAN,
    COPY_M2,
    COPY_REWARDS,
    COPY_EPISODES,
    COPY_RETURNS,
    COPY_SQUARES,
    COPY_LENGTHS,
};

FILL_RULE uint32_t stepped_across(const struct kernel_stepped *k)
{
    return (k->observe.copies + KERNEL_OBSERVE_TILE - 1) / KERNEL_OBSERVE_TILE;
}

FILL_RULE uint32_t stepped_down(const struct kernel_stepped *k)
{
    return (k->observe.rows.stride + OBSERVE_COLUMNS - 1) / OBSERVE_COLUMNS;
}

/* Of step `step`. x: tile of copies. */
BLOCK_FN void reward_copies(const struct kernel_reward *k, uint32_t step, unsigned x)
{
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        size_t copy = (size_t)x * KERNEL_OBSERVE_TILE + t, n = k->copies, row = (size_t)step * n + copy;
        if (t >= KERNEL_OBSERVE_TILE || copy >= n)
            continue;
        double *at = k->copy + copy, reward = k->rewards[copy];
        uint8_t end = k->terminated[copy] ? END_TERMINATED : k->truncated[copy] ? END_TRUNCATED : 0;
        double running = at[COPY_RUNNING * n] * k->gamma + (number_finite(reward) ? reward : 0),
               off = running - at[COPY_MEAN * n];
        double mean = at[COPY_MEAN * n] + off / (step + 1.0);
        double sum = at[COPY_RETURN * n] + reward, length = at[COPY_LENGTH * n] + 1;
        at[COPY_MEAN * n] = mean;
        at[COPY_M2 * n] += off * (running - mean);
        at[COPY_REWARDS * n] += reward;
        at[COPY_RUNNING * n] = end ? 0 : running;
        at[COPY_RETURN * n] = end ? 0 : sum;
        at[COPY_LENGTH * n] = end ? 0 : length;
        if (end) {
            at[COPY_EPISODES * n] += 1;
            at[COPY_RETURNS * n] += sum;
            at[COPY_SQUARES * n] += sum * sum;
            at[COPY_LENGTHS * n] += length;
        }
        if (end == END_TRUNCATED) {
            uint32_t slot = k->n_truncated[copy]++;
            if (k->final_rows && slot < k->slots)
                k->final_rows[(size_t)slot * n + copy] = (uint32_t)row;
        }
        k->kept[row] = k->rewards[copy];
        k->ends[row] = end;
        k->started[copy] = end != 0;
    }
}

/* x: tile of copies, y: columns; the blocks of the first columns have the copies' rewards and ends. The last
 * block of all to get there, when all have read the clock, sets it forward. */
BLOCK_FN void block_stepped(const struct kernel_stepped *k, unsigned x, unsigned y, void *shared)
{
    const uint32_t step = k->clock->step;
    const uint32_t blocks = stepped_across(k) * stepped_down(k);
    if (y == 0) {
        observe_finals(&k->finals, x, shared);
        reward_copies(&k->reward, step, x);
    }
    observe_rows(&k->observe, step + 1, x, y, shared);
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        if (t > 0 || block_ticket(&k->clock->ticket) + 1 < blocks)
            continue;
        k->clock->ticket = 0;
        k->clock->step = step + 1;
        k->clock->run_step += 1;
    }
}

BLOCK_FN void block_returned(const struct kernel_returned *k, unsigned x, unsigned y, void *shared)
{
    enum { SUMS = COPY_LENGTHS - COPY_REWARDS + 1 };
    double *sums = (double *)shared; /* [SUMS + 1][KERNEL_THREADS], the last: truncations beyond the slots */
    struct kernel_moments *parts = (struct kernel_moments *)(sums + (SUMS + 1) * KERNEL_THREADS);
    size_t n = k->copies;
    (void)x;
    (void)y;
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        struct kernel_moments part = {0, 0, 0};
        double sum[SUMS + 1] = {0};
        for (size_t copy = t; copy < n; copy += KERNEL_THREADS) {
            const double *at = k->copy + copy;
            moments_merge(&part, k->steps, at[COPY_MEAN * n], at[COPY_M2 * n]);
            BLOCK_UNROLL
            for (int i = 0; i < SUMS; i++)
                sum[i] += at[(size_t)(COPY_REWARDS + i) * n];
            if (k->n_truncated[copy] > k->slots)
                sum[SUMS] += k->n_truncated[copy] - k->slots;
        }
        BLOCK_UNROLL
        for (int i = 0; i <= SUMS; i++)
            sums[i * KERNEL_THREADS + t] = sum[i];
        parts[t] = part;
    }
    for (unsigned half = KERNEL_THREADS / 2; half > 0; half /= 2)
        BLOCK_PHASE(t, KERNEL_THREADS)
        {
            if (t < half)
                moments_merge(&parts[t], parts[t + half].count, parts[t + half].mean, parts[t + half].m2);
        }
    block_add(sums, SUMS + 1, KERNEL_THREADS);
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        if (t > 0)
            continue;
        struct kernel_figures *f = k->figures;
        f->reward_sum = sums[0];
        f->episodes = sums[(COPY_EPISODES - COPY_REWARDS) * KERNEL_THREADS];
        f->return_sum = sums[(COPY_RETURNS - COPY_REWARDS) * KERNEL_THREADS];
        f->return_squares = sums[(COPY_SQUARES - COPY_REWARDS) * KERNEL_THREADS];
        f->length_sum = sums[(COPY_LENGTHS - COPY_REWARDS) * KERNEL_THREADS];
        f->lost_finals = (uint32_t)sums[SUMS * KERNEL_THREADS];
        if (k->normalise)
            moments_merge(k->moments, parts[0].count, parts[0].mean, parts[0].m2);
        *k->reward_scale = k->normalise ? moments_scale(k->moments) : 1;
    }
}

BLOCK_FN void block_take(const struct kernel_take *k, unsigned x, unsigned y, void *shared)
{
    (void)y;
    (void)shared;
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        size_t row = (size_t)x * KERNEL_THREADS + t;
        if (row < k->rows)
            k->to[row] = k->from[row * k->stride];
    }
}

BLOCK_FN void block_advantages(const struct kernel_advantages *k, unsigned x, unsigned y, void *shared)
{
    (void)y;
    (void)shared;
    BLOCK_PHASE(t, ADVANTAGE_THREADS)
    {
        size_t copy = (size_t)x * ADVANTAGE_THREADS + t, n = k->copies;
        if (copy >= n)
            continue;
        float scale = *k->reward_scale, next = k->values[k->steps * n + copy], gain = 0;
        uint32_t truncated = k->n_truncated[copy];
        for (uint32_t left = k->steps; left > 0; left -= left < ADVANTAGE_AHEAD ? left : ADVANTAGE_AHEAD) {
            float reward[ADVANTAGE_AHEAD], value[ADVANTAGE_AHEAD];
            uint8_t end[ADVANTAGE_AHEAD];
            BLOCK_UNROLL
            for (uint32_t j = 0; j < ADVANTAGE_AHEAD; j++) {
                size_t row = (j < left ? left - 1 - j : 0) * n + copy;
                reward[j] = k->rewards[row];
                value[j] = k->values[row];
                end[j] = k->ends[row];
            }
            BLOCK_UNROLL
            for (uint32_t j = 0; j < ADVANTAGE_AHEAD; j++) {
                if (j >= left)
                    continue;
                size_t row = (left - 1 - j) * n + copy;
                float r = number_clip(reward[j] * scale, -k->clip_rewards, k->clip_rewards);
                if (end[j] == END_TRUNCATED && --truncated < k->slots)
                    r += k->gamma * k->final_values[truncated * n + copy];
                float discount = end[j] ? 0 : k->gamma;
                gain = r + (end[j] ? 0 : discount * next) - value[j] +
                       (end[j] ? 0 : discount * k->lambda * gain);
                next = value[j];
                k->advantages[row] = gain;
                k->returns[row] = gain + value[j];
            }
        }
    }
}

/* A tile's sums of returns, of returns less values, and their squares. */
BLOCK_FN void block_explained_tiles(const struct kernel_explained *k, unsigned x, unsigned y, void *shared)
{
    double *sums = (double *)shared; /* [EXPLAINED_SUMS][KERNEL_THREADS] */
    (void)y;
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        size_t first = (size_t)x * KERNEL_FLAT_TILE;
        double sum[EXPLAINED_SUMS] = {0};
        for (size_t i = first + t; i < first + KERNEL_FLAT_TILE && i < k->rows; i += KERNEL_THREADS) {
            double value = k->returns[i], missed = value - k->values[i];
            sum[0] += value;
            sum[1] += value * value;
            sum[2] += missed;
            sum[3] += missed * missed;
        }
        BLOCK_UNROLL
        for (int i = 0; i < EXPLAINED_SUMS; i++)
            sums[i * KERNEL_THREADS + t] = sum[i];
    }
    block_add(sums, EXPLAINED_SUMS, KERNEL_THREADS);
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        if (t < EXPLAINED_SUMS)
            k->partials[(size_t)x * EXPLAINED_SUMS + t] = sums[t * KERNEL_THREADS];
    }
}

BLOCK_FN void block_explained_end(const struct kernel_explained *k, unsigned x, unsigned y, void *shared)
{
    double *sums = (double *)shared;
    (void)x;
    (void)y;
    block_add_tiles(k->partials, (uint32_t)((k->rows + KERNEL_FLAT_TILE - 1) / KERNEL_FLAT_TILE),
                    EXPLAINED_SUMS, sums);
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        if (t > 0)
            continue;
        double n = (double)k->rows, deviations = 0, mean = sums[0] / n, missed = sums[2 * KERNEL_THREADS] / n;
        double variance = sums[KERNEL_THREADS] / n - mean * mean;
        double rest = sums[3 * KERNEL_THREADS] / n - missed * missed;
        k->figures->explained_variance = variance > 0 ? 1 - rest / variance : (double)NAN;
        for (uint32_t i = 0; k->log_std && i < k->actions; i++)
            deviations += activation_exp(k->log_std[i]);
        k->figures->std = k->log_std ? deviations / k->actions : (double)NAN;
    }
}

#endif
