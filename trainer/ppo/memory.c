/* What a learner holds of a device's memory, of one that need not be here too. */
#include <errno.h>
#include <stdlib.h>

#include "exchange/fail.h"
#include "trainer/ppo/cuda/plan.h"
#include "trainer/ppo/cuda/queue.h"
#include "trainer/ppo/device.h"

struct learner_memory ppo_learner_memory(size_t total)
{
    return (struct learner_memory){total, (size_t)QUEUE_CONTEXT + (size_t)QUEUE_DRIVER};
}

double ppo_learner_share(const struct ppo_params *params)
{
    return params->memory_cap;
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

static int check_share(const struct ppo_params *params, const struct learner_memory *memory, size_t own,
                       char err[static PPO_ERROR_MAX])
{
    const size_t limit = (size_t)((double)memory->total * ppo_learner_share(params));
    if (memory->driver <= limit && own <= limit - memory->driver)
        return 0;
    return fail_with(-ENOMEM, err, PPO_ERROR_MAX,
                     "out of memory: %zu MiB beside the driver's %zu are above memory_cap %g of the "
                     "device's %zu MiB",
                     own >> 20, memory->driver >> 20, ppo_learner_share(params), memory->total >> 20);
}

int ppo_learner_check_memory(const struct ppo_params *params, const struct learner_memory *memory,
                             const struct env *env, struct learner_bytes *ret, char err[static PPO_ERROR_MAX])
{
    struct learner_bytes of;
    int r = find_parts(params, env, &of, err);
    if (r == 0)
        r = check_share(params, memory, of.learner + of.environment + of.market, err);
    if (r < 0)
        return r;
    of.driver = memory->driver;
    *ret = of;
    return 0;
}
