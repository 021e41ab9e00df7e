#include "trainer/training/make.h"

#include <errno.h>
#include <stdio.h>

#include "exchange/fail.h"

static int make_world(const struct training_source *source, const struct ppo_params *params,
                      struct making *making, char err[static SOURCE_ERROR_MAX])
{
    if (params->device == PPO_CUDA)
        return fail_with(-EINVAL, err, SOURCE_ERROR_MAX,
                         "[training] device: cuda: the world %s is on the CPU: auto or cpu is right",
                         source->config->world);
    int r = training_source_world(source, (size_t)params->copies, &making->world, err);
    return r < 0 ? r : ppo_learner_create_cpu(params, &making->world, &making->learner, err);
}

int training_making_predict(const struct training_source *source, const struct ppo_params *params,
                            bool all_copies, const struct learner_memory *memory,
                            void (*warn)(void *ctx, const char *words), void *ctx,
                            struct learner_prediction *ret, char err[static SOURCE_ERROR_MAX])
{
    const struct learner_source from = {.env_params = &source->config->env,
                                        .market = source->train_market,
                                        .all_copies = all_copies,
                                        .warned = warn,
                                        .ctx = ctx};
    if (source->market)
        return ppo_learner_predict(params, &from, memory, ret, err);
    *ret = (struct learner_prediction){.copies = params->copies};
    return 0;
}

int training_making_begin(const struct training_source *source, const struct ppo_params *params,
                          bool all_copies, void (*warn)(void *ctx, const char *words), void *ctx,
                          struct making *ret, char err[static SOURCE_ERROR_MAX])
{
    struct making making = {0};
    const struct learner_source from = {.env_params = &source->config->env,
                                        .market = source->train_market,
                                        .all_copies = all_copies,
                                        .warned = warn,
                                        .ctx = ctx};
    int r = source->market ? ppo_learner_create_auto(params, &from, &making.stack, err)
                           : make_world(source, params, &making, err);
    if (r < 0) {
        training_making_end(&making);
        return r;
    }
    if (source->market)
        making.learner = making.stack.learner;
    *ret = making;
    return 0;
}

bool training_making_on_device(const struct making *making)
{
    return making->stack.module != NULL;
}

void training_making_end(struct making *making)
{
    if (making->world.ctx)
        ppo_learner_destroy(making->learner);
    ppo_learner_stack_destroy(&making->stack);
    ppo_world_destroy(&making->world);
    *making = (struct making){0};
}
