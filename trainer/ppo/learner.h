/* PPO: a learner holds networks, optimiser, normalisers, random state and a world, on the CPU
 * (trainer/ppo/cpu/) or on a device (trainer/ppo/cuda/), and does one iteration after the other: rollout,
 * advantages, update. Both do the same work in the same order of the same definitions:
 *
 * - Observations are normalised with statistics that are constant during a rollout: those of all rollouts
 *   before. Before the first one a rehearsal of one rollout, in which x' = clip(x), gives the first ones;
 *   everything else that it changed is restored. x' = clip((x - mean) / sqrt(var + 1e-8)). Rollouts'
 *   statistics are merged by Chan's formula in float64. Without normalisation x' = x, not clipped.
 * - Rewards are divided by sqrt(var + 1e-8) of the discounted return that runs through each copy (0 at an
 *   episode's beginning), this rollout's included, and clipped.
 * - Rows are step-major (trainer/ppo/state.h has them, and what a learner's pieces hold).
 * - Actions: of row (copy, step s of the run) by Philox4x32-10, key = seed, counter = {copy, s low, s high,
 *   PPO_DRAW_ACTION << 24 | block}; normals by Box-Muller, word pairs in order; discrete by the inverse of
 *   the cumulated softmax (trainer/ppo/draw.h). Actions are kept as drawn; environments clip them.
 * - Values of the whole rollout, and of the observations at truncations, are computed after it. Truncated:
 *   reward += gamma V(final observation). GAE: delta = r + gamma V' (1 - end) - V, A = delta + gamma lambda
 *   (1 - end) A'. returns = A + V.
 * - Minibatches: rows (or sequences) in the order of ppo_shuffle (trainer/ppo/shuffle.h), a new one each
 *   epoch.
 * - A minibatch whose loss or gradient norm is not finite is skipped and counted; params.bad_updates in a row
 *   end the training with -EDOM.
 *
 * Bit-equal on the same backend: params.threads and the processor's instruction set are part of it. */
#ifndef TRAINER_PPO_LEARNER_H
#define TRAINER_PPO_LEARNER_H

#include "trainer/ppo/params.h"
#include "trainer/ppo/shuffle.h"
#include "trainer/ppo/world.h"

/* One iteration's figures; means over its minibatches, unless said otherwise. */
struct ppo_update {
    int64_t iteration, steps; /* done so far, this one included */
    double policy_loss, value_loss, entropy_loss, loss;
    double old_kl, kl, clip_fraction, explained_variance /* of values against returns */;
    double grad_norm, learning_rate, clip_range, ent_coef, std /* mean of exp(log_std); NaN when discrete */;
    double seconds_rollout, seconds_advantage, seconds_update;
    int64_t minibatches, skipped, skipped_total;
    int epochs; /* started; fewer than params.epochs where target_kl ended them */
    bool kl_stop;
    /* Of episodes that ended in this rollout; NaN where none did. */
    int64_t episodes;
    double episode_return, episode_length, episode_return_std;
    double reward; /* mean of a step's, raw */
};

/* What a policy's file needs: current values, in the host's memory. Arrays are the caller's. */
struct ppo_snapshot {
    float *params;       /* [layout->n_params] */
    float *mean, *scale; /* [observation]: x' = clip((x - mean) * scale); 0 and 1 without normalisation */
};

/* A state's pieces by name, for checkpoints: [bytes] each. */
struct ppo_sink {
    void *ctx;
    int (*piece)(void *ctx, const char *name, const void *bytes, size_t n); /* 0 or -errno */
};
struct ppo_source {
    void *ctx;
    /* The bytes of piece `name`; NULL: there is none, *ret_n then is 0. */
    const void *(*piece)(void *ctx, const char *name, size_t *ret_n);
};

struct learner;
struct learner_ops {
    const char *backend; /* "cpu-avx512", "cuda: NVIDIA H200" */
    int (*iterate)(struct learner *l, struct ppo_update *ret, char err[static PPO_ERROR_MAX]);
    int (*save)(struct learner *l, const struct ppo_sink *sink, char err[static PPO_ERROR_MAX]);
    int (*load)(struct learner *l, const struct ppo_source *source, char err[static PPO_ERROR_MAX]);
    int (*snapshot)(struct learner *l, const struct ppo_snapshot *ret, char err[static PPO_ERROR_MAX]);
    size_t (*bytes)(const struct learner *l); /* memory that it holds, the device's or its own */
    void (*destroy)(struct learner *l);
};
/* Where an iteration is; the update has the advantages too. */
enum ppo_phase { PPO_ROLLOUT, PPO_UPDATE };

struct learner {
    const struct learner_ops *ops;
    struct ppo_params params;
    struct net_layout layout;
    void (*entered)(void *ctx, enum ppo_phase phase); /* NULL: no callback */
    void *entered_ctx;
    /* Called with a sentence about what a device does not do as it should, once. NULL: not wanted. */
    void (*warned)(void *ctx, const char *sentence);
    void *warned_ctx;
};

/* From now on ppo_learner_iterate() calls entered(ctx, phase) in its caller's thread when it goes into a
 * phase. A device's learner then waits once more an iteration, when all of it is queued, so that the device
 * never idles. NULL: not any more. */
void ppo_learner_watch(struct learner *l, void (*entered)(void *ctx, enum ppo_phase phase), void *ctx);

/* For the learners: the iteration enters `phase`. */
static inline void learner_enters(const struct learner *l, enum ppo_phase phase)
{
    if (l->entered)
        l->entered(l->entered_ctx, phase);
}

/* On the CPU. The world's copies must be params->copies; it stays the caller's and must outlive the learner.
 * 0, for ppo_learner_destroy(); -EINVAL, -ENOMEM, -EAGAIN. */
int ppo_learner_create_cpu(const struct ppo_params *params, const struct ppo_world *world,
                           struct learner **ret, char err[static PPO_ERROR_MAX]);

/* 0; -EDOM: the loss was not finite too often (the learner's state is of no use, the last checkpoint is);
 * -EINVAL: the world refused an action; -EIO, -ENOMEM of a device. err: what, where, what would be right. */
int ppo_learner_iterate(struct learner *l, struct ppo_update *ret, char err[static PPO_ERROR_MAX]);

/* Pieces: "params", "adam_m", "adam_v", "normaliser", "counters", "world", "copies" (each copy's running
 * return, episode and recurrent state). The names and layouts are the same for all backends.
 * ppo_learner_load(): -EINVAL, and nothing is changed, for pieces that are missing or of other shapes: err
 * names the piece and both sizes. */
int ppo_learner_save(struct learner *l, const struct ppo_sink *sink, char err[static PPO_ERROR_MAX]);
int ppo_learner_load(struct learner *l, const struct ppo_source *source, char err[static PPO_ERROR_MAX]);
int ppo_learner_snapshot(struct learner *l, const struct ppo_snapshot *ret, char err[static PPO_ERROR_MAX]);
void ppo_learner_destroy(struct learner *l); /* NULL is fine */

/* Bytes that ppo_learner_create_cpu() will hold, beside the world's. */
size_t ppo_learner_bytes_cpu(const struct ppo_params *params, const struct net_layout *layout);

/* Floating-point operations: multiply and add count as two. Of one rollout row, and of one row in an epoch.
 * The first layer needs no gradient for its input. */
struct ppo_work {
    double rollout, update;
};
struct ppo_work ppo_work_of(const struct net_layout *layout);

#endif
