/* What a learner holds of a device's memory, of one that need not be here too. */
#include <errno.h>
#include <stdlib.h>

#include "exchange/fail.h"
#include "indicators_gpu/cuda/abi.h"
#include "trainer/ppo/cuda/plan.h"
#include "trainer/ppo/cuda/queue.h"
#include "trainer/ppo/device.h"
#include "trainer/ppo/room.h"

struct learner_memory ppo_learner_memory(size_t total)
{
    return (struct learner_memory){total, (size_t)GPU_CONTEXT + (size_t)QUEUE_DRIVER};
}

double ppo_learner_share(const struct ppo_params *params)
{
    return params->memory_cap / (params->sharers > 1 ? params->sharers : 1);
}

/* Without the driver's. */
static int find_parts(const struct ppo_params *params, const struct env *env, struct learner_bytes *ret,
                      char err[static PPO_ERROR_MAX])
{
    struct ppo_plan plan;
    struct net_layout *layout = malloc(sizeof(*layout));
    if (!layout)
        return fail_with(-ENOMEM, err, PPO_ERROR_MAX, "learner: out of memory");
    int r = ppo_learner_layout(params, env, layout, err);
    if (r == 0)
        r = ppo_plan_make(params, layout, ppo_shortest_episode(env), &plan, err);
    free(layout);
    if (r == 0)
        *ret = (struct learner_bytes){.learner = plan.bytes,
                                      .environment = env_device_bytes(env),
                                      .market = env_device_market_bytes(env)};
    return r;
}

int ppo_learner_parts(const struct ppo_params *params, const struct env *env, size_t all,
                      struct learner_bytes *ret, char err[static PPO_ERROR_MAX])
{
    int r = find_parts(params, env, ret, err);
    if (r == 0)
        ret->driver = all - ret->learner - ret->environment - ret->market;
    return r;
}

int ppo_learner_check_memory(const struct ppo_params *params, const struct learner_memory *memory,
                             const struct env *env, struct learner_bytes *ret, char err[static PPO_ERROR_MAX])
{
    struct learner_bytes of = {0};
    int r = find_parts(params, env, &of, err);
    const struct ppo_room room = {.total = memory->total,
                                  .settled = true,
                                  .more = of.learner + of.environment + of.market + memory->driver};
    if (r == 0)
        r = ppo_room_check(&room, params, err);
    if (r < 0)
        return r;
    of.driver = memory->driver;
    *ret = of;
    return 0;
}
