#include "trainer/training/measure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "exchange/fail.h"
#include "trainer/telemetry/usage.h"
#include "trainer/training/make.h"

/* Measured iterations take about this long together, of processors, if that is possible with their steps: few
 * long ones, or as many as that needs; by the clock at most so long, on a busy machine. The environment is
 * measured separately. */
#define MEASURE_S     0.7
#define PATIENCE_S    3.0
#define ENVIRONMENT_S 0.05
enum { ITERATIONS = 7, ITERATIONS_MAX = 256 };

#define say(err, code, words) fail_with(code, err, SOURCE_ERROR_MAX, "%s", words)

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
int training_measure_environment(const struct ppo_world *world, double *ret_step_s,
                                 char err[static SOURCE_ERROR_MAX])
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

/* Seconds of one iteration. */
struct iteration {
    double rollout_s, advantages_s, update_s; /* by the clock */
    double cpu_rollout_s, cpu_rest_s;         /* rest: advantages and update */
    int64_t minibatches;
};

static double by_clock(const struct iteration *it)
{
    return it->rollout_s + it->advantages_s + it->update_s;
}

static double by_processor(const struct iteration *it)
{
    return it->cpu_rollout_s + it->cpu_rest_s;
}

static int compare_clock(const void *a, const void *b)
{
    double left = by_clock(a), right = by_clock(b);
    return (left > right) - (left < right);
}

/* Where the processor's clock stood when a phase was entered. */
static void enter(void *ctx, enum ppo_phase phase)
{
    double *entered = ctx;
    entered[phase] = telemetry_usage_now().cpu_s;
}

static int iterate(struct learner *learner, struct iteration *ret, char err[static SOURCE_ERROR_MAX])
{
    struct ppo_update update;
    double entered[2] = {0};
    ppo_learner_watch(learner, enter, entered);
    int r = ppo_learner_iterate(learner, &update, err);
    ppo_learner_watch(learner, NULL, NULL);
    if (r == 0)
        *ret = (struct iteration){update.seconds_rollout,
                                  update.seconds_advantage,
                                  update.seconds_update,
                                  entered[PPO_UPDATE] - entered[PPO_ROLLOUT],
                                  telemetry_usage_now().cpu_s - entered[PPO_UPDATE],
                                  update.minibatches};
    return r;
}

/* Medians by the clock, which other processes stretch; means of processor seconds, which add up to the whole.
 * The first iteration is not among `all`. */
static void summarise(struct iteration *all, int n, const struct iteration *first, struct training_times *ret)
{
    double rollout_s = 0, rest_s = 0, advantages_s = 0, update_s = 0;
    for (int i = 0; i < n; i++) {
        rollout_s += all[i].cpu_rollout_s / n;
        rest_s += all[i].cpu_rest_s / n;
        advantages_s += all[i].advantages_s;
        update_s += all[i].update_s;
    }
    ret->cpu_rollout_s = rollout_s;
    ret->cpu_advantages_s = rest_s * advantages_s / (advantages_s + update_s);
    ret->cpu_update_s = rest_s - ret->cpu_advantages_s;
    ret->cpu_first_s = fmax(by_processor(first) - rollout_s - rest_s, 0);
    qsort(all, (size_t)n, sizeof *all, compare_clock);
    ret->rollout_s = all[n / 2].rollout_s;
    ret->advantages_s = all[n / 2].advantages_s;
    ret->update_s = all[n / 2].update_s;
    ret->minibatches = all[n / 2].minibatches;
}

/* Have `n` iterations, which took so long, been enough? */
static bool is_enough(int n, double clock_s, double processor_s, bool on_device)
{
    return n >= ITERATIONS && (clock_s >= PATIENCE_S || (on_device ? clock_s : processor_s) >= MEASURE_S);
}

/* A learner of `steps` a rollout; `iterations` at most. */
static int time_learner(const struct training_source *source, const struct ppo_params *whole, int steps,
                        int iterations, struct training_times *ret, char err[static SOURCE_ERROR_MAX])
{
    struct ppo_params params = *whole;
    struct making making = {0};
    struct iteration first, all[ITERATIONS_MAX];
    double clock_s = 0, processor_s = 0;
    bool on_device = false;
    int n = 0;
    params.steps = steps;
    params.epochs = 1;
    params.target_kl = 0;
    params.learning_rate = 0;
    const struct usage started = telemetry_usage_now();
    int r = training_making_begin(source, &params, true, NULL, NULL, &making, err);
    const double made = telemetry_usage_since(&started).cpu_s;
    if (r == 0)
        r = iterate(making.learner, &first, err);
    on_device = training_making_on_device(&making);
    for (; r == 0 && n < iterations && !is_enough(n, clock_s, processor_s, on_device); n++)
        if ((r = iterate(making.learner, &all[n], err)) == 0) {
            clock_s += by_clock(&all[n]);
            processor_s += by_processor(&all[n]);
        }
    if (r == 0) {
        *ret = (struct training_times){.cpu_making_s = made, .steps = steps, .on_device = on_device};
        snprintf(ret->backend, sizeof ret->backend, "%s", making.learner->ops->backend);
        summarise(all, n, &first, ret);
    }
    training_making_end(&making);
    return r;
}

int training_measure_least_steps(const struct ppo_params *params)
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

int training_measure_learner(const struct training_source *source, const struct ppo_params *params,
                             struct training_times *ret, char err[static SOURCE_ERROR_MAX])
{
    const int steps = training_measure_least_steps(params);
    struct training_times times;
    int r = time_learner(source, params, steps, 1, &times, err);
    if (r < 0)
        return r;
    const int more = more_steps(params, steps, times.rollout_s + times.advantages_s + times.update_s);
    if (more > steps || times.rollout_s + times.advantages_s + times.update_s < MEASURE_S / ITERATIONS)
        r = time_learner(source, params, more, ITERATIONS_MAX, &times, err);
    if (r == 0)
        *ret = times;
    return r;
}
