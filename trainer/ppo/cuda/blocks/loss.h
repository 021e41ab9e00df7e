/* PPO's loss and its gradients: formulas in trainer/nn/train.h. */
#ifndef TRAINER_PPO_CUDA_BLOCKS_LOSS_H
#define TRAINER_PPO_CUDA_BLOCKS_LOSS_H

#include "trainer/ppo/cuda/blocks/act.h"

enum { LOSS_COLUMNS = 32, LOSS_LANES = KERNEL_THREADS / LOSS_COLUMNS };
enum loss_sum { LOSS_POLICY, LOSS_VALUE, LOSS_ENTROPY, LOSS_OLD_KL, LOSS_KL, LOSS_CLIPPED };
#define LOSS_DEVIATION_EPSILON 1e-8
#define LOSS_KL_MARGIN         1.5

/* A normalised advantage is (A - mean) * scale. */
struct loss_normal {
    float mean, scale;
};

/* By the whole block, with room for 2 * KERNEL_THREADS sums. */
BLOCK_FN struct loss_normal loss_normal_of(const struct kernel_loss *k, double *sums)
{
    struct loss_normal ret = {0, 1};
    if (!k->normalise_advantages)
        return ret;
    block_add_tiles(k->advantage_sums, (k->rows + KERNEL_GATHER_TILE - 1) / KERNEL_GATHER_TILE, 2, sums);
    double n = k->rows, mean = sums[0] / n, m2 = sums[KERNEL_THREADS] - sums[0] * mean;
    ret.mean = (float)mean;
    ret.scale = (float)(1 / (sqrt((m2 > 0 ? m2 : 0) / (n - 1)) + LOSS_DEVIATION_EPSILON));
    return ret;
}

/* The value that the loss uses: clipped to the old one where that is configured. */
BLOCK_FN float loss_value(const struct kernel_loss *k, size_t row, bool *ret_pulled)
{
    float value = k->values[row * k->value_stride], old = k->old_values[row];
    float range = (float)k->clip_range_vf, off = value - old;
    *ret_pulled = !(range > 0) || (off >= -range && off <= range);
    return *ret_pulled ? value : old + number_clip(off, -range, range);
}

BLOCK_FN void block_loss_sums(const struct kernel_loss *k, unsigned x, unsigned y, void *shared)
{
    double *sums = (double *)shared; /* [KERNEL_LOSS_SUMS][KERNEL_LOSS_TILE], more than [2][KERNEL_THREADS] */
    float *logps = (float *)(sums + KERNEL_LOSS_SUMS * KERNEL_LOSS_TILE); /* [tile][ROW_LANES] */
    float *entropies = logps + KERNEL_LOSS_TILE * ROW_LANES;
    uint32_t first = x * KERNEL_LOSS_TILE;
    (void)y;
    struct loss_normal normal = loss_normal_of(k, sums);
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        for (unsigned i = t; i < KERNEL_LOSS_TILE * ROW_LANES; i += KERNEL_THREADS) {
            size_t row = first + i / ROW_LANES;
            if (row < k->rows)
                logps[i] = act_lane_logp(k->heads + row * k->head_stride, k->log_std,
                                         k->taken + row * k->actions, k->actions, k->levels, i % ROW_LANES,
                                         k->soft ? k->soft + row * k->actions * 2 : NULL, &entropies[i]);
        }
    }
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        size_t row = first + t;
        if (t >= KERNEL_LOSS_TILE)
            continue;
        float terms[KERNEL_LOSS_SUMS] = {0};
        if (row < k->rows) {
            bool pulled;
            float logp = act_add_lanes(logps + t * ROW_LANES), log_ratio = logp - k->old_logp[row];
            float ratio = activation_exp(log_ratio), range = (float)k->rates->clip_range;
            float gain = (k->advantages[row] - normal.mean) * normal.scale;
            float free = ratio * gain, kept = number_clip(ratio, 1 - range, 1 + range) * gain;
            float missed = k->returns[row] - loss_value(k, row, &pulled);
            k->logp[row] = logp;
            terms[LOSS_POLICY] = -(free <= kept ? free : kept);
            terms[LOSS_VALUE] = missed * missed;
            terms[LOSS_ENTROPY] = -act_add_lanes(entropies + t * ROW_LANES);
            terms[LOSS_OLD_KL] = -log_ratio;
            terms[LOSS_KL] = ratio - 1 - log_ratio;
            terms[LOSS_CLIPPED] = fabsf(ratio - 1) > range;
        }
        BLOCK_UNROLL
        for (int i = 0; i < KERNEL_LOSS_SUMS; i++)
            sums[i * KERNEL_LOSS_TILE + t] = terms[i];
    }
    block_add(sums, KERNEL_LOSS_SUMS, KERNEL_LOSS_TILE);
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        if (t < KERNEL_LOSS_SUMS)
            k->partials[(size_t)x * KERNEL_LOSS_SUMS + t] = sums[t * KERNEL_LOSS_TILE];
    }
}

struct loss_terms {
    double policy, value, entropy, loss;
    float pull_policy, pull_value, pull_entropy;
};

BLOCK_FN double loss_bounded(double x, double bound)
{
    return bound > 0 && x > bound ? bound : bound > 0 && x < -bound ? -bound : x;
}

BLOCK_FN struct loss_terms loss_terms_of(const struct kernel_loss *k, const double *sums)
{
    double n = k->rows, value = sums[LOSS_VALUE * KERNEL_THREADS] / n;
    double entropy = sums[LOSS_ENTROPY * KERNEL_THREADS] / n;
    struct loss_terms ret;
    ret.policy = sums[LOSS_POLICY * KERNEL_THREADS] / n;
    ret.value = loss_bounded(value, k->value_bound);
    ret.entropy = loss_bounded(entropy, k->entropy_bound);
    ret.loss = ret.policy + k->rates->ent_coef * ret.entropy + k->vf_coef * ret.value;
    ret.pull_policy = (float)(1 / n);
    ret.pull_value = ret.value < value || ret.value > value ? 0 : (float)(k->vf_coef / n);
    ret.pull_entropy = ret.entropy < entropy || ret.entropy > entropy ? 0 : (float)(k->rates->ent_coef / n);
    return ret;
}

/* Writes one minibatch's figures, by one thread of a launch. */
BLOCK_FN void loss_report(const struct kernel_loss *k, const struct loss_terms *terms, const double *sums)
{
    struct kernel_clock *clock = k->clock;
    double n = k->rows;
    clock->policy = terms->policy;
    clock->value = terms->value;
    clock->entropy = terms->entropy;
    clock->loss = terms->loss;
    clock->old_kl = sums[LOSS_OLD_KL * KERNEL_THREADS] / n;
    clock->kl = sums[LOSS_KL * KERNEL_THREADS] / n;
    clock->clipped = sums[LOSS_CLIPPED * KERNEL_THREADS] / n;
    clock->skip = clock->stop;
    if (clock->stop)
        return;
    if (clock->minibatch == 0) {
        clock->started = 1;
        k->figures->epochs += 1;
    }
    if (!number_finite(terms->loss)) {
        clock->skip = 1;
        k->figures->skipped += 1;
        clock->bad_in_row += 1;
        if (clock->bad_in_row >= k->bad_updates)
            k->figures->bad = clock->stop = 1;
    } else if (k->target_kl > 0 && clock->kl > LOSS_KL_MARGIN * k->target_kl) {
        clock->skip = clock->stop = k->figures->kl_stop = 1;
    }
}

/* A row of the tile: d loss / d its logp, and its value's. */
BLOCK_FN void loss_pull_row(const struct kernel_loss *k, const struct loss_terms *terms,
                            const struct loss_normal *normal, size_t row, float *ret_logp, float *ret_value)
{
    bool pulled;
    float ratio = activation_exp(k->logp[row] - k->old_logp[row]), range = (float)k->rates->clip_range;
    float gain = (k->advantages[row] - normal->mean) * normal->scale;
    float free = ratio * gain, kept = number_clip(ratio, 1 - range, 1 + range) * gain;
    float value = loss_value(k, row, &pulled);
    *ret_logp = free <= kept ? -free * terms->pull_policy : 0;
    *ret_value = pulled ? 2 * (value - k->returns[row]) * terms->pull_value : 0;
}

/* d loss / d one head; *ret_log_std: the same row's part of d log_std. */
BLOCK_FN float loss_pull_head(const struct kernel_loss *k, const struct loss_terms *terms, size_t row,
                              uint32_t column, float pull, float *ret_log_std)
{
    float head = k->heads[row * k->head_stride + column];
    *ret_log_std = 0;
    if (k->levels == 0) {
        float inverse = activation_exp(-k->log_std[column]);
        float off = (k->taken[row * k->actions + column] - head) * inverse;
        *ret_log_std = pull * (off * off - 1) - terms->pull_entropy;
        return pull * off * inverse;
    }
    uint32_t action = column / k->levels, level = column % k->levels;
    const float *soft = k->soft + (row * k->actions + action) * 2;
    float logp = head - soft[0], p = activation_exp(logp);
    float taken = (uint32_t)k->taken[row * k->actions + action] == level;
    return pull * (taken - p) + terms->pull_entropy * p * (logp + soft[1]);
}

BLOCK_FN void block_loss_pull(const struct kernel_loss *k, unsigned x, unsigned y, void *shared)
{
    double *sums = (double *)shared; /* [KERNEL_LOSS_SUMS][KERNEL_THREADS] */
    float *pulls = (float *)(sums + KERNEL_LOSS_SUMS * KERNEL_THREADS); /* [KERNEL_LOSS_TILE] */
    float *lanes = (float *)sums;                                       /* [2][LOSS_LANES][LOSS_COLUMNS] */
    uint32_t first = x * KERNEL_LOSS_TILE, outputs = k->levels ? k->actions * k->levels : k->actions;
    uint32_t here = k->rows - first < KERNEL_LOSS_TILE ? k->rows - first : KERNEL_LOSS_TILE;
    (void)y;
    struct loss_normal normal = loss_normal_of(k, sums);
    block_meet();
    block_add_tiles(k->partials, (k->rows + KERNEL_LOSS_TILE - 1) / KERNEL_LOSS_TILE, KERNEL_LOSS_SUMS, sums);
    struct loss_terms terms = loss_terms_of(k, sums);
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        if (x == 0 && t == 0)
            loss_report(k, &terms, sums);
    }

    /* Values: their sums reuse the memory of all sums, once those are read. */
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        float value = 0;
        if (t < here)
            loss_pull_row(k, &terms, &normal, first + t, &pulls[t], &value);
        if (t < KERNEL_LOSS_TILE)
            sums[t] = value;
        if (t < here)
            row_store(&k->d_values, first + t, 0, value);
        for (uint32_t c = 1; t < here && c < k->d_values.stride; c++)
            row_store(&k->d_values, first + t, c, 0);
    }
    block_add(sums, 1, KERNEL_LOSS_TILE);
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        for (uint32_t c = t; k->value_sums && c < k->d_values.stride; c += KERNEL_THREADS)
            k->value_sums[(size_t)x * k->d_values.stride + c] = c == 0 ? (float)sums[0] : 0;
    }

    for (uint32_t begin = 0; begin < k->d_heads.stride; begin += LOSS_COLUMNS) {
        BLOCK_PHASE(t, KERNEL_THREADS)
        {
            uint32_t column = begin + t % LOSS_COLUMNS;
            float sum = 0, log_std_sum = 0;
            for (uint32_t i = t / LOSS_COLUMNS; i < here && column < k->d_heads.stride; i += LOSS_LANES) {
                float log_std = 0, head = 0;
                if (column < outputs)
                    head = loss_pull_head(k, &terms, first + i, column, pulls[i], &log_std);
                row_store(&k->d_heads, first + i, column, head);
                sum += head;
                log_std_sum += log_std;
            }
            lanes[t] = sum;
            lanes[KERNEL_THREADS + t] = log_std_sum;
        }
        BLOCK_PHASE(t, KERNEL_THREADS)
        {
            uint32_t column = begin + t % LOSS_COLUMNS;
            const float *from = lanes + t / LOSS_COLUMNS * KERNEL_THREADS + t % LOSS_COLUMNS;
            float sum = 0;
            if (t >= 2 * LOSS_COLUMNS)
                continue;
            for (unsigned lane = 0; lane < LOSS_LANES; lane++)
                sum += from[lane * LOSS_COLUMNS];
            if (t < LOSS_COLUMNS && k->head_sums && column < k->d_heads.stride)
                k->head_sums[(size_t)x * k->d_heads.stride + column] = sum;
            if (t >= LOSS_COLUMNS && k->log_std_sums && column < k->log_std_stride)
                k->log_std_sums[(size_t)x * k->log_std_stride + column] = sum;
        }
    }
}

#endif
