/* What a learner's pieces hold (ppo_learner_save()), the same for every backend: native bytes.
 *
 *     params, adam_m, adam_v   float [layout.n_params]
 *     normaliser               struct ppo_moments of the rewards' running returns (zeros without), then
 *                              [observation] of them of the observations (zeros without)
 *     counters                 struct ppo_counters
 *     copies                   [copies] struct ppo_copy, then float [copies][layout.hidden]
 *     world                    as its save() writes it
 *
 * Rows of a rollout are step-major: row = step * copies + copy. Sequence q of a rollout, where there is a
 * recurrent layer, is copy q % copies, `sequence` steps from (q / copies) * sequence on. */
#ifndef TRAINER_PPO_STATE_H
#define TRAINER_PPO_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "trainer/ppo/params.h"

struct ppo_moments {
    double count, mean, m2; /* m2: sum of squared deviations from the mean; variance = m2 / count */
};

struct ppo_counters {
    int64_t iteration, steps; /* so far */
    int64_t adam_steps;
    int64_t epochs;                    /* started in all iterations: the shuffle's */
    int64_t skipped_total, bad_in_row; /* minibatches that were not finite */
};

/* A copy's episode that has not ended. */
struct ppo_copy {
    double running; /* discounted return */
    double reward;  /* sum */
    int64_t length;
};

static inline size_t ppo_normaliser_bytes(const struct net_layout *layout)
{
    return (1 + (size_t)layout->shape.observation) * sizeof(struct ppo_moments);
}

static inline size_t ppo_copies_bytes(const struct ppo_params *params, const struct net_layout *layout)
{
    return (size_t)params->copies * (sizeof(struct ppo_copy) + (size_t)layout->hidden * sizeof(float));
}

/* Chan, Golub, LeVeque 1979: the moments of both together. Those of `other` are left out unless they are
 * finite, so that one bad number does not spoil a normaliser for good. */
static inline void ppo_moments_merge(struct ppo_moments *moments, struct ppo_moments other)
{
    if (!(other.count > 0) || !(other.m2 <= 1.7e308) || !(other.mean <= 1.7e308 && other.mean >= -1.7e308))
        return;
    const double count = moments->count + other.count, delta = other.mean - moments->mean;
    moments->mean += delta * (other.count / count);
    moments->m2 += other.m2 + delta * delta * (moments->count * other.count / count);
    moments->count = count;
}

/* 1 / sqrt(variance + 1e-8); 1 before anything is known. */
#define PPO_VARIANCE_LEAST 1e-8

#endif
