/* Actions and their log-probabilities: drawn in a rollout, computed again in the loss, by the same sums in
 * the same order, so that a policy that did not change has ratios of exactly 1 where its heads have the same
 * bits: a rollout's pass and a minibatch's are products of other shapes, which may be summed in another order
 * (and are rounded to bfloat16 after). Eight threads have a row. */
#ifndef TRAINER_PPO_CUDA_BLOCKS_ACT_H
#define TRAINER_PPO_CUDA_BLOCKS_ACT_H

#include "strategy/policy/activation.h"
#include "trainer/env/philox.h"
#include "trainer/ppo/cuda/blocks/number.h"
#include "trainer/ppo/draw.h"

enum { ROW_LANES = 8, ROWS_AT_ONCE = KERNEL_THREADS / ROW_LANES, LANE_ACTIONS = 4 /* one counter block */ };
#define HALF_LOG_TAU   0.918938533204672742f /* log(2 pi) / 2 */
#define NORMAL_ENTROPY 1.418938533204672742f /* of deviation 1 */

BLOCK_FN float act_normal_logp(float action, float mean, float log_std)
{
    float off = (action - mean) * activation_exp(-log_std);
    return -0.5f * off * off - log_std - HALF_LOG_TAU;
}

/* log of the sum of exp of n logits; entropy of their distribution. */
BLOCK_FN float act_softmax(const float *logits, uint32_t n, float *ret_entropy)
{
    float most = logits[0], total = 0, weighted = 0;
    for (uint32_t i = 1; i < n; i++)
        most = logits[i] > most ? logits[i] : most;
    for (uint32_t i = 0; i < n; i++) {
        float e = activation_exp(logits[i] - most);
        total += e;
        weighted += e * (logits[i] - most);
    }
    float log_total = logf(total);
    *ret_entropy = log_total - weighted / total;
    return most + log_total;
}

/* The level at which the cumulated softmax of logits reaches a word's share of its sum. */
BLOCK_FN uint32_t act_level(const float *logits, uint32_t n, uint32_t word)
{
    float most = logits[0], total = 0, sum = 0;
    for (uint32_t i = 1; i < n; i++)
        most = logits[i] > most ? logits[i] : most;
    for (uint32_t i = 0; i < n; i++)
        total += activation_exp(logits[i] - most);
    const float wanted = ppo_uniform(word) * total;
    for (uint32_t i = 0; i + 1 < n; i++) {
        sum += activation_exp(logits[i] - most);
        if (sum > wanted)
            return i;
    }
    return n - 1;
}

/* One lane's part of a row: the actions of its counter blocks. `soft` is this row's [actions][2], or NULL. */
BLOCK_FN float act_lane_logp(const float *heads, const float *log_std, const float *taken, uint32_t actions,
                             uint32_t levels, unsigned lane, float *soft, float *ret_entropy)
{
    float logp = 0, entropy = 0;
    for (uint32_t first = lane * LANE_ACTIONS; first < actions; first += ROW_LANES * LANE_ACTIONS)
        for (uint32_t i = first; i < actions && i < first + LANE_ACTIONS; i++) {
            if (levels == 0) {
                logp += act_normal_logp(taken[i], heads[i], log_std[i]);
                entropy += NORMAL_ENTROPY + log_std[i];
                continue;
            }
            float here, norm = act_softmax(heads + (size_t)i * levels, levels, &here);
            logp += heads[(size_t)i * levels + (uint32_t)taken[i]] - norm;
            entropy += here;
            if (soft) {
                soft[2 * i] = norm;
                soft[2 * i + 1] = here;
            }
        }
    *ret_entropy = entropy;
    return logp;
}

BLOCK_FN float act_add_lanes(const float *lanes)
{
    float sum = lanes[0];
    for (unsigned i = 1; i < ROW_LANES; i++)
        sum += lanes[i];
    return sum;
}

BLOCK_FN void block_act(const struct kernel_act *k, unsigned x, unsigned y, void *shared)
{
    float *lanes = (float *)shared; /* [ROWS_AT_ONCE][ROW_LANES] */
    uint64_t run_step = k->clock->run_step;
    size_t rows = (size_t)k->clock->step * k->copies;
    (void)y;
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        uint32_t copy = x * ROWS_AT_ONCE + t / ROW_LANES, lane = t % ROW_LANES;
        if (copy >= k->copies)
            continue;
        const float *heads = k->heads + (size_t)copy * k->head_stride;
        float *taken = k->taken + (rows + copy) * k->actions, entropy;
        for (uint32_t block = lane; block * LANE_ACTIONS < k->actions; block += ROW_LANES) {
            struct philox words = philox(k->seed, copy, (uint32_t)run_step, (uint32_t)(run_step >> 32),
                                         (uint32_t)PPO_DRAW_ACTION << 24 | block);
            float normals[LANE_ACTIONS];
            if (k->levels == 0) {
                ppo_normals(words.word[0], words.word[1], &normals[0], &normals[1]);
                ppo_normals(words.word[2], words.word[3], &normals[2], &normals[3]);
            }
            BLOCK_UNROLL
            for (uint32_t j = 0; j < LANE_ACTIONS; j++) {
                uint32_t i = block * LANE_ACTIONS + j;
                if (i >= k->actions)
                    continue;
                float action = k->levels == 0 ? heads[i] + activation_exp(k->log_std[i]) * normals[j]
                                              : (float)act_level(heads + (size_t)i * k->levels, k->levels,
                                                                 words.word[j]);
                taken[i] = action;
                k->env_actions[(size_t)copy * k->actions + i] = action;
            }
        }
        lanes[t] = act_lane_logp(heads, k->log_std, taken, k->actions, k->levels, lane, NULL, &entropy);
    }
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        uint32_t copy = x * ROWS_AT_ONCE + t;
        if (t < ROWS_AT_ONCE && copy < k->copies)
            k->logp[rows + copy] = act_add_lanes(lanes + t * ROW_LANES);
    }
}

#endif
