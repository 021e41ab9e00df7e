/* What a training costs on this machine, measured with a learner of its networks, copies and minibatch on a
 * rollout as short as that allows, for less than two seconds of its processors. */
#ifndef TRAINER_TRAINING_MEASURE_H
#define TRAINER_TRAINING_MEASURE_H

#include "trainer/ppo/learner.h"
#include "trainer/training/source.h"

/* Of iterations of `steps` and one epoch: medians by the clock, and means of processor seconds of all threads
 * (cpu_), which another process does not stretch. */
struct training_times {
    double rollout_s, advantages_s, update_s; /* advantages: including values */
    double cpu_rollout_s, cpu_advantages_s, cpu_update_s;
    double cpu_first_s;  /* more of the first iteration: the rehearsal, memory that is touched first */
    double cpu_making_s; /* of environments and learner */
    int steps;
    int64_t minibatches;
    bool on_device;
    char backend[64];
};

/* The fewest steps of a rollout that hold a minibatch, and whole sequences. */
int training_measure_least_steps(const struct ppo_params *params);

/* `params` with as many copies as there will be. 0; errors of training_making_begin(). */
int training_measure_learner(const struct training_source *source, const struct ppo_params *params,
                             struct training_times *ret, char err[static SOURCE_ERROR_MAX]);

/* Seconds of a step of all copies of `world` alone, with random actions. 0; -ENOMEM, errors of a step. */
int training_measure_environment(const struct ppo_world *world, double *ret_step_s,
                                 char err[static SOURCE_ERROR_MAX]);

#endif
