/* For pruner_oracle.py: each line of stdin is a study, options of a pruner and the number of a trial, as
 * JSON; prints for each 0 or 1, and the attributes that the pruner leaves on the trial. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/study/pruner.h"

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct study_attribute *)a)->key, ((const struct study_attribute *)b)->key);
}

static void read_trial(const json_t *json, struct study_trial *trial)
{
    const json_t *reports = json_object_get(json, "reports"), *system = json_object_get(json, "system");
    json_t *value;
    const char *key, *state = json_string_value(json_object_get(json, "state"));
    for (int i = 0; i < TRIAL_STATES; i++)
        if (strcmp(state, study_trial_state_name((enum trial_state)i)) == 0)
            trial->state = (enum trial_state)i;
    trial->reports = calloc(json_array_size(reports) + 1, sizeof *trial->reports);
    for (size_t i = 0; i < json_array_size(reports); i++) {
        json_t *report = json_array_get(reports, i);
        trial->reports[trial->n_reports++] =
            (struct trial_report){json_integer_value(json_array_get(report, 0)),
                                  strtod(json_string_value(json_array_get(report, 1)), NULL)};
    }
    trial->system = calloc(json_object_size(system) + 1, sizeof *trial->system);
    json_object_foreach((json_t *)system, key, value) trial->system[trial->n_system++] =
        (struct study_attribute){(char *)key, (char *)json_string_value(value)};
    qsort(trial->system, (size_t)trial->n_system, sizeof *trial->system, by_key);
}

static struct pruner_options read_options(const json_t *json)
{
    enum pruner_kind kind = PRUNER_NONE;
    json_int_t value;
    if (!pruner_parse(json_string_value(json_object_get(json, "kind")), &kind))
        exit(EXIT_FAILURE);
    struct pruner_options options = pruner_defaults(kind);
#define READ(name) \
    if (json_unpack((json_t *)json, "{s:I}", #name, &value) == 0) \
    options.name = (__typeof__(options.name))value
    READ(n_startup_trials);
    READ(n_min_trials);
    READ(n_warmup_steps);
    READ(interval_steps);
    READ(min_resource);
    READ(max_resource);
    READ(reduction_factor);
    READ(min_early_stopping_rate);
    READ(bootstrap_count);
#undef READ
    return options;
}

static void judge(const json_t *json)
{
    const json_t *trials = json_object_get(json, "trials");
    struct study study = {.n_objectives = 1, .n_trials = (int)json_array_size(trials)};
    struct study_trial *room = calloc((size_t)study.n_trials, sizeof *room);
    struct pruner_verdict verdict = {0};
    study.name = (char *)json_string_value(json_object_get(json, "name"));
    study.directions[0] = json_is_true(json_object_get(json, "maximize")) ? STUDY_MAXIMIZE : STUDY_MINIMIZE;
    study.trials = calloc((size_t)study.n_trials, sizeof *study.trials);
    for (int i = 0; i < study.n_trials; i++) {
        study.trials[i] = &room[i];
        room[i].number = i;
        read_trial(json_array_get(trials, (size_t)i), &room[i]);
    }
    const struct pruner_options options = read_options(json_object_get(json, "options"));
    int number = (int)json_integer_value(json_object_get(json, "number"));
    if (pruner_judge(&options, &study, number, &verdict) < 0)
        exit(EXIT_FAILURE);
    printf("%d %d", verdict.prune, pruner_bracket(&options, &study, number));
    for (int i = 0; i < verdict.n_marks; i++)
        printf(" %s=%s", verdict.marks[i].key, verdict.marks[i].json);
    putchar('\n');
    for (int i = 0; i < study.n_trials; i++) {
        free(room[i].reports);
        free(room[i].system);
    }
    free(room);
    free(study.trials);
}

int main(void)
{
    json_t *json;
    while ((json = json_loadf(stdin, JSON_DISABLE_EOF_CHECK, NULL)) != NULL) {
        judge(json);
        json_decref(json);
    }
    return EXIT_SUCCESS;
}
