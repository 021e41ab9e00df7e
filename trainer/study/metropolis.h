/* A Metropolis chain with adaptive proposals. The chain is the study's finished trials by number, gone
 * through from the start at each call, so that no process keeps its state: every worker and every later run
 * sees the same one. Positions are shares of each parameter's axis.
 *
 * The first `burn_in` COMPLETE trials are drawn at random and the best of them is where the chain begins.
 * Trial t after that is a step from where the chain is; it is taken with probability
 * min(1, exp((loss - loss_t) / T)), T = temperature * cooling^k after k steps, by a number of its own of
 * Philox. PRUNED and infeasible trials are steps not taken; FAIL ones none at all. A proposal moves every
 * number by a normal of deviation s, reflected at the ends, and draws every choice again with probability
 * min(1/2, s). After step k (1, 2, …) log s grows by (probability - target_acceptance) / sqrt(k), within
 * [1e-4, 1] (Robbins, Monro 1951; Andrieu, Thoms, "A tutorial on adaptive MCMC", 2008). Several workers'
 * trials were proposed before the others' were known: the chain takes them in the order of their numbers. */
#ifndef TRAINER_STUDY_METROPOLIS_H
#define TRAINER_STUDY_METROPOLIS_H

#include "trainer/study/draw.h"
#include "trainer/study/sampler.h"

struct metropolis_chain {
    int at;            /* the trial where it is; -1: still burning in */
    int steps, taken;  /* after burning in */
    double scale;      /* s */
    double acceptance; /* mean probability of all steps */
};

/* -EINVAL: several objectives. */
int sampler_metropolis_chain(const struct metropolis_options *options, uint64_t seed,
                             const struct study *study, const struct space *space,
                             struct metropolis_chain *ret);

int sampler_metropolis_sample(const struct metropolis_options *options, uint64_t seed,
                              const struct study *study, const struct space *space, struct draw *draw,
                              double *ret_values);

#endif
