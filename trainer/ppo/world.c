#include "trainer/ppo/world.h"

#include <errno.h>

#include "trainer/env/internal.h"
#include "trainer/env/refusal.h"

static int step(void *ctx, const struct env_io *io, char err[static ENV_ERROR_MAX])
{
    return env_step(ctx, io, err);
}

static void observe(void *ctx, float *ret)
{
    env_observe(ctx, ret);
}

static size_t state_bytes(void *ctx)
{
    return env_state_bytes(ctx);
}

static void save(void *ctx, void *ret)
{
    env_save(ctx, ret);
}

static int load(void *ctx, const void *state, char err[static ENV_ERROR_MAX])
{
    return env_load(ctx, state, err);
}

static void destroy(void *ctx)
{
    env_destroy(ctx);
}

int ppo_world_trading(struct env *env, struct ppo_world *ret, char err[static ENV_ERROR_MAX])
{
    const struct env_params *params = &env->view.params;
    if (params->autoreset != ENV_SAME_STEP)
        return env_refuse(-EINVAL, err, "autoreset: same_step is right for training");
    *ret = (struct ppo_world){
        .ctx = env,
        .name = "market",
        .copies = env_copies(env),
        .observation = env_observation_size(env),
        .actions = env_action_size(env),
        .levels = params->actions == ENV_DISCRETE ? params->levels : 0,
        .step = step,
        .observe = observe,
        .state_bytes = state_bytes,
        .save = save,
        .load = load,
        .destroy = destroy,
    };
    return 0;
}

void ppo_world_destroy(struct ppo_world *world)
{
    if (world->destroy)
        world->destroy(world->ctx);
    *world = (struct ppo_world){0};
}
