/* Every kernel with the threads of a block, its shared memory in bytes, and its blocks across and down: what
 * kernels.cu and the tests' CPU launch alike. K(name, argument, threads, shared, across, down), where `k` is
 * the argument; block_NAME() is the work of a block. */
#ifndef TRAINER_PPO_CUDA_BLOCKS_LIST_H
#define TRAINER_PPO_CUDA_BLOCKS_LIST_H

#include "trainer/ppo/cuda/blocks/act.h"
#include "trainer/ppo/cuda/blocks/adam.h"
#include "trainer/ppo/cuda/blocks/gather.h"
#include "trainer/ppo/cuda/blocks/layer.h"
#include "trainer/ppo/cuda/blocks/loss.h"
#include "trainer/ppo/cuda/blocks/observe.h"
#include "trainer/ppo/cuda/blocks/policy.h"
#include "trainer/ppo/cuda/blocks/reward.h"
#include "trainer/ppo/cuda/blocks/scan.h"

#define LIST_SUMS(n) ((n)*KERNEL_THREADS * sizeof(double))

/* Those of one activation. */
#define LIST_LAYER(K, name) \
    K(policy_##name, struct kernel_policy, KERNEL_THREADS, \
      (2 * POLICY_ROW + KERNEL_THREADS) * sizeof(float), kernel_tiles(k->act.copies, ROWS_AT_ONCE), 1) \
    K(activate_##name, struct kernel_layer, KERNEL_THREADS, 0, kernel_tiles(k->rows, KERNEL_SUM_TILE), \
      layer_columns(k->y.stride)) \
    K(activate_norm_##name, struct kernel_layer, KERNEL_THREADS, 2 * KERNEL_THREADS * sizeof(float), \
      norm_blocks(k, k->x.stride), 1) \
    K(norm_pulls_##name, struct kernel_layer, KERNEL_THREADS, 2 * KERNEL_THREADS * sizeof(float), \
      norm_blocks(k, k->dy.stride), 1) \
    K(pull_back_##name, struct kernel_layer, KERNEL_THREADS, KERNEL_THREADS * sizeof(struct eight), \
      kernel_tiles(k->rows, KERNEL_SUM_TILE), layer_columns(k->dy.stride)) \
    K(pull_back_norm_##name, struct kernel_layer, KERNEL_THREADS, KERNEL_THREADS * sizeof(struct eight), \
      kernel_tiles(k->rows, KERNEL_SUM_TILE), layer_columns(k->dy.stride))

#define KERNEL_LIST(K) \
    K(rollout_begin, struct kernel_rollout, KERNEL_THREADS, 0, rollout_begin_blocks(k), 1) \
    K(observe, struct kernel_observe, KERNEL_THREADS, LIST_SUMS(2), \
      kernel_tiles(k->copies, KERNEL_OBSERVE_TILE), kernel_tiles(k->rows.stride, OBSERVE_COLUMNS)) \
    K(act, struct kernel_act, KERNEL_THREADS, KERNEL_THREADS * sizeof(float), \
      kernel_tiles(k->copies, ROWS_AT_ONCE), 1) \
    K(stepped, struct kernel_stepped, KERNEL_THREADS, LIST_SUMS(2), stepped_across(k), stepped_down(k)) \
    K(observed, struct kernel_observed, KERNEL_THREADS, 0, kernel_tiles(k->size, KERNEL_THREADS), 1) \
    K(returned, struct kernel_returned, KERNEL_THREADS, LIST_SUMS(9), 1, 1) \
    K(take, struct kernel_take, KERNEL_THREADS, 0, kernel_tiles(k->rows, KERNEL_THREADS), 1) \
    K(advantages, struct kernel_advantages, ADVANTAGE_THREADS, 0, \
      kernel_tiles(k->copies, ADVANTAGE_THREADS), 1) \
    K(explained_tiles, struct kernel_explained, KERNEL_THREADS, LIST_SUMS(EXPLAINED_SUMS), \
      kernel_tiles(k->rows, KERNEL_FLAT_TILE), 1) \
    K(explained_end, struct kernel_explained, KERNEL_THREADS, LIST_SUMS(EXPLAINED_SUMS), 1, 1) \
    K(update_begin, struct kernel_order, 1, 0, 1, 1) \
    K(gather, struct kernel_gather, KERNEL_THREADS, \
      2 * KERNEL_GATHER_TILE * sizeof(double) + sizeof(struct gather_from), \
      kernel_tiles(k->rows, KERNEL_GATHER_TILE), 1) \
    K(loss_sums, struct kernel_loss, KERNEL_THREADS, \
      KERNEL_LOSS_SUMS *KERNEL_LOSS_TILE * sizeof(double) + \
          2 * KERNEL_LOSS_TILE * ROW_LANES * sizeof(float), \
      kernel_tiles(k->rows, KERNEL_LOSS_TILE), 1) \
    K(loss_pull, struct kernel_loss, KERNEL_THREADS, \
      LIST_SUMS(KERNEL_LOSS_SUMS) + KERNEL_LOSS_TILE * sizeof(float), \
      kernel_tiles(k->rows, KERNEL_LOSS_TILE), 1) \
    LIST_LAYER(K, tanh) \
    LIST_LAYER(K, relu) \
    LIST_LAYER(K, silu) \
    K(pull_back_none, struct kernel_layer, KERNEL_THREADS, KERNEL_THREADS * sizeof(struct eight), \
      kernel_tiles(k->rows, KERNEL_SUM_TILE), layer_columns(k->dy.stride)) \
    K(scan, struct kernel_scan, KERNEL_THREADS, 0, \
      kernel_tiles((size_t)k->sequences * k->units, KERNEL_THREADS), 1) \
    K(scan_back, struct kernel_scan, KERNEL_THREADS, 0, \
      kernel_tiles((size_t)k->sequences * k->units, KERNEL_THREADS), 1) \
    K(add_sums, struct kernel_add, KERNEL_THREADS, LIST_SUMS(1), add_sums_blocks(k), k->n) \
    K(grad_squares, struct kernel_adam, KERNEL_THREADS, LIST_SUMS(1), \
      kernel_tiles(k->n_params, KERNEL_FLAT_TILE), 1) \
    K(grad_step, struct kernel_adam, KERNEL_THREADS, LIST_SUMS(1), 1, 1) \
    K(adam, struct kernel_adam, KERNEL_THREADS, 0, kernel_tiles(k->n_params, KERNEL_THREADS *ADAM_FLOATS), \
      1) \
    K(halve, struct kernel_halve, KERNEL_THREADS, 0, kernel_tiles(k->n, KERNEL_THREADS *ADAM_FLOATS), 1)

/* The launches of kernels.h, most of which are one kernel's: queue_NAME(k, stream) is the backend's. */
#define LAUNCH_LIST(L) \
    L(rollout_begin, struct kernel_rollout) \
    L(observe, struct kernel_observe) \
    L(act, struct kernel_act) \
    L(stepped, struct kernel_stepped) \
    L(observed, struct kernel_observed) \
    L(returned, struct kernel_returned) \
    L(take, struct kernel_take) \
    L(advantages, struct kernel_advantages) \
    L(update_begin, struct kernel_order) \
    L(gather, struct kernel_gather) \
    L(loss_sums, struct kernel_loss) \
    L(loss_pull, struct kernel_loss) \
    L(scan, struct kernel_scan) \
    L(scan_back, struct kernel_scan) \
    L(add_sums, struct kernel_add) \
    L(grad_squares, struct kernel_adam) \
    L(grad_step, struct kernel_adam) \
    L(adam, struct kernel_adam) \
    L(halve, struct kernel_halve)

#define LAUNCH_ONE(name, type) \
    void ppo_launch_##name(const type *k, void *stream) \
    { \
        queue_##name(k, stream); \
    }

#define LAUNCH_LAYER(name) \
    static void launch_activate_##name(const struct kernel_layer *k, void *stream) \
    { \
        if (k->norm_weight) \
            queue_activate_norm_##name(k, stream); \
        else \
            queue_activate_##name(k, stream); \
    } \
    static void launch_pull_back_##name(const struct kernel_layer *k, void *stream) \
    { \
        if (k->norm_weight) { \
            queue_norm_pulls_##name(k, stream); \
            queue_pull_back_norm_##name(k, stream); \
        } else { \
            queue_pull_back_##name(k, stream); \
        } \
    }

/* All of them, once in a program. */
#define LAUNCH_ALL \
    LAUNCH_LIST(LAUNCH_ONE) \
    void ppo_launch_explained(const struct kernel_explained *k, void *stream) \
    { \
        queue_explained_tiles(k, stream); \
        queue_explained_end(k, stream); \
    } \
    LAUNCH_LAYER(tanh) \
    LAUNCH_LAYER(relu) \
    LAUNCH_LAYER(silu) \
    void ppo_launch_policy(const struct kernel_policy *k, void *stream) \
    { \
        if (k->activation == KERNEL_TANH) \
            queue_policy_tanh(k, stream); \
        else if (k->activation == KERNEL_RELU) \
            queue_policy_relu(k, stream); \
        else \
            queue_policy_silu(k, stream); \
    } \
    void ppo_launch_activate(const struct kernel_layer *k, void *stream) \
    { \
        if (k->activation == KERNEL_TANH) \
            launch_activate_tanh(k, stream); \
        else if (k->activation == KERNEL_RELU) \
            launch_activate_relu(k, stream); \
        else \
            launch_activate_silu(k, stream); \
    } \
    void ppo_launch_pull_back(const struct kernel_layer *k, void *stream) \
    { \
        if (k->activation == KERNEL_TANH) \
            launch_pull_back_tanh(k, stream); \
        else if (k->activation == KERNEL_RELU) \
            launch_pull_back_relu(k, stream); \
        else if (k->activation == KERNEL_SILU) \
            launch_pull_back_silu(k, stream); \
        else \
            queue_pull_back_none(k, stream); \
    }

#endif
