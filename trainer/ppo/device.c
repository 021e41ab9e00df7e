#include "trainer/ppo/device_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/env/begin.h"
#include "trainer/env/internal.h"
#include "trainer/env/refusal.h"

enum { SETTLED = 2 };

/* ---- iterations ---- */

static int queue_step(void *ctx, const struct env_device_io *io, void *stream, char *err)
{
    return env_device_queue(ctx, io, stream, err);
}

static int check_actions(struct device_learner *d, char err[static PPO_ERROR_MAX])
{
    char reason[ENV_ERROR_MAX];
    int r = env_device_wait(d->device, NULL, reason);
    d->waits_env++;
    return r < 0 ? env_refuse(r, err, "rollout (all steps of a graph count as its first): %.400s", reason)
                 : 0;
}

/* A rollout for the first statistics of observations; everything else that it changed is restored. */
static int rehearse(struct device_learner *d, const struct kernel_rates *rates,
                    char err[static PPO_ERROR_MAX])
{
    struct host_state before, after;
    struct gpu_ppo_result none;
    char reason[ENV_ERROR_MAX];
    int r = ppo_device_state_init(&before, d, err);
    if (r < 0)
        return r;
    r = ppo_device_state_init(&after, d, err);
    if (r < 0) {
        ppo_device_state_finish(&before);
        return r;
    }
    r = env_device_store(d->device, d->env, reason);
    if (r < 0)
        env_refuse(r, err, "%s", reason);
    if (r == 0)
        r = d->api->read(d->on_device, &before.state, err, PPO_ERROR_MAX);
    if (r == 0)
        r = d->api->iterate(d->on_device, rates, true, NULL, NULL, &none, err, PPO_ERROR_MAX);
    if (r == 0)
        r = check_actions(d, err);
    if (r == 0)
        r = d->api->read(d->on_device, &after.state, err, PPO_ERROR_MAX);
    if (r == 0) {
        memcpy(before.state.normaliser + 1, after.state.normaliser + 1,
               before.normaliser_bytes - sizeof(struct ppo_moments));
        r = d->api->write(d->on_device, &before.state, err, PPO_ERROR_MAX);
    }
    if (r == 0) {
        r = env_device_load(d->device, d->env, reason);
        if (r < 0)
            env_refuse(r, err, "%s", reason);
    }
    d->normal = r == 0;
    ppo_device_state_finish(&before);
    ppo_device_state_finish(&after);
    return r;
}

static void report(const struct device_learner *d, const struct kernel_rates *rates,
                   const struct gpu_ppo_result *result, struct ppo_update *ret)
{
    const struct kernel_figures *f = &result->figures;
    const double n = (double)f->minibatches; /* 0: all figures are NaN */
    const double rows = (double)d->learner.params.copies * d->learner.params.steps;
    const double mean = f->return_sum / f->episodes;
    *ret = (struct ppo_update){
        .iteration = d->counters.iteration,
        .steps = d->counters.steps,
        .policy_loss = f->policy_loss / n,
        .value_loss = f->value_loss / n,
        .entropy_loss = f->entropy_loss / n,
        .loss = f->loss / n,
        .old_kl = f->old_kl / n,
        .kl = f->kl / n,
        .clip_fraction = f->clip_fraction / n,
        .explained_variance = f->explained_variance,
        .grad_norm = f->grad_norm / n,
        .learning_rate = rates->learning_rate,
        .clip_range = rates->clip_range,
        .ent_coef = rates->ent_coef,
        .std = f->std,
        .seconds_rollout = result->seconds_rollout,
        .seconds_advantage = result->seconds_advantage,
        .seconds_update = result->seconds_update,
        .minibatches = (int64_t)f->minibatches,
        .skipped = (int64_t)f->skipped,
        .skipped_total = d->counters.skipped_total,
        .epochs = (int)f->epochs,
        .kl_stop = f->kl_stop != 0,
        .episodes = (int64_t)f->episodes,
        .episode_return = mean,
        .episode_length = f->length_sum / f->episodes,
        .episode_return_std = sqrt(fmax(f->return_squares / f->episodes - mean * mean, 0)),
        .reward = f->reward_sum / rows,
    };
    if (!(f->episodes > 0))
        ret->episode_return = ret->episode_length = ret->episode_return_std = NAN;
}

static void pass_notice(struct device_learner *d)
{
    const char *notice = d->api->notice(d->on_device);
    if (d->noticed || notice[0] == '\0')
        return;
    d->noticed = true;
    if (d->learner.warned)
        d->learner.warned(d->learner.warned_ctx, notice);
}

static void rolled(void *ctx)
{
    learner_enters(ctx, PPO_UPDATE);
}

static int iterate(struct learner *learner, struct ppo_update *ret, char err[static PPO_ERROR_MAX])
{
    struct device_learner *d = device_of(learner);
    const struct ppo_params *params = &learner->params;
    const double progress = (double)d->counters.steps / (double)params->total_steps;
    const struct kernel_rates rates = {.learning_rate = ppo_learning_rate(params, progress),
                                       .clip_range = ppo_clip_range(params, progress),
                                       .ent_coef = ppo_ent_coef(params, progress)};
    struct gpu_ppo_result result;
    learner_enters(learner, PPO_ROLLOUT);
    int r = d->normal ? 0 : rehearse(d, &rates, err);
    const uint64_t before = d->api->waits(d->on_device) + d->waits_env;
    if (r == 0)
        r = d->api->iterate(d->on_device, &rates, false, learner->entered ? rolled : NULL, learner, &result,
                            err, PPO_ERROR_MAX);
    if (r == 0)
        r = check_actions(d, err);
    pass_notice(d);
    if (r < 0)
        return r;
    d->waits += d->api->waits(d->on_device) + d->waits_env - before;
    d->counters.skipped_total += (int64_t)result.figures.skipped;
    if (result.figures.lost_finals)
        return env_refuse(-EIO, err,
                          "rollout: %u episodes were cut short beyond what episodes of at least %u "
                          "steps can be",
                          result.figures.lost_finals, ppo_shortest_episode(d->env));
    if (result.figures.bad)
        return env_refuse(-EDOM, err,
                          "update: loss or gradients of %d minibatches in a row were not finite: a lower "
                          "learning_rate, normalise_rewards, or rewards that are numbers would be right",
                          params->bad_updates);
    if (d->settled < SETTLED && ++d->settled == SETTLED && d->share)
        gpu_share_took(d->share, 0); /* the driver's part too */
    d->counters.iteration++;
    d->counters.steps += (int64_t)params->copies * params->steps;
    report(d, &rates, &result, ret);
    return 0;
}

/* ---- life ---- */

static size_t bytes(const struct learner *learner)
{
    const struct device_learner *d = device_of(learner);
    return d->api->bytes(d->on_device) + env_device_bytes(d->env) + env_device_market_bytes(d->env) +
           d->driver_bytes;
}

static void destroy(struct learner *learner)
{
    struct device_learner *d = device_of(learner);
    if (d->on_device)
        d->api->destroy(d->on_device);
    env_device_destroy(d->device);
    free(d);
}

int ppo_learner_layout(const struct ppo_params *params, const struct env *env, struct net_layout *ret,
                       char err[static PPO_ERROR_MAX])
{
    const struct env_params *e = &env->view.params;
    struct net_shape shape = params->net;
    char reason[NET_ERROR_MAX];
    if (e->autoreset != ENV_SAME_STEP)
        return env_refuse(-EINVAL, err, "autoreset: same_step is right for training");
    if (env_copies(env) != (size_t)params->copies)
        return env_refuse(-EINVAL, err, "copies: %d: the environment has %zu", params->copies,
                          env_copies(env));
    shape.observation = env_observation_size(env);
    shape.actions = env_action_size(env);
    shape.levels = e->actions == ENV_DISCRETE ? e->levels : 0;
    int r = policy_net_layout_init(ret, &shape, reason);
    return r < 0 ? env_refuse(r, err, "%s", reason) : 0;
}

int ppo_learner_create_device(const struct ppo_params *params, struct gpu_module *module,
                              struct env_device_market *market, struct env *env, struct learner **ret,
                              char err[static PPO_ERROR_MAX])
{
    struct learner_room room;
    int r = ppo_params_check(params, err);
    if (r == 0)
        r = ppo_learner_check_device(params, module, env, true, false, &room, err);
    return r == 0 ? ppo_learner_create_checked(params, module, market, env, &room, ret, err) : r;
}

/* The environment's copies, then the learner. */
static int make_on_device(struct device_learner *d, struct gpu_module *module,
                          struct env_device_market *market, char err[static PPO_ERROR_MAX])
{
    struct gpu_ppo_setup setup = {.params = &d->learner.params,
                                  .layout = &d->learner.layout,
                                  .shortest_episode = ppo_shortest_episode(d->env),
                                  .step = queue_step};
    char reason[ENV_ERROR_MAX];
    int r = env_device_create(market, d->env, &d->device, reason);
    if (r == 0)
        r = env_device_buffers(d->device, &setup.io, &setup.stream, reason);
    if (r < 0)
        return env_refuse(r, err, "%s", reason);
    setup.io.masks = NULL;
    setup.ctx = d->device;
    r = d->api->create(gpu_module_handle(module), &setup, &d->on_device, err, PPO_ERROR_MAX);
    return r == 0 ? ppo_device_begin(d, err) : r;
}

int ppo_learner_create_checked(const struct ppo_params *params, struct gpu_module *module,
                               struct env_device_market *market, struct env *env,
                               const struct learner_room *room, struct learner **ret,
                               char err[static PPO_ERROR_MAX])
{
    const void *api;
    const char *why;
    int r = gpu_module_table(module, GPU_PPO_SYMBOL, GPU_PPO_ABI, &api, err, PPO_ERROR_MAX);
    if (r < 0)
        return r;
    struct device_learner *d = calloc(1, sizeof(*d));
    if (!d)
        return env_refuse(-ENOMEM, err, "learner: out of memory");
    snprintf(d->backend, sizeof(d->backend), "cuda: %s", gpu_module_device(module));
    d->ops = (struct learner_ops){d->backend,          iterate, ppo_device_save, ppo_device_load,
                                  ppo_device_snapshot, bytes,   destroy};
    d->learner.ops = &d->ops;
    d->learner.params = *params;
    d->api = api;
    d->env = env;
    d->share = gpu_module_share(module, &why);
    d->normal = !params->normalise_observations;
    r = ppo_learner_layout(params, env, &d->learner.layout, err);
    d->learner.params.net = d->learner.layout.shape;
    if (r == 0)
        r = make_on_device(d, module, market, err);
    if (r < 0) {
        ppo_learner_destroy(&d->learner);
        return r;
    }
    d->driver_bytes = room->all - ppo_learner_bytes_device(params, &d->learner.layout, env);
    if (d->share)
        gpu_share_took(d->share, room->driver);
    *ret = &d->learner;
    return 0;
}

uint32_t ppo_shortest_episode(const struct env *env)
{
    const struct env_view *view = &env->view;
    int64_t least = INT32_MAX;
    for (int32_t i = 0; i < view->market.n_blocks; i++) {
        const struct env_block *block = &view->market.blocks[i];
        int64_t rows = view->params.episode_bars ? view->params.episode_bars : block->to - block->from;
        if (env_block_starts(view, block) > 0)
            least = rows < least ? rows : least;
    }
    for (size_t copy = 0; copy < view->state.copies && view->market.n_blocks == 0; copy++) {
        int64_t first = view->starts ? view->starts[copy] : view->params.start;
        int64_t rows = view->lengths ? view->lengths[copy] : view->params.episode_bars;
        if (rows == 0)
            rows = (int64_t)view->market.rows - first;
        least = rows < least ? rows : least;
    }
    least -= 2 * (int64_t)view->params.lookback;
    return least > 1 ? (uint32_t)least : 1;
}

uint64_t ppo_learner_device_waits(const struct learner *l)
{
    return device_of(l)->waits;
}

int ppo_learner_device_matrix_rate(struct learner *l, int rounds, double *ret_flop_per_s,
                                   char err[static PPO_ERROR_MAX])
{
    struct device_learner *d = device_of(l);
    return d->api->matrix_rate(d->on_device, rounds, ret_flop_per_s, err, PPO_ERROR_MAX);
}

size_t ppo_learner_device_products(const struct learner *l, struct queue_record *ret, size_t n)
{
    const struct device_learner *d = device_of(l);
    return d->api->products(d->on_device, ret, n);
}

int ppo_learner_device_product_seconds(struct learner *l, int id, int rounds, double *ret,
                                       char err[static PPO_ERROR_MAX])
{
    struct device_learner *d = device_of(l);
    return d->api->product_seconds(d->on_device, id, rounds, ret, err, PPO_ERROR_MAX);
}

int ppo_learner_device_fetch(struct learner *l, int array, void *ret, size_t bytes,
                             char err[static PPO_ERROR_MAX])
{
    struct device_learner *d = device_of(l);
    return d->api->fetch(d->on_device, (enum gpu_ppo_array)array, ret, bytes, err, PPO_ERROR_MAX);
}
