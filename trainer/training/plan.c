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
#include "trainer/training/measure.h"

/* Operations of the shortest rollout's update that a plan for another machine measures here: some seconds. */
#define PLANNED_FLOPS 2e11
#define MIB           1048576.0

/* What a plan is made from. */
struct planning {
    const struct training_source *source;
    const struct ppo_params *wanted;
    const struct plan_options *options;
    struct ppo_params params; /* with the copies and the backend that are predicted */
    struct net_layout layout;
    double cpu_bytes; /* of a training on the CPU */
};

/* ---- Sizes. ---- */

static void take_note(void *ctx, const char *words)
{
    snprintf(ctx, PLAN_NOTE_MAX, "%s", words);
}

static int predict(struct planning *planning, struct plan *plan, char err[static PLAN_ERROR_MAX])
{
    const struct plan_options *options = planning->options;
    const struct ppo_params *wanted = planning->wanted;
    struct learner_prediction predicted = {0};
    int r = training_making_predict(planning->source, wanted, options->all_copies, options->memory, take_note,
                                    plan->note, &predicted, err);
    if (r < 0)
        return r;
    planning->params = *wanted;
    planning->params.copies = plan->copies = predicted.copies;
    if (planning->source->market && (predicted.device_bytes == 0 || options->memory))
        planning->params.device = PPO_CPU;
    plan->device_bytes = predicted.device_bytes;
    plan->of = predicted.of;
    plan->device_total = predicted.total;
    plan->device_memory = options->memory ? options->memory->total : 0;
    plan->fit = predicted.device_bytes == 0          ? predicted.lacks_memory ? PLAN_NOT : PLAN_NO_DEVICE
                : predicted.copies == wanted->copies ? PLAN_FITS
                                                     : PLAN_FEWER;
    return 0;
}

static void count(const struct ppo_params *params, const struct net_layout *layout, struct plan *plan)
{
    struct ppo_work work = ppo_work_of(layout);
    plan->rows = (int64_t)params->copies * params->steps;
    plan->minibatches = plan->rows / params->minibatch * params->epochs;
    plan->iterations = (params->total_steps + plan->rows - 1) / plan->rows;
    plan->flops_rollout = work.rollout * (double)plan->rows;
    plan->flops_update = work.update * (double)(plan->minibatches * params->minibatch);
}

/* And *ret_bytes of one copy of its world. */
static int shape_of(const struct training_source *source, const struct ppo_params *params,
                    struct net_layout *ret, size_t *ret_bytes, char err[static PLAN_ERROR_MAX])
{
    struct net_shape shape = params->net;
    struct ppo_world world;
    int r = training_source_world(source, 1, &world, err);
    if (r < 0)
        return r;
    shape.observation = world.observation;
    shape.actions = world.actions;
    shape.levels = world.levels;
    *ret_bytes = world.state_bytes(world.ctx);
    ppo_world_destroy(&world);
    return policy_net_layout_init(ret, &shape, err);
}

int training_plan_layout(const struct training_source *source, const struct ppo_params *params,
                         struct net_layout *ret, char err[static PLAN_ERROR_MAX])
{
    size_t bytes;
    return shape_of(source, params, ret, &bytes, err);
}

static int find_sizes(struct planning *planning, struct plan *plan, char err[static PLAN_ERROR_MAX])
{
    const struct ppo_params *params = &planning->params;
    size_t copy;
    int r = shape_of(planning->source, params, &planning->layout, &copy, err);
    if (r < 0)
        return r;
    const size_t learner = ppo_learner_bytes_cpu(params, &planning->layout);
    const double host = (double)training_source_bytes(planning->source) + (double)copy * params->copies;
    planning->cpu_bytes = host + (double)learner;
    plan->host_bytes = (size_t)host + (plan->device_bytes > 0 ? 0 : learner);
    count(params, &planning->layout, plan);
    return 0;
}

/* Linux overcommits memory and kills programs that then use it, so that the size is checked first. */
static int check_memory(const struct planning *planning, char err[static PLAN_ERROR_MAX])
{
    const struct ppo_params *params = &planning->params;
    double there = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (!(there > 0 && planning->cpu_bytes > there))
        return 0;
    return fail_with(
        -ENOMEM, err, PLAN_ERROR_MAX,
        "[ppo] copies: %d: with %d steps a rollout and its networks take %.0f MiB, and this machine has "
        "%.0f: fewer of either are right",
        params->copies, params->steps, planning->cpu_bytes / MIB, there / MIB);
}

/* Of what would train here; of a plan for another machine, and of what only might, it is a note. */
static int check_host(const struct planning *planning, struct plan *plan, char err[static PLAN_ERROR_MAX])
{
    const struct plan_options *options = planning->options;
    char why[PLAN_ERROR_MAX];
    int r = plan->device_bytes == 0 || options->memory ? check_memory(planning, why) : 0;
    if (r < 0 && !options->memory && !options->notes_host)
        return fail_with(r, err, PLAN_ERROR_MAX, "%s", why);
    if (r < 0)
        snprintf(plan->host_note, sizeof plan->host_note, "%.*s", PLAN_NOTE_MAX - 1, why);
    return 0;
}

/* ---- Times. ---- */

/* Scales times of a short iteration of one epoch to the configured numbers. */
static void scale(const struct ppo_params *params, const struct training_times *measured, struct plan *plan)
{
    const double rollouts = (double)params->steps / measured->steps,
                 updates = (double)plan->minibatches / (double)measured->minibatches;
    plan->rollout_s = measured->rollout_s * rollouts;
    plan->advantages_s = measured->advantages_s * rollouts;
    plan->update_s = measured->update_s * updates;
    plan->steps_s = (double)plan->rows / (plan->rollout_s + plan->advantages_s + plan->update_s);
    plan->flops_rate = plan->flops_update / plan->update_s;
    plan->seconds =
        (double)plan->iterations * (double)plan->rows / plan->steps_s +
        (params->normalise_observations ? plan->rollout_s : 0); /* the first statistics' rehearsal */
    plan->cpu_s =
        measured->cpu_making_s + measured->cpu_first_s * rollouts +
        (double)plan->iterations * ((measured->cpu_rollout_s + measured->cpu_advantages_s) * rollouts +
                                    measured->cpu_update_s * updates);
}

static int measure(struct planning *planning, struct plan *plan, char err[static PLAN_ERROR_MAX])
{
    const struct ppo_params *params = &planning->params;
    struct training_times measured;
    struct ppo_world world = {0};
    double step_s = 0;
    int r = training_source_world(planning->source, (size_t)params->copies, &world, err);
    if (r == 0)
        r = training_measure_environment(&world, &step_s, err);
    ppo_world_destroy(&world);
    if (r == 0)
        r = training_measure_learner(planning->source, params, &measured, err);
    if (r < 0)
        return r;
    if (plan->device_bytes > 0 && !planning->options->memory && !measured.on_device) {
        plan->device_bytes = 0; /* it could not be built there */
        plan->of = (struct learner_bytes){0};
        plan->fit = PLAN_NOT;
        plan->host_bytes = (size_t)planning->cpu_bytes;
    }
    scale(params, &measured, plan);
    plan->environment_s = fmin(step_s * params->steps, plan->rollout_s);
    memcpy(plan->backend, measured.backend, sizeof plan->backend);
    return 0;
}

/* Is it worth the time here, of a plan for another machine? */
static bool measures(const struct planning *planning, const struct plan *plan)
{
    const struct ppo_params *params = &planning->params;
    if (planning->options->sizes_only || plan->host_note[0])
        return false;
    if (!planning->options->memory)
        return true;
    const double rows = (double)training_measure_least_steps(params) * params->copies;
    return ppo_work_of(&planning->layout).update * rows <= PLANNED_FLOPS;
}

/* ---- All of it. ---- */

/* Explains the choice of the CPU, unless a warning did. */
static void explain(const struct planning *planning, struct plan *plan)
{
    const struct training_source *source = planning->source;
    if (plan->device_bytes > 0) {
        if (!ppo_params_get(planning->wanted, "precision", plan->precision, sizeof plan->precision))
            plan->precision[0] = '\0';
        return;
    }
    snprintf(plan->precision, sizeof plan->precision, "float32");
    if (!source->market)
        snprintf(plan->note, sizeof plan->note, "training on the CPU: the world %s is there",
                 source->config->world);
    else if (planning->wanted->device == PPO_CPU)
        snprintf(plan->note, sizeof plan->note, "training on the CPU: device = cpu");
}

static int make(struct planning *planning, struct plan *plan, char err[static PLAN_ERROR_MAX])
{
    int r = predict(planning, plan, err);
    if (r == 0)
        r = find_sizes(planning, plan, err);
    if (r == 0)
        r = check_host(planning, plan, err);
    if (r == 0 && measures(planning, plan))
        r = measure(planning, plan, err);
    if (r < 0)
        return r;
    if (plan->device_memory > 0 && plan->device_bytes > 0) {
        const int launches = ppo_learner_launches(&planning->params, &planning->layout);
        const struct device_iteration iteration = {(int64_t)launches * planning->params.steps,
                                                   plan->minibatches, plan->flops_rollout,
                                                   plan->flops_update};
        plan->device_time = training_device_time(&iteration, plan->iterations, planning->wanted->precision);
    }
    explain(planning, plan);
    return 0;
}

int training_plan_make(const struct training_source *source, const struct ppo_params *params,
                       const struct plan_options *options, struct plan *ret, char err[static PLAN_ERROR_MAX])
{
    struct usage started = telemetry_usage_now();
    struct planning *planning = malloc(sizeof *planning);
    struct plan plan = {.rollout_s = NAN,
                        .advantages_s = NAN,
                        .update_s = NAN,
                        .environment_s = NAN,
                        .flops_rate = NAN,
                        .steps_s = NAN,
                        .seconds = NAN,
                        .cpu_s = NAN,
                        .device_time = {NAN, NAN}};
    if (!planning)
        return fail_with(-ENOMEM, err, PLAN_ERROR_MAX, "out of memory: plan");
    *planning = (struct planning){.source = source, .wanted = params, .options = options};
    int r = make(planning, &plan, err);
    free(planning);
    if (r < 0)
        return r;
    plan.measured_s = telemetry_usage_since(&started).wall_s;
    *ret = plan;
    return 0;
}
