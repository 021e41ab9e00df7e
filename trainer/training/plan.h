/* Predicts how long a training takes and what it needs, before it starts: floating-point operations are
 * counted (ppo_work_of()), and their speed on this machine is measured (measure.h). */
#ifndef TRAINER_TRAINING_PLAN_H
#define TRAINER_TRAINING_PLAN_H

#include "trainer/ppo/device.h"
#include "trainer/training/device_time.h"
#include "trainer/training/source.h"

enum { PLAN_ERROR_MAX = SOURCE_ERROR_MAX, PLAN_NOTE_MAX = 1024 };

/* Do the copies fit in the share of a device's memory? */
enum plan_fit {
    PLAN_NO_DEVICE, /* there is no device, or it is not wanted */
    PLAN_FITS,      /* all of them */
    PLAN_FEWER,     /* it trains there with fewer */
    PLAN_NOT,       /* it trains on the CPU */
};

struct plan {
    char backend[64];                   /* that was measured; "": nothing was */
    char precision[16];                 /* of its products */
    char note[PLAN_NOTE_MAX];           /* why it is on the CPU, or with fewer copies; "": as configured */
    int copies;                         /* fewer than configured where the device has no memory for all */
    int64_t rows, minibatches;          /* of an iteration; minibatches of all epochs */
    double flops_rollout, flops_update; /* of an iteration */
    /* Seconds of an iteration: the rollout with its environment, advantages (including values), updates. As
     * all times NaN where nothing was measured. */
    double rollout_s, advantages_s, update_s;
    double environment_s; /* the environment's part of the rollout: measured separately, at most all of it */
    double flops_rate;    /* of the update, a second */
    double steps_s;       /* environment steps a second */
    double seconds;       /* of total_steps */
    double cpu_s; /* of this machine's processors for it: all threads, the learner's making included */
    int64_t iterations;
    enum plan_fit fit;
    size_t device_bytes, host_bytes; /* device: 0 on the CPU */
    struct learner_bytes of;         /* parts of device_bytes */
    char host_note[PLAN_NOTE_MAX];   /* what this machine has no memory for on its CPU; "": it has, or this is
                                        an error */
    size_t device_total;             /* bytes of the device, here or planned for; 0: none */
    size_t device_memory;            /* of the device that was planned for; 0: the plan is for this machine */
    struct device_time device_time;  /* of total_steps there; NaN: as above, or it trains on the CPU */
    double measured_s;               /* how long the measurement took */
};

struct plan_options {
    bool all_copies; /* as training_making_begin() */
    bool sizes_only; /* nothing is measured */
    bool notes_host; /* a lack of this machine's memory is host_note, not an error */
    /* Of a device that is planned for and need not be here: the sizes are that device's; what is measured is
     * this machine's CPU, and only where that has the memory for it (else host_note) and needs seconds. NULL:
     * none. */
    const struct learner_memory *memory;
};

/* For `params`, those of the configuration except copies. The copies are as many as fit on a device with the
 * whole rollout, not with the measured one. 0; -EINVAL, -ENOMEM as the learner's; where the CPU's memory
 * cannot hold a rollout, nothing is built. */
int training_plan_make(const struct training_source *source, const struct ppo_params *params,
                       const struct plan_options *options, struct plan *ret, char err[static PLAN_ERROR_MAX]);

/* The networks of a training on that source. */
int training_plan_layout(const struct training_source *source, const struct ppo_params *params,
                         struct net_layout *ret, char err[static PLAN_ERROR_MAX]);

#endif
