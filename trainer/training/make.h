/* A learner over a source, on the device or the CPU as its parameters ask. */
#ifndef TRAINER_TRAINING_MAKE_H
#define TRAINER_TRAINING_MAKE_H

#include "trainer/ppo/learner.h"
#include "trainer/training/source.h"

struct making {
    struct learner *learner;
    struct ppo_world world;
};

/* `told` is given a sentence for whatever is not as asked (fewer copies, the CPU instead of a device); NULL:
 * nobody is. `source` must outlive it. 0, for making_end(); -EINVAL, -ENOMEM with a sentence. */
int making_begin(const struct source *source, const struct ppo_params *params,
                 void (*told)(void *ctx, const char *words), void *ctx, struct making *ret,
                 char err[static SOURCE_ERROR_MAX]);
void making_end(struct making *making); /* fine on a zeroed one */

#endif
