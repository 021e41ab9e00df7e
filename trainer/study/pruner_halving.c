#include "trainer/study/pruner.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "db/studies/python_float.h"

bool pruner_better(const struct study *study, double a, double b)
{
    return study->directions[0] == STUDY_MAXIMIZE ? a > b : a < b;
}

int64_t pruner_last_step(const struct study_trial *trial)
{
    return trial->n_reports ? trial->reports[trial->n_reports - 1].step : -1;
}

int pruner_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The largest last step of the COMPLETE trials; -1: none reported. */
static int64_t longest(const struct study *study)
{
    int64_t most = -1;
    for (int i = 0; i < study->n_trials; i++)
        if (study->trials[i]->state == TRIAL_COMPLETE && pruner_last_step(study->trials[i]) > most)
            most = pruner_last_step(study->trials[i]);
    return most;
}

/* ---- Hyperband's brackets ---- */

enum { BRACKETS_MAX = 64 };

struct brackets {
    int n;                                          /* 0: unknown yet, or the maximum is below the minimum */
    unsigned __int128 budgets[BRACKETS_MAX], total; /* trials of each, by weight */
};

/* The logarithm is rounded as Optuna's: log(243) / log(3) is less than 5. */
static struct brackets brackets(const struct pruner_options *options, const struct study *study)
{
    struct brackets brackets = {0};
    int factor = options->reduction_factor ? options->reduction_factor : 3;
    int64_t most = options->max_resource ? options->max_resource : longest(study) + 1;
    if (most <= 0)
        return brackets;
    double share = (double)most / (double)options->min_resource;
    int n = (int)floor(log(share) / log((double)factor)) + 1;
    brackets.n = n < 0 ? 0 : n > BRACKETS_MAX ? BRACKETS_MAX : n;
    for (int id = 0; id < brackets.n; id++) {
        int s = brackets.n - 1 - id;
        unsigned __int128 whole = (unsigned __int128)brackets.n;
        for (int i = 0; i < s; i++)
            whole *= (unsigned __int128)factor;
        brackets.budgets[id] = (unsigned __int128)ceil((double)whole / (double)(s + 1));
        brackets.total += brackets.budgets[id];
    }
    return brackets;
}

static int bracket_of(const struct brackets *brackets, const struct study *study, int number)
{
    char name[STUDY_NAME_MAX + 16];
    int length = snprintf(name, sizeof name, "%s_%d", study->name, number), id = 0;
    if (brackets->n == 0)
        return -1;
    unsigned __int128 at = crc32(0, (const unsigned char *)name, (unsigned)length) % brackets->total;
    for (; id < brackets->n - 1 && at >= brackets->budgets[id]; id++)
        at -= brackets->budgets[id];
    return id;
}

int pruner_bracket(const struct pruner_options *options, const struct study *study, int number)
{
    const struct brackets all = brackets(options, study);
    return bracket_of(&all, study, number);
}

/* ---- successive halving ---- */

struct halving {
    int64_t min_resource;
    int factor, rate, bootstrap;
    const struct brackets *brackets; /* NULL: all trials compete */
    int bracket;
};

static int64_t times(int64_t a, int64_t b) /* both positive; saturates */
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* The worst value among the promising share of those that reached the rung. */
static double promotable(const struct study *study, double *values, size_t n, int factor)
{
    size_t index = n / (size_t)factor > 0 ? n / (size_t)factor - 1 : 0;
    qsort(values, n, sizeof *values, pruner_ascending);
    return study->directions[0] == STUDY_MAXIMIZE ? values[n - 1 - index] : values[index];
}

/* Values that trials reported at the rung, into `values`; how many. */
static size_t competing(const struct halving *halving, const struct study *study, const char *key,
                        double *values)
{
    size_t n = 0;
    for (int i = 0; i < study->n_trials; i++) {
        const struct study_trial *trial = study->trials[i];
        const struct study_attribute *mark = study_attribute_find(trial->system, trial->n_system, key);
        char *end;
        if (!mark || (halving->brackets && bracket_of(halving->brackets, study, i) != halving->bracket))
            continue;
        double value = strtod(mark->json, &end);
        if (end != mark->json && *end == '\0' && !isnan(value))
            values[n++] = value;
    }
    return n;
}

static int judge_halving(const struct halving *halving, const struct study *study,
                         const struct study_trial *trial, struct pruner_verdict *ret)
{
    char key[32];
    int rung = 0;
    if (trial->n_reports == 0)
        return 0;
    double value = trial->reports[trial->n_reports - 1].value;
    double *values = malloc(((size_t)study->n_trials + 1) * sizeof *values);
    if (!values)
        return -ENOMEM;
    for (; snprintf(key, sizeof key, "completed_rung_%d", rung),
           study_attribute_find(trial->system, trial->n_system, key);
         rung++)
        ;
    int64_t until = halving->min_resource;
    for (int i = 0; i < halving->rate + rung && until < INT64_MAX; i++)
        until = times(until, halving->factor);
    for (; !ret->prune && pruner_last_step(trial) >= until && ret->n_marks < PRUNER_MARKS_MAX; rung++) {
        ret->prune = isnan(value);
        if (ret->prune)
            break;
        struct pruner_mark *mark = &ret->marks[ret->n_marks++];
        snprintf(mark->key, sizeof mark->key, "completed_rung_%d", rung);
        study_python_float_text(value, mark->json);
        size_t n = competing(halving, study, mark->key, values);
        values[n++] = value;
        ret->prune = n <= (size_t)halving->bootstrap ||
                     pruner_better(study, promotable(study, values, n, halving->factor), value);
        until = times(until, halving->factor);
    }
    free(values);
    return 0;
}

int pruner_judge_asha(const struct pruner_options *options, const struct study *study,
                      const struct study_trial *trial, struct pruner_verdict *ret)
{
    struct halving halving = {options->min_resource,
                              options->reduction_factor ? options->reduction_factor : 4,
                              options->min_early_stopping_rate,
                              options->bootstrap_count,
                              NULL,
                              0};
    if (halving.min_resource == 0) {
        int64_t most = longest(study);
        if (most < 0)
            return 0;
        halving.min_resource = most / 100 > 1 ? most / 100 : 1;
    }
    return judge_halving(&halving, study, trial, ret);
}

int pruner_judge_hyperband(const struct pruner_options *options, const struct study *study,
                           const struct study_trial *trial, struct pruner_verdict *ret)
{
    const struct brackets all = brackets(options, study);
    int bracket = bracket_of(&all, study, trial->number);
    struct halving halving = {options->min_resource,
                              options->reduction_factor ? options->reduction_factor : 3,
                              bracket,
                              options->bootstrap_count,
                              &all,
                              bracket};
    return bracket < 0 ? 0 : judge_halving(&halving, study, trial, ret);
}
