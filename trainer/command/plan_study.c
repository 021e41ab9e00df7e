#include "trainer/command/plan_study.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "exchange/fail.h"
#include "trainer/command/args.h"
#include "trainer/command/plan_study_show.h"
#include "trainer/study/axis.h"
#include "trainer/telemetry/usage.h"

enum { STEPS_PLACES = 60 };

/* The place on each range, on the axis that it is drawn on: 0.5 its middle, 1 its upper end; of choices the
 * middle one, or the largest number. */
static double value_at(const struct distribution *distribution, double place)
{
    const struct axis axis = study_axis_of(distribution);
    double largest = -INFINITY, value = study_axis_value(&axis, axis.low + (axis.high - axis.low) * place);
    if (distribution->kind != DISTRIBUTION_CATEGORICAL || place < 1)
        return value;
    for (int i = 0; i < distribution->n_choices; i++) {
        const json_t *choice = json_array_get(distribution->choices, (size_t)i);
        if (json_is_number(choice) && json_number_value(choice) > largest) {
            largest = json_number_value(choice);
            value = i;
        }
    }
    return value;
}

/* A trial there, with a worker's share of the machine. */
static int take_trial(const struct study_prediction *p, double place, struct train_config *ret,
                      char err[static PLAN_ERROR_MAX])
{
    const struct space *space = &p->settings->space;
    char why[CONFIG_ERROR_MAX];
    double *values = calloc((size_t)space->n + 1, sizeof *values);
    if (!values)
        return fail_with(-ENOMEM, err, PLAN_ERROR_MAX, "out of memory: plan");
    for (int i = 0; i < space->n; i++)
        values[i] = value_at(&space->params[i].distribution, place);
    int r = study_settings_apply(p->config, space, values, ret, why);
    free(values);
    if (r < 0)
        return fail_with(r, err, PLAN_ERROR_MAX, "%s", why);
    trainer_study_machine_share(&p->machine, p->workers, &ret->ppo);
    return 0;
}

/* Times are in proportion to total_steps, so where these are searched their mean counts, not their middle:
 * over places on its axis, which are evenly likely. `median` becomes the trial with that many. */
static int take_mean_steps(const struct study_prediction *p, struct train_config *median,
                           char err[static PLAN_ERROR_MAX])
{
    const struct space *space = &p->settings->space;
    struct space steps = {.n = 1};
    struct train_config *at = malloc(sizeof *at);
    char why[CONFIG_ERROR_MAX];
    const int found = space_find(space, "total_steps");
    double mean = 0;
    int r = at ? 0 : fail_with(-ENOMEM, err, PLAN_ERROR_MAX, "out of memory: plan");
    if (found >= 0)
        steps.params = &space->params[found];
    for (int i = 0; found >= 0 && i < STEPS_PLACES && r == 0; i++) {
        const double value = value_at(&steps.params->distribution, (i + 0.5) / STEPS_PLACES);
        r = study_settings_apply(median, &steps, &value, at, why);
        if (r < 0)
            fail_with(r, err, PLAN_ERROR_MAX, "%s", why);
        else
            mean += (double)at->ppo.total_steps / STEPS_PLACES;
    }
    if (r == 0 && found >= 0)
        median->ppo.total_steps = llround(mean);
    free(at);
    return r;
}

/* Seconds at the workers' pace. A device's share of the workers may run one after the other, or all at once.
 */
static void add_up(struct study_prediction *p)
{
    const struct study_cost *cost = &p->cost;
    const double trials = p->settings->trials, splits = p->settings->split.combinations,
                 devices = p->machine.n_devices > 0 ? p->machine.n_devices : 1,
                 least = (double)p->trainings * cost->training.device_time.least_s / p->workers,
                 most = (double)p->trainings * cost->training.device_time.most_s / devices;
    const double trial_s = splits * (cost->training.seconds + cost->market_s + cost->test_s) +
                           cost->refitted * cost->fit_s + cost->returns_s;
    p->parts = study_cost_parts(cost, p->settings, p->opened_s);
    p->cpu_s = study_cost_total(&p->parts);
    p->seconds = p->parts.opening_s + trials * trial_s / plan_study_workers_here(p) + p->parts.judging_s +
                 p->parts.proposal_s +
                 p->settings->ensemble * (cost->training.seconds - cost->training.cpu_s);
    if (p->seconds < p->cpu_s / p->machine.cores) /* more workers than cores */
        p->seconds = p->cpu_s / p->machine.cores;
    p->device_time = (struct device_time){least, most > least ? most : least};
}

/* A trial's of this process's memory, without the bars that all workers share. */
static size_t own_bytes(const struct plan *plan, size_t bars)
{
    return plan->host_bytes > bars ? plan->host_bytes - bars : 0;
}

/* Of a worker: of the largest trial, or, where that has fewer copies there, which may hold less than a
 * smaller trial, its whole share. */
static size_t most_device_bytes(const struct study_prediction *p)
{
    const size_t median = p->cost.training.device_bytes, largest = p->cost.largest.device_bytes;
    if (p->cost.largest.fit == PLAN_NO_DEVICE)
        return 0;
    if (p->cost.largest.fit != PLAN_FITS)
        return plan_study_share_bytes(p);
    return largest > median ? largest : median;
}

static void add_bytes(const struct study_market *market, struct study_prediction *p)
{
    const struct plan *median = &p->cost.training, *largest = &p->cost.largest;
    const size_t bars = study_market_bars_bytes(market), each = p->cost.each_bytes,
                 shared = p->host_bytes + p->cost.kept_bytes, n = (size_t)p->workers;
    const size_t own = own_bytes(median, bars), most = own_bytes(largest, bars);
    p->host_bytes = shared + n * (own + each);
    p->most_host_bytes = shared + n * ((most > own ? most : own) + each);
    p->device_bytes = n * most_device_bytes(p);
}

static int measure(const struct study_market *market, struct study_prediction *p,
                   char err[static PLAN_ERROR_MAX])
{
    const struct learner_memory memory = ppo_learner_memory(p->args->device_memory);
    const struct plan_options options = {.sizes_only = p->args->rows,
                                         .memory = p->args->device_memory > 0 ? &memory : NULL};
    int r = take_trial(p, 0.5, p->median, err);
    if (r == 0)
        r = take_mean_steps(p, p->median, err);
    if (r == 0)
        r = take_trial(p, 1, p->largest, err);
    if (r == 0)
        r = study_cost_measure(market, p->median, p->largest, &options, &p->cost, err);
    if (r < 0)
        return r;
    add_bytes(market, p);
    add_up(p);
    return 0;
}

/* A backtest of the middle of what is searched, of a study of a strategy: twice, since the first also reads
 * bars into memory. Where that contradicts itself its time is not known. */
static int measure_rules(const struct study_market *market, struct study_prediction *p,
                         char err[static PLAN_ERROR_MAX])
{
    const struct space *space = &p->settings->space;
    char why[TRIAL_ERROR_MAX];
    double *values = calloc((size_t)space->n + 1, sizeof *values), cpu_s = 0;
    struct trial_outcome *outcome = malloc(sizeof *outcome);
    int r = values && outcome ? 0 : fail_with(-ENOMEM, err, PLAN_ERROR_MAX, "out of memory: plan");
    for (int i = 0; i < space->n && r == 0; i++)
        values[i] = value_at(&space->params[i].distribution, 0.5);
    for (int i = 0; i < 2 && r == 0; i++) {
        const double before_s = telemetry_usage_now().cpu_s;
        r = study_rules_trial(market, space, values, NULL, NULL, outcome, why);
        cpu_s = telemetry_usage_now().cpu_s - before_s;
        if (r == -ENOMEM)
            snprintf(err, PLAN_ERROR_MAX, "%s", why);
    }
    free(outcome);
    free(values);
    if (r < 0)
        return r == -ENOMEM ? r : 0;
    p->cpu_s = p->opened_s + p->settings->trials * cpu_s;
    p->seconds = p->opened_s + p->settings->trials * cpu_s /
                                   (p->workers < p->machine.cores ? p->workers : p->machine.cores);
    return 0;
}

static void find_machine(struct study_prediction *p)
{
    trainer_study_machine_find(p->config, &p->machine);
    if (p->args->device_memory > 0 && p->config->ppo.device != PPO_CPU)
        p->machine.n_devices = p->args->devices > 0 ? (int)p->args->devices : 1;
}

static int predict(const struct study_market *market, struct study_prediction *p,
                   char err[static PLAN_ERROR_MAX])
{
    study_market_fit(market, &p->demand, &p->fit);
    const bool trains = !p->settings->rules.strategy;
    p->trainings = trains ? (int64_t)p->settings->trials * p->settings->split.combinations : 0;
    p->seconds = p->cpu_s = NAN;
    p->device_time = (struct device_time){NAN, NAN};
    find_machine(p);
    p->workers = trainer_study_machine_workers(&p->machine, p->settings, 0, study_market_each_bytes(market),
                                               p->settings->trials);
    p->host_bytes = telemetry_usage_rss();
    if (!trains)
        return p->args->rows ? 0 : measure_rules(market, p, err);
    if (p->args->rows && p->machine.n_devices == 0 && p->args->device_memory == 0)
        return 0;
    p->median = malloc(sizeof *p->median);
    p->largest = malloc(sizeof *p->largest);
    return p->median && p->largest ? measure(market, p, err)
                                   : fail_with(-ENOMEM, err, PLAN_ERROR_MAX, "out of memory: plan");
}

static int print_json(const struct study_prediction *p)
{
    json_t *json = trainer_plan_study_json(p);
    int r = json && json_dumpf(json, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) == 0 &&
                    putchar('\n') == '\n'
                ? EXIT_SUCCESS
                : trainer_args_say(EXIT_FAILURE, "cannot write: stdout: a file or a reader");
    json_decref(json);
    return r;
}

int trainer_plan_study(const struct option_call *call, const struct train_args *args,
                       const struct train_config *config, struct study_settings *settings)
{
    const struct study_market_options rows = {.rows_only = true};
    struct study_market *market = NULL;
    struct study_prediction *p = calloc(1, sizeof *p);
    char err[PLAN_ERROR_MAX];
    int r = p ? study_market_open(config, settings, &rows, &market, err)
              : fail_with(-ENOMEM, err, PLAN_ERROR_MAX, "out of memory: plan");
    if (r == 0) {
        p->config = config;
        p->args = args;
        p->settings = settings;
        p->opened_s = telemetry_usage_now().cpu_s;
        r = predict(market, p, err);
    }
    int status = r < 0 ? trainer_args_say(EXIT_FAILURE, "%s", err) : EXIT_SUCCESS;
    if (r == 0 && call->json)
        status = print_json(p);
    else if (r == 0)
        trainer_plan_study_print(p);
    study_market_close(market);
    if (p) {
        free(p->median);
        free(p->largest);
    }
    free(p);
    return status;
}
