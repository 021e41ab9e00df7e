/* What a learner holds of a device's memory, and whether it has room: of the module's device, or of one that
 * need not be here. */
#include <errno.h>
#include <stdlib.h>

#include "exchange/fail.h"
#include "indicators_gpu/cuda/abi.h"
#include "trainer/ppo/cuda/abi.h"
#include "trainer/ppo/cuda/plan.h"
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
static int parts_of(const struct ppo_params *params, const struct net_layout *layout, const struct env *env,
                    struct learner_bytes *ret, char err[static PPO_ERROR_MAX])
{
    struct ppo_plan plan;
    int r = ppo_plan_make(params, layout, ppo_shortest_episode(env), &plan, err);
    if (r == 0)
        *ret = (struct learner_bytes){.learner = plan.bytes,
                                      .environment = env_device_bytes(env),
                                      .market = env_device_market_bytes(env)};
    return r;
}

static int find_parts(const struct ppo_params *params, const struct env *env, struct learner_bytes *ret,
                      char err[static PPO_ERROR_MAX])
{
    struct net_layout *layout = malloc(sizeof(*layout));
    if (!layout)
        return fail_with(-ENOMEM, err, PPO_ERROR_MAX, "learner: out of memory");
    int r = ppo_learner_layout(params, env, layout, err);
    if (r == 0)
        r = parts_of(params, layout, env, ret, err);
    free(layout);
    return r;
}

static size_t allocated(const struct learner_bytes *of)
{
    return of->learner + of->environment + of->market;
}

size_t ppo_learner_bytes_device(const struct ppo_params *params, const struct net_layout *layout,
                                const struct env *env)
{
    struct learner_bytes of;
    char err[PPO_ERROR_MAX];
    return parts_of(params, layout, env, &of, err) == 0 ? allocated(&of) : 0;
}

int ppo_learner_parts(const struct ppo_params *params, const struct env *env, size_t all,
                      struct learner_bytes *ret, char err[static PPO_ERROR_MAX])
{
    int r = find_parts(params, env, ret, err);
    if (r == 0)
        ret->driver = all - allocated(ret);
    return r;
}

int ppo_learner_check_memory(const struct ppo_params *params, const struct learner_memory *memory,
                             const struct env *env, struct learner_bytes *ret, char err[static PPO_ERROR_MAX])
{
    struct learner_bytes of = {0};
    int r = find_parts(params, env, &of, err);
    const struct ppo_room room = {
        .total = memory->total, .settled = true, .more = allocated(&of) + memory->driver};
    if (r == 0)
        r = ppo_room_check(&room, params, err);
    if (r < 0)
        return r;
    of.driver = memory->driver;
    *ret = of;
    return 0;
}

/* ---- of the module's device ---- */

static int ask_device(struct gpu_module *module, struct queue_memory *ret, char err[static PPO_ERROR_MAX])
{
    const void *table;
    int r = gpu_module_table(module, GPU_PPO_SYMBOL, GPU_PPO_ABI, &table, err, PPO_ERROR_MAX);
    if (r < 0)
        return r;
    const struct gpu_ppo_api *api = table;
    return api->memory(gpu_module_handle(module), ret, err, PPO_ERROR_MAX);
}

int ppo_device_memory(struct gpu_module *module, size_t *ret_free, size_t *ret_total,
                      char err[static PPO_ERROR_MAX])
{
    struct queue_memory memory;
    int r = ask_device(module, &memory, err);
    if (r < 0)
        return r;
    *ret_free = memory.free;
    *ret_total = memory.total;
    return 0;
}

int ppo_learner_check_device(const struct ppo_params *params, struct gpu_module *module,
                             const struct env *env, bool has_market, bool settled, struct learner_room *ret,
                             char err[static PPO_ERROR_MAX])
{
    const char *why;
    struct gpu_share *share = gpu_module_share(module, &why);
    struct gpu_share_entry entered = {0};
    struct queue_memory memory;
    struct learner_bytes of;
    int r = ask_device(module, &memory, err);
    if (r == 0)
        r = find_parts(params, env, &of, err);
    if (r < 0)
        return r;
    if (share)
        (void)gpu_share_others(share, &entered); /* who enters room reports a failure */
    const size_t there = has_market ? of.market : 0;
    const struct learner_room made = {.all = allocated(&of) + memory.context + memory.driver,
                                      .more = allocated(&of) - there + memory.driver,
                                      .driver = memory.driver};
    const struct ppo_room room = {.total = memory.total,
                                  .used = memory.total - memory.free,
                                  .held = memory.held,
                                  .context = memory.context,
                                  .entered = entered,
                                  .settled = settled,
                                  .more = made.more};
    r = ppo_room_check(&room, params, err);
    if (r == 0)
        *ret = made;
    return r;
}
