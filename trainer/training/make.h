/* A learner over a source, on the device or the CPU as its parameters say. */
#ifndef TRAINER_TRAINING_MAKE_H
#define TRAINER_TRAINING_MAKE_H

#include "trainer/ppo/device.h"
#include "trainer/training/source.h"

struct making {
    struct learner *learner;
    struct ppo_world world;     /* of a world that is built in: on the CPU */
    struct learner_stack stack; /* of a market */
};

/* `all_copies`: never fewer than params->copies, as for a checkpoint; rather on the CPU. The callback
 * receives a sentence for each difference from the configuration (fewer copies, the CPU instead of a device);
 * it may be NULL. `source` must outlive it. 0, for training_making_end(); -EINVAL, -ENOMEM with a
 * sentence. */
int training_making_begin(const struct training_source *source, const struct ppo_params *params,
                          bool all_copies, void (*warn)(void *ctx, const char *words), void *ctx,
                          struct making *ret, char err[static SOURCE_ERROR_MAX]);
/* What training_making_begin() would choose, as ppo_learner_predict(); `memory` NULL: on the device that is
 * here. A world that is built in stays on the CPU. */
int training_making_predict(const struct training_source *source, const struct ppo_params *params,
                            bool all_copies, const struct learner_memory *memory,
                            void (*warn)(void *ctx, const char *words), void *ctx,
                            struct learner_prediction *ret, char err[static SOURCE_ERROR_MAX]);
bool training_making_on_device(const struct making *making);
void training_making_end(struct making *making); /* fine on a zeroed one */

#endif
