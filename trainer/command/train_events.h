/* The events of a training as JSON, and as TensorBoard's scalars. docs/training.md has every key. */
#ifndef TRAINER_COMMAND_TRAIN_EVENTS_H
#define TRAINER_COMMAND_TRAIN_EVENTS_H

#include <jansson.h>

#include "trainer/ppo/learner.h"
#include "trainer/telemetry/tensorboard.h"
#include "trainer/telemetry/usage.h"
#include "trainer/training/evaluate.h"
#include "trainer/training/plan.h"

enum phase {
    PHASE_LOADING,
    PHASE_FEATURES,
    PHASE_ROLLOUT,
    PHASE_ADVANTAGES,
    PHASE_UPDATE,
    PHASE_EVALUATION,
    PHASES
};
const char *trainer_phase_name(enum phase phase);

struct phase_use {
    double seconds, cpu_s; /* cpu_s NaN: not measured separately */
    double device;         /* utilisation, a share of 1; NaN: no device, or unknown */
};

/* Each gives a new object, or NULL without memory. */
json_t *trainer_phase_json(enum phase phase, const struct phase_use *use, size_t held_bytes);
json_t *train_config_json(
    const struct train_config *config); /* {"training": {"name": "…"}, …}: all values as texts */
json_t *trainer_evaluation_json(const struct training_source *source, const struct evaluation *evaluation);

struct update_figures {
    struct ppo_update update;
    double steps_s;
    struct usage usage; /* of the whole iteration */
    size_t held_bytes;
    double device;
};
json_t *trainer_update_json(const struct update_figures *figures);

enum { UPDATE_SCALARS = 24 };
size_t trainer_update_scalars(const struct update_figures *figures,
                              struct tensorboard_scalar ret[static UPDATE_SCALARS]);
size_t trainer_evaluation_scalars(const struct training_source *source, const struct evaluation *evaluation,
                                  struct tensorboard_scalar ret[static UPDATE_SCALARS]);

#endif
