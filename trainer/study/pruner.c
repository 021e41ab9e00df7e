#include "trainer/study/pruner.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[PRUNERS] = {"none", "median", "asha", "hyperband"};

const char *pruner_name(enum pruner_kind kind)
{
    return names[kind];
}

bool pruner_parse(const char *name, enum pruner_kind *ret)
{
    for (int kind = 0; kind < PRUNERS; kind++)
        if (strcmp(name, names[kind]) == 0) {
            *ret = (enum pruner_kind)kind;
            return true;
        }
    return false;
}

struct pruner_options pruner_defaults(enum pruner_kind kind)
{
    return (struct pruner_options){
        .kind = kind,
        .n_startup_trials = 5,
        .n_min_trials = 1,
        .interval_steps = 1,
        .min_resource = kind == PRUNER_HYPERBAND ? 1 : 0,
        .reduction_factor = kind == PRUNER_HYPERBAND ? 3 : 4,
    };
}

int pruner_check(const struct pruner_options *options, const char **ret_key, const char **ret_words)
{
    const struct pruner_options *o = options;
    bool median = o->kind == PRUNER_MEDIAN, asha = o->kind == PRUNER_ASHA, band = o->kind == PRUNER_HYPERBAND;
    const struct {
        bool wrong;
        const char *key, *words;
    } rules[] = {
        {median && o->n_startup_trials < 0, "pruner_n_startup_trials", "0 or more is right"},
        {median && o->n_warmup_steps < 0, "pruner_n_warmup_steps", "0 or more is right"},
        {median && o->interval_steps < 1, "pruner_interval_steps", "1 or more is right"},
        {median && o->n_min_trials < 1, "pruner_n_min_trials", "1 or more is right"},
        {asha && o->min_resource < 0, "pruner_min_resource", "1 or more, or 0 for auto, is right"},
        {band && o->min_resource < 1, "pruner_min_resource", "1 or more is right for hyperband"},
        {band && o->max_resource < 0, "pruner_max_resource", "1 or more, or 0 for auto, is right"},
        {band && o->max_resource > 0 && o->max_resource < o->min_resource, "pruner_max_resource",
         "at least pruner_min_resource, or 0, is right"},
        {o->reduction_factor < 2 && o->reduction_factor != 0, "pruner_reduction_factor",
         "2 or more, or 0, is right"},
        {asha && o->min_early_stopping_rate < 0, "pruner_min_early_stopping_rate", "0 or more is right"},
        {o->bootstrap_count < 0, "pruner_bootstrap_count", "0 or more is right"},
        {asha && o->bootstrap_count > 0 && o->min_resource == 0, "pruner_bootstrap_count",
         "0 is right with an automatic pruner_min_resource"},
        {band && o->bootstrap_count > 0 && o->max_resource == 0, "pruner_bootstrap_count",
         "0 is right with an automatic pruner_max_resource"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong) {
            *ret_key = rules[i].key;
            *ret_words = rules[i].words;
            return -EINVAL;
        }
    return 0;
}

/* numpy.nanpercentile(values, 50) to the bit: beside an infinity it interpolates to NaN, also where the
 * middle itself is a number. */
static double median_of(double *values, size_t n)
{
    if (n == 0)
        return NAN;
    qsort(values, n, sizeof *values, pruner_ascending);
    size_t before = (n - 1) / 2, after = n > 1 ? before + 1 : before;
    double low = values[before], apart = values[after] - low;
    if (n == 1)
        return values[0] - apart * 0;
    return n % 2 == 0 ? values[after] - apart * 0.5 : low + apart * 0;
}

/* Is this the first report within the interval that the last step is in? */
static bool first_in_interval(const struct pruner_options *options, const struct study_trial *trial)
{
    int64_t step = pruner_last_step(trial), warm = options->n_warmup_steps, every = options->interval_steps;
    int64_t second = trial->n_reports > 1 ? trial->reports[trial->n_reports - 2].step : -1;
    return (second > -1 ? second : -1) < (step - warm) / every * every + warm;
}

/* What COMPLETE trials reported at the step: *ret_n `values` without NaN, *ret_reported with. Returns the
 * number of COMPLETE trials. */
static int complete_at(const struct study *study, int64_t step, double *values, size_t *ret_n,
                       int *ret_reported)
{
    int complete = 0;
    *ret_n = 0, *ret_reported = 0;
    for (int i = 0; i < study->n_trials; i++) {
        const struct study_trial *trial = study->trials[i];
        if (trial->state != TRIAL_COMPLETE)
            continue;
        complete++;
        const struct trial_report *report = study_trial_report(trial, step);
        *ret_reported += report != NULL;
        if (report && !isnan(report->value))
            values[(*ret_n)++] = report->value;
    }
    return complete;
}

static int judge_median(const struct pruner_options *options, const struct study *study,
                        const struct study_trial *trial, struct pruner_verdict *ret)
{
    double *values = malloc(((size_t)study->n_trials + 1) * sizeof *values), best = NAN;
    size_t n;
    int reported;
    if (!values)
        return -ENOMEM;
    int complete = complete_at(study, pruner_last_step(trial), values, &n, &reported);
    if (complete > 0 && complete >= options->n_startup_trials && trial->n_reports > 0 &&
        pruner_last_step(trial) >= options->n_warmup_steps && first_in_interval(options, trial)) {
        for (int i = 0; i < trial->n_reports; i++)
            if (isnan(best) || pruner_better(study, trial->reports[i].value, best))
                best = trial->reports[i].value;
        double middle = reported >= options->n_min_trials ? median_of(values, n) : NAN;
        ret->prune = isnan(best) || (!isnan(middle) && pruner_better(study, middle, best));
    }
    free(values);
    return 0;
}

int pruner_judge(const struct pruner_options *options, const struct study *study, int number,
                 struct pruner_verdict *ret)
{
    struct pruner_verdict verdict = {0};
    if (number < 0 || number >= study->n_trials || study->n_objectives != 1)
        return -EINVAL;
    const struct study_trial *trial = study->trials[number];
    int r = options->kind == PRUNER_MEDIAN      ? judge_median(options, study, trial, &verdict)
            : options->kind == PRUNER_ASHA      ? pruner_judge_asha(options, study, trial, &verdict)
            : options->kind == PRUNER_HYPERBAND ? pruner_judge_hyperband(options, study, trial, &verdict)
                                                : 0;
    if (r == 0)
        *ret = verdict;
    return r;
}
