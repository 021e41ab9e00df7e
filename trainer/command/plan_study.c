#include "trainer/command/plan_study.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "exchange/fail.h"
#include "record/json.h"
#include "trainer/command/args.h"
#include "trainer/command/plan.h"
#include "trainer/command/study_machine.h"
#include "trainer/command/train_events.h"
#include "trainer/study/axis.h"
#include "trainer/study/trial.h"
#include "trainer/telemetry/usage.h"
#include "trainer/training/plan.h"

#define MIB 1048576.0

struct prediction {
    const struct train_config *config;
    const struct study_settings *settings;
    struct study_demand demand;
    struct study_fit fit;
    struct study_machine machine;
    struct train_config *median; /* the training that was measured, with a worker's share of the machine;
                                  * NULL: nothing is measured */
    struct plan training;
    int workers;
    int64_t trainings; /* of all trials, without pruning; the proposal's is not one of them */
    double seconds;    /* theirs, at the workers' pace */
    size_t host_bytes, device_bytes;
};

/* The middle of each range, on the axis that it is drawn on; of choices the middle one. */
static int take_median(const struct train_config *config, const struct study_settings *settings,
                       struct train_config *ret, char err[static CONFIG_ERROR_MAX])
{
    const struct space *space = &settings->space;
    double *values = calloc((size_t)space->n + 1, sizeof *values);
    if (!values)
        return fail_with(-ENOMEM, err, CONFIG_ERROR_MAX, "out of memory: plan");
    for (int i = 0; i < space->n; i++) {
        const struct axis axis = study_axis_of(&space->params[i].distribution);
        values[i] = study_axis_value(&axis, axis.low + (axis.high - axis.low) / 2);
    }
    int r = study_settings_apply(config, space, values, ret, err);
    free(values);
    return r;
}

/* A training of the median, on a worker's share of the machine. */
static int measure(struct prediction *ret, char err[static PLAN_ERROR_MAX])
{
    struct training_source source = {0};
    char why[CONFIG_ERROR_MAX];
    int r = take_median(ret->config, ret->settings, ret->median, why);
    if (r < 0)
        return fail_with(r, err, PLAN_ERROR_MAX, "%s", why);
    trainer_study_machine_share(&ret->machine, ret->workers, &ret->median->ppo);
    r = training_source_load(ret->median, true, &source, err);
    if (r == 0)
        r = training_source_features(&source, err);
    const size_t shared = r == 0 ? training_source_bytes(&source) : 0;
    if (r == 0)
        r = training_plan_make(&source, &ret->median->ppo, false, &ret->training, err);
    training_source_close(&source);
    if (r < 0)
        return r;
    const struct plan *plan = &ret->training;
    size_t own = plan->host_bytes > shared ? plan->host_bytes - shared : 0;
    ret->host_bytes += (size_t)ret->workers * own;
    ret->device_bytes = (size_t)ret->workers * plan->device_bytes;
    ret->seconds = plan->seconds * (double)ret->trainings / ret->workers;
    return 0;
}

static int predict(struct study_market *market, struct prediction *ret, char err[static PLAN_ERROR_MAX])
{
    study_market_fit(market, &ret->demand, &ret->fit);
    ret->trainings = (int64_t)ret->settings->trials * ret->settings->split.combinations;
    ret->seconds = NAN;
    trainer_study_machine_find(ret->config, &ret->machine);
    ret->workers = trainer_study_machine_workers(&ret->machine, ret->settings, 0,
                                                 study_market_each_bytes(market), ret->settings->trials);
    ret->host_bytes = (size_t)telemetry_usage_rss() + (size_t)ret->workers * study_market_each_bytes(market);
    return ret->median ? measure(ret, err) : 0;
}

/* ---- Text. ---- */

static size_t length(struct split_rows rows)
{
    return rows.to - rows.from;
}

static void print_extent(const char *what, struct study_extent extent)
{
    printf("%s%zu", what, extent.least);
    if (extent.most != extent.least)
        printf(" to %zu", extent.most);
}

static void print_rows(const struct prediction *p)
{
    const struct study_demand *demand = &p->demand;
    const struct study_fit *fit = &p->fit;
    printf(
        "  %zu rows: %zu to search on, %zu held out, %zu between them; warm-up %zu, lookback %zu at each end\n",
        demand->rows, length(fit->search), length(fit->holdout), fit->gap, demand->first, demand->lookback);
    print_extent("  trained on ", fit->train);
    print_extent(" rows a split, in blocks of ", fit->block);
    print_extent("; tested on blocks of ", fit->test);
    printf("\n  an episode needs %zu rows in a row: the split with the shortest has %zu\n", fit->needed,
           fit->longest);
}

static void print_text(const struct prediction *p)
{
    const struct study_split *split = &p->settings->split;
    char text[STUDY_SPLIT_TEXT_MAX];
    printf("%s: a study of %d trials, %s: %d splits, %d path%s\n", p->config->name, p->settings->trials,
           study_split_text(split, text), split->combinations, split->paths, split->paths == 1 ? "" : "s");
    print_rows(p);
    if (!p->median)
        return;
    printf("  a training of the median of what is searched: %lld steps at %.0f steps/s, ",
           (long long)p->median->ppo.total_steps, p->training.steps_s);
    trainer_plan_print_time(p->training.seconds);
    printf(", %s\n  ", p->training.backend);
    trainer_plan_print_time(p->seconds);
    printf(" in all, without pruning: %lld trainings, %d worker%s\n", (long long)p->trainings, p->workers,
           p->workers == 1 ? "" : "s");
    printf("  memory: %.0f MiB", (double)p->host_bytes / MIB);
    if (p->device_bytes > 0)
        printf(", on the device %.0f MiB", (double)p->device_bytes / MIB);
    putchar('\n');
}

/* ---- JSON. ---- */

static json_t *extent_json(struct study_extent extent)
{
    return json_pack("{s:I, s:I}", "least", (json_int_t)extent.least, "most", (json_int_t)extent.most);
}

static json_t *rows_json(const struct prediction *p)
{
    const struct study_demand *demand = &p->demand;
    const struct study_fit *fit = &p->fit;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "rows",
                     (json_int_t)demand->rows, "warm_up", (json_int_t)demand->first, "lookback",
                     (json_int_t)demand->lookback, "search", (json_int_t)length(fit->search), "holdout",
                     (json_int_t)length(fit->holdout), "between", (json_int_t)fit->gap, "purge",
                     (json_int_t)demand->purge, "embargo", (json_int_t)demand->embargo, "episode_needs",
                     (json_int_t)fit->needed, "episode_has", (json_int_t)fit->longest, "train",
                     extent_json(fit->train), "train_block", extent_json(fit->block), "test_block",
                     extent_json(fit->test));
}

/* null without a measurement. */
static json_t *bytes_json(const struct prediction *p, size_t bytes)
{
    return p->median ? json_integer((json_int_t)bytes) : json_null();
}

static int print_json(const struct prediction *p)
{
    const struct study_split *split = &p->settings->split;
    char text[STUDY_SPLIT_TEXT_MAX];
    json_t *training = p->median ? trainer_plan_json(&p->training, p->median) : json_null();
    json_t *json =
        json_pack("{s:s, s:s, s:i, s:i, s:s, s:i, s:i, s:i, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
                  "papertape.study-plan/1", "name", p->config->name, "trials", p->settings->trials,
                  "searched", p->settings->space.n, "validation", study_split_text(split, text), "splits",
                  split->combinations, "paths", split->paths, "workers", p->workers, "trainings",
                  (json_int_t)p->trainings, "seconds", record_json_real(p->seconds), "hours",
                  record_json_real(p->seconds / 3600), "host_bytes", bytes_json(p, p->host_bytes),
                  "device_bytes", bytes_json(p, p->device_bytes), "rows", rows_json(p), "training", training);
    int r = json && json_dumpf(json, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) == 0 &&
                    putchar('\n') == '\n'
                ? EXIT_SUCCESS
                : trainer_args_say(EXIT_FAILURE, "cannot write: stdout: a file or a reader");
    json_decref(json);
    return r;
}

int trainer_plan_study(const struct option_call *call, bool rows_only, const struct train_config *config,
                       struct study_settings *settings)
{
    const struct study_market_options rows = {.rows_only = true};
    struct study_market *market = NULL;
    struct prediction prediction = {.config = config, .settings = settings};
    char err[PLAN_ERROR_MAX];
    prediction.median = rows_only ? NULL : malloc(sizeof *prediction.median);
    int r = rows_only || prediction.median ? study_market_open(config, settings, &rows, &market, err)
                                           : fail_with(-ENOMEM, err, PLAN_ERROR_MAX, "out of memory: plan");
    if (r == 0)
        r = predict(market, &prediction, err);
    int status = r < 0 ? trainer_args_say(EXIT_FAILURE, "%s", err) : EXIT_SUCCESS;
    if (r == 0 && call->json)
        status = print_json(&prediction);
    else if (r == 0)
        print_text(&prediction);
    study_market_close(market);
    free(prediction.median);
    return status;
}
