#include "trainer/training/evaluate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "trainer/training/episode.h"

static int no_memory(char err[static SOURCE_ERROR_MAX])
{
    return fail_with(-ENOMEM, err, SOURCE_ERROR_MAX, "out of memory: evaluation");
}

/* ---- A market. ---- */

static void take(const struct env_market *market, const struct training_episode *episode,
                 struct evaluation *ret)
{
    double steps = (double)episode->n;
    size_t last = episode->n - 1;
    *ret = (struct evaluation){.reward = episode->reward,
                               .steps = (int64_t)episode->n,
                               .episodes = 1,
                               .from_ns = env_market_open_ns(market, episode->first),
                               .to_ns = env_market_open_ns(market, episode->first + episode->n),
                               .initial = episode->capital,
                               .equity = episode->equity[last],
                               .benchmark = episode->benchmark[last],
                               .fees = episode->fees,
                               .drawdown = episode->drawdown,
                               .exposure = (double)episode->exposed / steps,
                               .invested = episode->invested / steps,
                               .buys = (int64_t)episode->buys,
                               .sells = (int64_t)episode->sells};
}

static int evaluate_market(const struct training_source *source, enum source_part part,
                           const struct net_model *model, const struct training_watch *watch,
                           struct evaluation *ret, char err[static SOURCE_ERROR_MAX])
{
    const struct env_market *market = source->judging[part].market;
    struct env *env = NULL;
    struct training_episode episode;
    struct evaluation found;
    int r = training_source_test_env(source, part, &env, err);
    if (r < 0)
        return r;
    const struct training_play play = {.env = env,
                                       .market = market,
                                       .execution = source->config->env.execution,
                                       .steps_max = env_market_view(market)->rows,
                                       .model = model,
                                       .calls = watch ? watch->calls : NULL};
    r = training_episode_play(&play, &episode, err);
    env_destroy(env);
    if (r < 0)
        return r;
    take(market, &episode, &found);
    if (part == SOURCE_TEST)
        r = training_episode_verdict(&episode, &found.verdict);
    if (r < 0)
        no_memory(err);
    else
        *ret = found;
    if (r == 0 && watch)
        *watch->episode = episode;
    else
        training_episode_finish(&episode);
    return r;
}

/* ---- Worlds that are built in: the first episode of each copy. ---- */

struct walkers {
    size_t n, left;
    struct ppo_world world;
    struct net_memory **memories; /* [n]; of a policy without a recurrent state, one */
    float *obs, *actions, *rewards, *last;
    uint8_t *terminated, *truncated;
    double *sum, *length;
    bool *done;
};

static void walkers_finish(struct walkers *walkers)
{
    for (size_t i = 0; i < walkers->n && walkers->memories; i++)
        policy_net_memory_destroy(walkers->memories[i]);
    free(walkers->memories);
    free(walkers->obs);
    free(walkers->actions);
    free(walkers->rewards);
    free(walkers->last);
    free(walkers->terminated);
    free(walkers->truncated);
    free(walkers->sum);
    free(walkers->length);
    free(walkers->done);
    ppo_world_destroy(&walkers->world);
}

static bool walkers_init(struct walkers *walkers, const struct net_layout *layout,
                         const struct net_model *model)
{
    size_t n = walkers->n, o = (size_t)layout->shape.observation, a = (size_t)layout->shape.actions;
    walkers->memories = calloc(n, sizeof(struct net_memory *));
    walkers->obs = malloc(n * o * sizeof(float));
    walkers->last = malloc(n * o * sizeof(float));
    walkers->actions = calloc(n * a, sizeof(float));
    walkers->rewards = malloc(n * sizeof(float));
    walkers->terminated = malloc(n);
    walkers->truncated = malloc(n);
    walkers->sum = calloc(n, sizeof(double));
    walkers->length = calloc(n, sizeof(double));
    walkers->done = calloc(n, sizeof(bool));
    if (!walkers->memories || !walkers->obs || !walkers->last || !walkers->actions || !walkers->rewards ||
        !walkers->terminated || !walkers->truncated || !walkers->sum || !walkers->length || !walkers->done)
        return false;
    for (size_t i = 0; i < (layout->hidden > 0 ? n : 1); i++)
        if (policy_net_memory_create(model, &walkers->memories[i]) < 0)
            return false;
    walkers->left = n;
    return true;
}

static int walkers_step(struct walkers *walkers, const struct net_layout *layout,
                        const struct net_model *model, char err[static SOURCE_ERROR_MAX])
{
    size_t o = (size_t)layout->shape.observation, a = (size_t)layout->shape.actions;
    walkers->world.observe(walkers->world.ctx, walkers->obs);
    for (size_t i = 0; i < walkers->n; i++)
        if (!walkers->done[i])
            policy_net_model_act(model, walkers->memories[layout->hidden > 0 ? i : 0], walkers->obs + i * o,
                                 walkers->actions + i * a);
    const struct env_io io = {.actions = walkers->actions,
                              .rewards = walkers->rewards,
                              .terminated = walkers->terminated,
                              .truncated = walkers->truncated,
                              .final_obs = walkers->last};
    int r = walkers->world.step(walkers->world.ctx, &io, err);
    for (size_t i = 0; i < walkers->n && r == 0; i++) {
        if (walkers->done[i])
            continue;
        walkers->sum[i] += (double)walkers->rewards[i];
        walkers->length[i] += 1;
        walkers->done[i] = walkers->terminated[i] || walkers->truncated[i];
        walkers->left -= walkers->done[i];
    }
    return r;
}

static void add_up(const struct walkers *walkers, struct evaluation *ret)
{
    double n = (double)walkers->n, mean = 0, length = 0, squares = 0;
    struct evaluation found = {
        .episodes = (int64_t)walkers->n, .reward_min = INFINITY, .reward_max = -INFINITY};
    for (size_t i = 0; i < walkers->n; i++) {
        mean += walkers->sum[i] / n;
        length += walkers->length[i];
        found.reward_min = fmin(found.reward_min, walkers->sum[i]);
        found.reward_max = fmax(found.reward_max, walkers->sum[i]);
    }
    for (size_t i = 0; i < walkers->n; i++)
        squares += (walkers->sum[i] - mean) * (walkers->sum[i] - mean);
    found.reward = mean;
    found.reward_std = sqrt(squares / n);
    found.steps = (int64_t)length;
    found.length = length / n;
    *ret = found;
}

static int evaluate_world(const struct training_source *source, const struct net_layout *layout,
                          const struct net_model *model, struct evaluation *ret,
                          char err[static SOURCE_ERROR_MAX])
{
    struct walkers walkers = {.n = (size_t)source->config->evaluate_episodes};
    int r = training_source_test_world(source, walkers.n, &walkers.world, err);
    if (r < 0)
        return r;
    if (!walkers_init(&walkers, layout, model))
        r = no_memory(err);
    while (r == 0 && walkers.left > 0)
        r = walkers_step(&walkers, layout, model, err);
    if (r == 0)
        add_up(&walkers, ret);
    walkers_finish(&walkers);
    return r;
}

int training_evaluate(const struct training_source *source, enum source_part part,
                      const struct net_layout *layout, const struct net_model *model,
                      const struct training_watch *watch, struct evaluation *ret,
                      char err[static SOURCE_ERROR_MAX])
{
    return source->market ? evaluate_market(source, part, model, watch, ret, err)
                          : evaluate_world(source, layout, model, ret, err);
}

static double growth(double equity, double initial)
{
    return initial > 0 ? equity / initial - 1 : NAN;
}

double training_return(const struct evaluation *evaluation)
{
    return growth(evaluation->equity, evaluation->initial);
}

double training_benchmark_return(const struct evaluation *evaluation)
{
    return growth(evaluation->benchmark, evaluation->initial);
}
