#include "tests/trainer/ppo/learn/learned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/fatal.h"

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void take_model(struct learner *learner, struct learned *ret)
{
    char err[PPO_ERROR_MAX];
    const size_t n = (size_t)learner->layout.shape.observation;
    struct ppo_snapshot snapshot = {fatal_calloc(learner->layout.n_params, sizeof(float)),
                                    fatal_calloc(n, sizeof(float)), fatal_calloc(n, sizeof(float))};
    if (ppo_learner_snapshot(learner, &snapshot, err) < 0)
        fatal("snapshot: %s", err);
    ret->layout = learner->layout;
    int r = policy_net_model_create(&ret->layout, snapshot.params, snapshot.mean, snapshot.scale,
                                    (float)learner->params.clip_observations, NET_BEST, &ret->model);
    if (r == 0)
        r = policy_net_memory_create(ret->model, &ret->memory);
    if (r < 0)
        fatal("model: error %d", -r);
    free(snapshot.params);
    free(snapshot.mean);
    free(snapshot.scale);
}

void learned_train(const struct ppo_params *params, const struct ppo_world *world, struct learned *ret)
{
    char err[PPO_ERROR_MAX];
    struct learner *learner;
    double started = now_s();
    if (params->net.recurrent)
        fatal("recurrent networks are not played here");
    if (ppo_learner_create_cpu(params, world, &learner, err) < 0)
        fatal("learner: %s", err);
    do {
        if (ppo_learner_iterate(learner, &ret->last, err) < 0)
            fatal("update: %s", err);
    } while (ret->last.steps < params->total_steps);
    if (ret->last.skipped_total > 0)
        fatal("%lld minibatches were skipped", (long long)ret->last.skipped_total);
    take_model(learner, ret);
    ppo_learner_destroy(learner);
    ret->seconds = now_s() - started;
}

void learned_finish(struct learned *learned)
{
    policy_net_memory_destroy(learned->memory);
    policy_net_model_destroy(learned->model);
}

void learned_act(const struct learned *learned, const float *observation, float *ret)
{
    policy_net_model_act(learned->model, learned->memory, observation, ret);
}

double learned_value(const struct learned *learned, const float *observation)
{
    return (double)policy_net_model_value(learned->model, learned->memory, observation);
}

void learned_play(const struct learned *learned, const struct ppo_world *world, double *ret_returns)
{
    const size_t copies = world->copies, observation = (size_t)world->observation;
    const size_t actions = (size_t)world->actions;
    float *obs = fatal_calloc(2 * copies * observation, sizeof *obs),
          *acts = fatal_calloc(copies * actions, sizeof *acts);
    float *rewards = fatal_calloc(copies, sizeof *rewards);
    uint8_t *flags = fatal_calloc(3 * copies, 1), *over = flags + 2 * copies;
    const struct env_io io = {.actions = acts,
                              .rewards = rewards,
                              .terminated = flags,
                              .truncated = flags + copies,
                              .final_obs = obs + copies * observation};
    for (size_t i = 0; i < copies; i++)
        ret_returns[i] = 0;
    for (size_t left = copies; left > 0;) {
        char err[ENV_ERROR_MAX];
        world->observe(world->ctx, obs);
        for (size_t i = 0; i < copies; i++)
            if (!over[i]) /* else it repeats its last action, which is not counted */
                learned_act(learned, obs + i * observation, acts + i * actions);
        if (world->step(world->ctx, &io, err) < 0)
            fatal("play: %s", err);
        for (size_t i = 0; i < copies; i++) {
            if (over[i])
                continue;
            ret_returns[i] += (double)rewards[i];
            over[i] = io.terminated[i] || io.truncated[i];
            left -= over[i];
        }
    }
    free(obs);
    free(acts);
    free(rewards);
    free(flags);
}

double mean_of(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

double deviation_of(const double *values, size_t n)
{
    double mean = mean_of(values, n), squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
}
