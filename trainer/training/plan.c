#include "trainer/training/plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange/fail.h"
#include "trainer/telemetry/usage.h"
#include "trainer/training/make.h"

/* Measured iterations take about this long together, if that is possible with their steps; the environment is
 * measured separately. */
#define MEASURE_S     0.7
#define ENVIRONMENT_S 0.05
enum { ITERATIONS = 7 };

#define say(err, code, words) fail_with(code, err, PLAN_ERROR_MAX, "%s", words)

/* ---- The environment alone. ---- */

/* Random actions of the kind that a policy draws at its start; of discrete ones, any level. */
static void draw(uint64_t *state, const struct ppo_world *world, float *actions)
{
    for (size_t i = 0; i < world->copies * (size_t)world->actions; i++) {
        uint64_t z = *state += 0x9e3779b97f4a7c15u; /* SplitMix64 (Steele, Lea, Flood 2014) */
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        actions[i] =
            world->levels ? (float)(z % (uint64_t)world->levels) : (float)(int64_t)(z >> 40) * 0x1p-23f - 1;
    }
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The median of as many repetitions as iterations are measured. */
static int time_environment(const struct ppo_world *world, double *ret_step_s,
                            char err[static PLAN_ERROR_MAX])
{
    size_t n = world->copies, o = (size_t)world->observation;
    float *obs = malloc(n * o * sizeof(float)), *last = malloc(n * o * sizeof(float));
    float *actions = malloc(n * (size_t)world->actions * sizeof(float)), *rewards = malloc(n * sizeof(float));
    uint8_t *ended = malloc(2 * n);
    int r = obs && last && actions && rewards && ended ? 0 : say(err, -ENOMEM, "out of memory: plan");
    uint64_t state = 1;
    int64_t steps = 0;
    double seconds = 0, step_s[ITERATIONS];
    for (int stretch = 0; stretch < ITERATIONS && r == 0;) {
        const struct env_io io = {.actions = actions,
                                  .rewards = rewards,
                                  .terminated = ended,
                                  .truncated = ended + n,
                                  .final_obs = last};
        draw(&state, world, actions);
        struct usage started = telemetry_usage_now();
        r = world->step(world->ctx, &io, err);
        world->observe(world->ctx, obs);
        seconds += telemetry_usage_since(&started).wall_s;
        steps++;
        if (seconds >= ENVIRONMENT_S / ITERATIONS) {
            step_s[stretch++] = seconds / (double)steps;
            seconds = 0;
            steps = 0;
        }
    }
    if (r == 0) {
        qsort(step_s, ITERATIONS, sizeof *step_s, ascending);
        *ret_step_s = step_s[ITERATIONS / 2];
    }
    free(obs);
    free(last);
    free(actions);
    free(rewards);
    free(ended);
    return r;
}

/* ---- The learner. ---- */

struct measured_times {
    double rollout_s, advantages_s, update_s; /* of an iteration */
    int64_t minibatches;
    bool on_device;
    char backend[64];
};

static double total(const struct measured_times *measured)
{
    return measured->rollout_s + measured->advantages_s + measured->update_s;
}

static int by_total(const void *a, const void *b)
{
    double left = total(a), right = total(b);
    return (left > right) - (left < right);
}

/* A learner of `steps` a rollout: the median iteration after a first one, which touches its memory. */
static int time_learner(const struct training_source *source, const struct ppo_params *whole, int steps,
                        int iterations, struct measured_times *ret, char err[static PLAN_ERROR_MAX])
{
    struct ppo_params params = *whole;
    struct making making = {0};
    struct ppo_update update;
    struct measured_times all[ITERATIONS];
    params.steps = steps;
    params.epochs = 1;
    params.target_kl = 0;
    params.learning_rate = 0;
    int r = training_making_begin(source, &params, true, NULL, NULL, &making, err);
    for (int i = -1; i < iterations && r == 0; i++) {
        r = ppo_learner_iterate(making.learner, &update, err);
        if (r == 0 && i >= 0)
            all[i] = (struct measured_times){update.seconds_rollout, update.seconds_advantage,
                                             update.seconds_update, .minibatches = update.minibatches};
    }
    if (r == 0) {
        qsort(all, (size_t)iterations, sizeof *all, by_total);
        *ret = all[iterations / 2];
        ret->on_device = training_making_on_device(&making);
        snprintf(ret->backend, sizeof ret->backend, "%s", making.learner->ops->backend);
    }
    training_making_end(&making);
    return r;
}

/* The fewest steps of a rollout that hold a minibatch, and whole sequences. */
static int least_steps(const struct ppo_params *params)
{
    int unit = params->net.recurrent > 0 ? params->sequence : 1;
    int64_t steps = ((int64_t)params->minibatch + params->copies - 1) / params->copies;
    steps = (steps + unit - 1) / unit * unit;
    return (int)(steps < params->steps ? steps : params->steps);
}

/* The number of steps that fills MEASURE_S. */
static int more_steps(const struct ppo_params *params, int least, double seconds)
{
    double times = MEASURE_S / ITERATIONS / seconds;
    if (times < 2)
        return least;
    return times * least < params->steps ? (int)times * least : params->steps;
}

/* Scales times of an iteration of `steps` to the configured number. */
static void scale(const struct ppo_params *params, const struct measured_times *measured, int steps,
                  struct plan *plan)
{
    double times = (double)params->steps / steps;
    plan->rollout_s = measured->rollout_s * times;
    plan->advantages_s = measured->advantages_s * times;
    plan->update_s = measured->update_s / (double)measured->minibatches * (double)plan->minibatches;
    plan->steps_s = (double)plan->rows / (plan->rollout_s + plan->advantages_s + plan->update_s);
}

static void count(const struct ppo_params *params, const struct net_layout *layout, struct plan *plan)
{
    struct ppo_work work = ppo_work_of(layout);
    plan->copies = params->copies;
    plan->rows = (int64_t)params->copies * params->steps;
    plan->minibatches = plan->rows / params->minibatch * params->epochs;
    plan->iterations = (params->total_steps + plan->rows - 1) / plan->rows;
    plan->flops_rollout = work.rollout * (double)plan->rows;
    plan->flops_update = work.update * (double)(plan->minibatches * params->minibatch);
}

static int shape_of(const struct ppo_params *params, const struct ppo_world *world, struct net_layout *ret,
                    char err[static PLAN_ERROR_MAX])
{
    struct net_shape shape = params->net;
    shape.observation = world->observation;
    shape.actions = world->actions;
    shape.levels = world->levels;
    return policy_net_layout_init(ret, &shape, err);
}

static void take_note(void *ctx, const char *words)
{
    snprintf(ctx, PLAN_NOTE_MAX, "%s", words);
}

/* Explains the choice of the CPU, unless a warning did. */
static void explain(const struct training_source *source, const struct ppo_params *wanted, bool on_device,
                    struct plan *plan)
{
    if (on_device) {
        if (!ppo_params_get(wanted, "precision", plan->precision, sizeof plan->precision))
            plan->precision[0] = '\0';
        return;
    }
    snprintf(plan->precision, sizeof plan->precision, "float32");
    if (!source->market)
        snprintf(plan->note, sizeof plan->note, "training on the CPU: the world %s is there",
                 source->config->world);
    else if (wanted->device == PPO_CPU)
        snprintf(plan->note, sizeof plan->note, "training on the CPU: device = cpu");
}

/* From one copy of the world: Linux overcommits memory and kills programs that then use it, so that the size
 * is checked first. */
static int check_memory(const struct training_source *source, const struct ppo_params *params,
                        struct net_layout *layout, char err[static PLAN_ERROR_MAX])
{
    struct ppo_world world;
    int r = training_source_world(source, 1, &world, err);
    if (r < 0)
        return r;
    r = shape_of(params, &world, layout, err);
    double copy = (double)world.state_bytes(world.ctx);
    ppo_world_destroy(&world);
    if (r < 0)
        return r;
    double wanted = (double)training_source_bytes(source) + copy * params->copies +
                    (double)ppo_learner_bytes_cpu(params, layout);
    double there = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (!(there > 0 && wanted > there))
        return 0;
    return fail_with(
        -ENOMEM, err, PLAN_ERROR_MAX,
        "[ppo] copies: %d: with %d steps a rollout and its networks take %.1f GB, and this machine has "
        "%.1f: fewer of either are right",
        params->copies, params->steps, wanted * 1e-9, there * 1e-9);
}

int training_plan_make(const struct training_source *source, const struct ppo_params *wanted, bool all_copies,
                       struct plan *ret, char err[static PLAN_ERROR_MAX])
{
    struct ppo_params params = *wanted;
    struct learner_prediction predicted = {0};
    struct usage started = telemetry_usage_now();
    struct ppo_world world = {0};
    struct net_layout *layout = malloc(sizeof *layout);
    struct plan plan = {0};
    struct measured_times measured = {0};
    int r = layout ? 0 : say(err, -ENOMEM, "out of memory: plan");
    double step_s = 0;
    if (r == 0)
        r = training_making_predict(source, &params, all_copies, NULL, take_note, plan.note, &predicted, err);
    if (r == 0) {
        params.copies = predicted.copies;
        if (source->market && predicted.device_bytes == 0)
            params.device = PPO_CPU;
    }
    if (r == 0 && predicted.device_bytes == 0)
        r = check_memory(source, &params, layout, err);
    int steps = least_steps(&params);
    if (r == 0)
        r = training_source_world(source, (size_t)params.copies, &world, err);
    if (r == 0)
        r = shape_of(&params, &world, layout, err);
    if (r == 0) {
        plan.host_bytes = world.state_bytes(world.ctx);
        r = time_environment(&world, &step_s, err);
    }
    ppo_world_destroy(&world);
    if (r == 0)
        r = time_learner(source, &params, steps, 1, &measured, err);
    int more = r == 0 ? more_steps(&params, steps, total(&measured)) : steps;
    if (r == 0 && more > steps)
        r = time_learner(source, &params, steps = more, ITERATIONS, &measured, err);
    if (r == 0) {
        count(&params, layout, &plan);
        plan.host_bytes += training_source_bytes(source);
        if (measured.on_device)
            plan.device_bytes = predicted.device_bytes;
        else
            plan.host_bytes += ppo_learner_bytes_cpu(&params, layout);
    }
    free(layout);
    if (r < 0)
        return r;
    scale(&params, &measured, steps, &plan);
    plan.environment_s = fmin(step_s * params.steps, plan.rollout_s);
    plan.flops_rate = plan.flops_update / plan.update_s;
    plan.seconds = (double)plan.iterations * (double)plan.rows / plan.steps_s +
                   (params.normalise_observations ? plan.rollout_s : 0); /* the first statistics' rehearsal */
    memcpy(plan.backend, measured.backend, sizeof plan.backend);
    explain(source, wanted, measured.on_device, &plan);
    plan.measured_s = telemetry_usage_since(&started).wall_s;
    *ret = plan;
    return 0;
}
