/* The offsets of all that a learner on a device needs in its one allocation: a pure function of the
 * parameters, the networks and the world, which the module places by and `plan` predicts with. Plain C, for
 * host and module. */
#ifndef TRAINER_PPO_CUDA_PLAN_H
#define TRAINER_PPO_CUDA_PLAN_H

#include "trainer/ppo/params.h"

enum { PLAN_ALIGNMENT = 256, PLAN_LAYERS_MAX = 3 * NET_LAYERS_MAX };

/* One hidden layer's rows of a pass: offsets of matrices [rows][stride], bfloat16 or float32 as `half`. */
struct plan_layer {
    size_t y;    /* its result */
    size_t z;    /* before norm or SiLU, for the backward pass; else as y: in place */
    size_t dy;   /* gradients by y, then by z, in place */
    size_t mask; /* ReLU's bits */
    size_t stats,
        pulls; /* [rows][2] floats of a norm; a recurrent layer's pulls: gradients by its gates, z */
    size_t bias_sums, norm_weight_sums, norm_bias_sums; /* [tiles][stride] floats */
};

/* Offsets of bytes from the allocation's beginning. */
struct ppo_plan {
    bool half;       /* bfloat16 products */
    size_t sequence; /* 1 without a recurrent layer */
    size_t copies, steps, rows /* steps * copies */, minibatch;
    uint32_t slots;    /* final observations that a copy can have in a rollout */
    size_t value_rows; /* of a pass for values */
    size_t final_rows; /* of a pass for final observations' values */
    size_t pass_rows;  /* room of the layers */
    int x_stride;      /* of observations */
    int head_stride, value_stride;

    size_t clock, rates, figures;
    size_t params, m, v, grads, halves; /* halves: 0: none */
    size_t moments, mean, scale, reward_moments, reward_scale;
    size_t copy_columns, started, n_truncated, final_of; /* final_of: kernel_reward's final_rows */
    size_t observe_sums, explained_partials;

    size_t obs; /* [(steps + 1) * copies][x_stride] */
    size_t actions, logp, values, rewards, ends, advantages, returns;
    size_t finals, final_values; /* [slots * copies] */
    size_t x_now;                /* [copies]: the step's own, where products find it at any step */

    size_t x, taken, old_logp, old_values, to_advantages, to_returns, new_logp, soft; /* the minibatch's */
    size_t advantage_sums, loss_partials, grad_partials;
    size_t heads, value_heads, d_heads, d_values;
    size_t head_sums, value_sums, log_std_sums;
    struct plan_layer layers[3]
                            [NET_LAYERS_MAX + 1]; /* by enum net_part; the recurrent one behind the hidden */

    /* Recurrent: [copies][hidden] now, and as a shared trunk's values have it; before each sequence; which
     * rows begin an episode; the minibatch's. */
    size_t state, value_state, kept, starts, to_hidden, to_starts;
    size_t recurrent_y; /* of the value's chain: [(steps + 1) * copies][recurrent] */

    size_t bytes; /* of the whole */
};

/* `shortest_episode`: the least number of steps of an episode (>= 1): it bounds how many episodes a rollout
 * can truncate. 0, or -EINVAL with what a device cannot do. */
int ppo_plan_make(const struct ppo_params *params, const struct net_layout *layout, uint32_t shortest_episode,
                  struct ppo_plan *ret, char err[static PPO_ERROR_MAX]);

#endif
