/* Predicts how long a training takes and what it needs, before it starts: floating-point operations are
 * counted (ppo_work_of()), and their speed on this machine is measured with a learner of the same networks,
 * copies and minibatch on a rollout as short as that allows, for less than two seconds. */
#ifndef TRAINER_TRAINING_PLAN_H
#define TRAINER_TRAINING_PLAN_H

#include "trainer/ppo/learner.h"
#include "trainer/training/source.h"

enum { PLAN_ERROR_MAX = SOURCE_ERROR_MAX, PLAN_NOTE_MAX = 384 };

struct plan {
    char backend[64], precision[16];    /* of its products */
    char note[PLAN_NOTE_MAX];           /* why it is on the CPU, or with fewer copies; "": as configured */
    int copies;                         /* fewer than configured where the device has no memory for all */
    int64_t rows, minibatches;          /* of an iteration; minibatches of all epochs */
    double flops_rollout, flops_update; /* of an iteration */
    /* Seconds of an iteration: the rollout with its environment, advantages (including values), updates. */
    double rollout_s, advantages_s, update_s;
    double environment_s; /* the environment's part of the rollout: measured separately, at most all of it */
    double flops_rate;    /* of the update, a second */
    double steps_s;       /* environment steps a second */
    double seconds;       /* of total_steps */
    int64_t iterations;
    size_t device_bytes, host_bytes; /* device: 0 on the CPU */
    double measured_s;               /* how long the measurement took */
};

/* For `params`, those of the configuration except copies; `all_copies` as training_making_begin(). The copies
 * are as many as fit on a device with the whole rollout, not with the measured one. 0; -EINVAL, -ENOMEM as
 * the learner's; where the CPU's memory cannot hold a rollout, nothing is built. */
int training_plan_make(const struct training_source *source, const struct ppo_params *params, bool all_copies,
                       struct plan *ret, char err[static PLAN_ERROR_MAX]);

#endif
