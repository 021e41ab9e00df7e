#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "trainer/env/refusal.h"
#include "trainer/env/state.h"
#include "trainer/ppo/cpu/internal.h"

static void run_place(void *data, size_t first, size_t end)
{
    struct cpu_learner *l = data;
    (void)end;
    l->running(l, (int)(first / ENV_LANES));
}

void ppo_cpu_run(struct cpu_learner *l, cpu_work *work)
{
    l->running = work;
    env_pool_run(l->pool, (size_t)l->threads * ENV_LANES, run_place, l); /* a block of lanes each */
}

/* A rollout for the first statistics of observations; everything else that it changed is restored. */
static int rehearse(struct cpu_learner *l)
{
    void *before = malloc(l->world.state_bytes(l->world.ctx));
    if (!before)
        return env_refuse(-ENOMEM, l->err, "rehearsal: no memory for the world's state");
    l->world.save(l->world.ctx, before);
    int rc = ppo_cpu_rollout(l);
    if (rc == 0)
        rc = l->world.load(l->world.ctx, before, l->err);
    free(before);
    if (rc < 0)
        return rc;
    memset(l->state, 0, l->copies * l->hidden * sizeof *l->state);
    ppo_cpu_sums_merge(l);
    ppo_cpu_normaliser_set(l);
    return 0;
}

static double mean_std(const struct cpu_learner *l)
{
    const struct net_layout *layout = &l->learner.layout;
    if (layout->log_std < 0)
        return NAN;
    const struct net_tensor *tensor = &layout->tensors[layout->log_std];
    double sum = 0;
    for (int i = 0; i < tensor->cols; i++)
        sum += exp(l->params[tensor->offset + (size_t)i]);
    return sum / tensor->cols;
}

int ppo_cpu_iterate(struct learner *learner, struct ppo_update *ret, char err[static PPO_ERROR_MAX])
{
    struct cpu_learner *l = (struct cpu_learner *)learner;
    struct ppo_update update = {0};
    int rc = 0;
    const double begin = clock_now_s();
    learner_enters(learner, PPO_ROLLOUT);
    if (learner->params.normalise_observations && l->counters.iteration == 0)
        rc = rehearse(l);
    if (rc == 0)
        rc = ppo_cpu_rollout(l);
    if (rc < 0)
        return env_refuse(rc, err, "%s", l->err);
    const double rolled = clock_now_s();
    learner_enters(learner, PPO_UPDATE);
    ppo_cpu_advantages(l, &update);
    const double judged = clock_now_s();
    rc = ppo_cpu_update(l, &update);
    if (learner->params.normalise_observations) {
        ppo_cpu_sums_merge(l);
        ppo_cpu_normaliser_set(l);
    }
    if (rc < 0)
        return env_refuse(rc, err,
                          "update: loss or gradients of %d minibatches in a row were not finite: a lower "
                          "learning_rate, normalise_rewards, or rewards that are numbers would be right",
                          learner->params.bad_updates);
    l->counters.iteration++;
    l->counters.steps += (int64_t)l->rows;
    update.iteration = l->counters.iteration;
    update.steps = l->counters.steps;
    update.skipped_total = l->counters.skipped_total;
    update.std = mean_std(l);
    update.seconds_rollout = rolled - begin;
    update.seconds_advantage = judged - rolled;
    update.seconds_update = clock_now_s() - judged;
    *ret = update;
    return 0;
}

int ppo_cpu_snapshot(struct learner *learner, const struct ppo_snapshot *ret, char err[static PPO_ERROR_MAX])
{
    const struct cpu_learner *l = (const struct cpu_learner *)learner;
    (void)err;
    memcpy(ret->params, l->params, learner->layout.n_params * sizeof *ret->params);
    memcpy(ret->mean, l->mean, l->observation * sizeof *ret->mean);
    memcpy(ret->scale, l->scale, l->observation * sizeof *ret->scale);
    return 0;
}
