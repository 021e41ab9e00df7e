/* The test of a trial's policy: one episode on each block of rows. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "trainer/study/internal.h"
#include "trainer/training/episode.h"

enum { PROGRESS_STEPS = 4096 };

struct walk {
    struct study_running_trial *run;
    const struct study_trained *learnt;
    struct env *env;
    struct net_memory *memory;
    float *observation, *actions;
    struct study_tested *sums;
};

static void on_trade(void *ctx, size_t copy, const struct env_trade *trade)
{
    struct walk *walk = ctx;
    (void)copy;
    walk->sums->traded += fabs(trade->qty) * trade->price;
}

static int begin(const struct study_running_trial *run, struct env *env, struct split_rows block,
                 char err[static TRIAL_ERROR_MAX])
{
    int64_t lookback = run->config->env.lookback, start = (int64_t)block.from - lookback;
    int64_t bars = (int64_t)(block.to - block.from) + 2 * lookback;
    int r = env_windows(env, &start, &bars, err);
    if (r == 0)
        env_reset(env, NULL);
    return r;
}

static int create(const struct study_running_trial *run, const struct study_trained *learnt, struct env **ret,
                  char err[static TRIAL_ERROR_MAX])
{
    struct env_params params = run->config->env;
    const struct env_options one = {.copies = 1, .backend = ENV_SCALAR};
    training_source_test_params(&params);
    return env_create(&params, learnt->market, &one, ret, err);
}

static int play(struct walk *walk, struct split_rows block, double *returns, char err[static TRIAL_ERROR_MAX])
{
    double before, equity;
    float reward;
    uint8_t terminated = 0, truncated = 0;
    int32_t buys, sells;
    const struct env_io io = {
        .actions = walk->actions, .rewards = &reward, .terminated = &terminated, .truncated = &truncated};
    env_info(walk->env, &(struct env_info){.equity = &before});
    size_t n = 0;
    for (; n < block.to - block.from && !terminated; n++) {
        if (n % PROGRESS_STEPS == PROGRESS_STEPS - 1 && !study_continue(walk->run, 1))
            return 1;
        env_observe(walk->env, walk->observation);
        policy_net_model_act(walk->learnt->policy.model, walk->memory, walk->observation, walk->actions);
        int r = env_step(walk->env, &io, err);
        if (r < 0) /* an action is not finite, so neither are the weights */
            return r == -EINVAL ? -EDOM : r;
        env_info(walk->env, &(struct env_info){.equity = &equity});
        returns[n] = equity / before - 1;
        before = equity;
        walk->sums->level += equity;
    }
    walk->sums->steps += (int64_t)n;
    for (; n < block.to - block.from; n++)
        returns[n] = 0;
    env_info(walk->env, &(struct env_info){.buys = &buys, .sells = &sells});
    walk->sums->trades += buys + sells;
    return 0;
}

static int play_all(struct walk *walk, const struct split_rows *blocks, int n, double *returns,
                    char err[static TRIAL_ERROR_MAX])
{
    for (int i = 0; i < n; i++) {
        int r = begin(walk->run, walk->env, blocks[i], err);
        if (r == 0 && policy_net_memory_create(walk->learnt->policy.model, &walk->memory) < 0)
            r = study_error(err, -ENOMEM, "out of memory: the test");
        if (r == 0)
            r = play(walk, blocks[i], returns, err);
        policy_net_memory_destroy(walk->memory);
        walk->memory = NULL;
        if (r != 0)
            return r;
        returns += blocks[i].to - blocks[i].from;
    }
    return 0;
}

int study_evaluate(struct study_running_trial *run, const struct study_trained *learnt,
                   const struct split_rows *blocks, int n, double *returns, struct study_tested *ret,
                   char err[static TRIAL_ERROR_MAX])
{
    struct study_tested sums = {0};
    struct walk walk = {.run = run, .learnt = learnt, .sums = &sums};
    int r = create(run, learnt, &walk.env, err);
    if (r < 0)
        return r;
    walk.observation = malloc((size_t)env_observation_size(walk.env) * sizeof(float));
    walk.actions = malloc((size_t)env_action_size(walk.env) * sizeof(float));
    if (!walk.observation || !walk.actions)
        r = study_error(err, -ENOMEM, "out of memory: the test");
    if (r == 0)
        r = env_trades(walk.env, on_trade, &walk);
    if (r == 0)
        r = play_all(&walk, blocks, n, returns, err);
    free(walk.observation);
    free(walk.actions);
    env_destroy(walk.env);
    if (r == 0)
        *ret = sums;
    return r;
}

int study_judge(struct study_running_trial *run, const struct study_trained *learnt, struct split_rows block,
                struct verdict *ret, char err[static TRIAL_ERROR_MAX])
{
    struct env *env = NULL;
    struct training_episode episode = {0};
    int r = create(run, learnt, &env, err);
    if (r == 0)
        r = begin(run, env, block, err);
    const struct training_play play = {.env = env,
                                       .market = learnt->market,
                                       .execution = run->config->env.execution,
                                       .steps_max =
                                           block.to - block.from + 2 * (size_t)run->config->env.lookback,
                                       .model = learnt->policy.model};
    if (r == 0 && (r = training_episode_play(&play, &episode, err)) == -EINVAL)
        r = -EDOM; /* an action is not finite, so neither are the weights */
    if (r == 0 && training_episode_verdict(&episode, ret) < 0)
        r = study_error(err, -ENOMEM, "out of memory: the verdict");
    training_episode_finish(&episode);
    env_destroy(env);
    return r;
}
