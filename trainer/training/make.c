#include "trainer/training/make.h"

#include <errno.h>
#include <stdio.h>

int making_begin(const struct source *source, const struct ppo_params *params,
                 void (*told)(void *ctx, const char *words), void *ctx, struct making *ret,
                 char err[static SOURCE_ERROR_MAX])
{
    struct making making = {0};
    if (params->device == PPO_CUDA) {
        snprintf(err, SOURCE_ERROR_MAX,
                 "[training] device: cuda: %s has no device to train on: auto or cpu is right",
                 source->config->world);
        return -EINVAL;
    }
    (void)told, (void)ctx;
    int r = source_world(source, (size_t)params->copies, &making.world, err);
    if (r == 0)
        r = learner_create_cpu(params, &making.world, &making.learner, err);
    if (r < 0) {
        making_end(&making);
        return r;
    }
    *ret = making;
    return 0;
}

void making_end(struct making *making)
{
    learner_destroy(making->learner);
    ppo_world_destroy(&making->world);
    *making = (struct making){0};
}
