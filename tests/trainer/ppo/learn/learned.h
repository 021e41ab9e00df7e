/* Trains with the real learner, and plays what it learned. Whatever fails ends the program. */
#ifndef TESTS_TRAINER_PPO_LEARN_LEARNED_H
#define TESTS_TRAINER_PPO_LEARN_LEARNED_H

#include "strategy/policy/trained.h"
#include "trainer/ppo/learner.h"

struct learned {
    struct net_layout layout;
    struct net_model *model;
    struct net_memory *memory; /* of one copy: networks without a recurrent layer */
    struct ppo_update last;    /* of the last iteration */
    double seconds;
};

/* Until params->total_steps are done; the world is the caller's. */
void learned_train(const struct ppo_params *params, const struct ppo_world *world, struct learned *ret);
void learned_finish(struct learned *learned);

/* By the mean, or the likeliest level. */
void learned_act(const struct learned *learned, const float *observation, float *ret);
double learned_value(const struct learned *learned, const float *observation);

/* The first episode of every copy of the world, played by what was learned: their returns [copies]. */
void learned_play(const struct learned *learned, const struct ppo_world *world, double *ret_returns);

double mean_of(const double *values, size_t n);
double deviation_of(const double *values, size_t n); /* ddof 1 */

#endif
