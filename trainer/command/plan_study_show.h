/* What `plan` predicts of a study, and how it is shown. */
#ifndef TRAINER_COMMAND_PLAN_STUDY_SHOW_H
#define TRAINER_COMMAND_PLAN_STUDY_SHOW_H

#include <jansson.h>

#include "trainer/command/study_machine.h"
#include "trainer/command/train_args.h"
#include "trainer/study/cost.h"

struct study_prediction {
    const struct train_config *config;
    const struct train_args *args;
    const struct study_settings *settings;
    struct study_demand demand;
    struct study_fit fit;
    struct study_machine machine;
    double opened_s; /* processor seconds until its rows were known */
    int workers;
    int64_t trainings; /* of all trials, without pruning; the proposal's is not one of them */
    struct train_config *median, *largest; /* trials, with a worker's share of the machine; NULL: no sizes */
    struct study_cost cost;
    struct study_cost_parts parts;
    double seconds, cpu_s; /* of the whole study, the first at the workers' pace; NaN: not measured */
    struct device_time device_time;
    size_t host_bytes, most_host_bytes; /* of all its processes: with median trials, and with the largest */
    size_t device_bytes; /* of all workers together, at most: with the largest trial, or their shares
                            where that does not fit */
};

/* Of a device that is planned for, the seconds are this machine's, whose processors its workers share. */
static inline int plan_study_workers_here(const struct study_prediction *p)
{
    return p->args->device_memory > 0 && p->workers > p->machine.cores ? p->machine.cores : p->workers;
}

/* Where no device is listed a module may find one. */
static inline int plan_study_devices(const struct study_prediction *p)
{
    const int n = p->machine.n_devices;
    return n > 0 ? n : p->cost.training.fit != PLAN_NO_DEVICE;
}

static inline int plan_study_workers_a_device(const struct study_prediction *p)
{
    const int devices = plan_study_devices(p);
    return devices > 0 ? (p->workers + devices - 1) / devices : 0;
}

/* Bytes of a device that a worker may hold; 0: there is none. */
static inline size_t plan_study_share_bytes(const struct study_prediction *p)
{
    return p->median ? (size_t)((double)p->cost.training.device_total * ppo_learner_share(&p->median->ppo))
                     : 0;
}

static inline size_t plan_study_length(struct split_rows rows)
{
    return rows.to - rows.from;
}

void trainer_plan_study_print(const struct study_prediction *p);
json_t *trainer_plan_study_json(const struct study_prediction *p); /* NULL without memory */

#endif
