/* Studies for another program to compare with: dump URL (all that a store holds, as JSON), copy FROM TO (all
 * studies again, written by our own calls; trials that wait must be the last of a study), distributions
 * (lines of Optuna's JSON, or its short form, become our text, or "-" and why not, and values after a tab
 * what contains() says of them), floats (lines of the bits of a float64 in hexadecimal become its text). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/python_float.h"
#include "db/studies/store.h"

static char err[STUDY_ERROR_MAX];

static void die(const char *what)
{
    fprintf(stderr, "exchange: %s: %s\n", what, err);
    exit(EXIT_FAILURE);
}

#define TRY(call) \
    do { \
        if ((call) < 0) \
            die(#call); \
    } while (0)

static json_t *double_json(double value)
{
    char text[PYTHON_FLOAT_MAX];
    study_python_float_text(value, text);
    return json_string(text);
}

static json_t *time_json(int64_t us)
{
    return us == STUDY_NO_TIME ? json_null() : json_integer(us);
}

static json_t *attributes_json(const struct study_attribute *attributes, int n)
{
    json_t *object = json_object();
    for (int i = 0; i < n; i++)
        json_object_set_new(object, attributes[i].key, json_string(attributes[i].json));
    return object;
}

static json_t *params_json(const struct study *study, const struct study_trial *trial)
{
    json_t *params = json_object();
    for (int i = 0; i < trial->n_params; i++) {
        const struct trial_param *param = &trial->params[i];
        const struct distribution *distribution = &study->distributions[param->distribution];
        char *text = distribution_text(distribution);
        json_t *external = distribution_external(distribution, param->value);
        json_object_set_new(params, study->params[param->param],
                            json_pack("{s:o,s:s,s:o}", "internal", double_json(param->value), "distribution",
                                      text, "external", external ? external : json_null()));
        free(text);
    }
    return params;
}

static json_t *trial_json(const struct study *study, const struct study_trial *trial)
{
    json_t *values = trial->values ? json_array() : json_null(), *reports = json_array();
    for (int i = 0; trial->values && i < study->n_objectives; i++)
        json_array_append_new(values, double_json(trial->values[i]));
    for (int i = 0; i < trial->n_reports; i++)
        json_array_append_new(reports, json_pack("[Io]", (json_int_t)trial->reports[i].step,
                                                 double_json(trial->reports[i].value)));
    return json_pack("{s:i,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "number", trial->number, "state",
                     study_trial_state_name(trial->state), "started_us", time_json(trial->started_us),
                     "completed_us", time_json(trial->completed_us), "heartbeat_us",
                     time_json(trial->heartbeat_us), "values", values, "reports", reports, "params",
                     params_json(study, trial), "user", attributes_json(trial->user, trial->n_user), "system",
                     attributes_json(trial->system, trial->n_system), "violation",
                     double_json(study_trial_violation(trial)));
}

static void dump(const char *url)
{
    struct study_store *store;
    struct study_summary *list;
    size_t n;
    json_t *all = json_object();
    TRY(study_store_open(url, STUDY_STORE_READ, 0, &store, err));
    TRY(study_store_list(store, &list, &n, err));
    for (size_t i = 0; i < n; i++) {
        struct study *study;
        TRY(study_store_load(store, list[i].id, &study, err));
        const struct study_trial *best = study_best(study);
        json_t *trials = json_array(), *directions = json_array();
        for (int k = 0; k < study->n_objectives; k++)
            json_array_append_new(directions, json_string(study_direction_name(study->directions[k])));
        for (int k = 0; k < study->n_trials; k++)
            json_array_append_new(trials, trial_json(study, study->trials[k]));
        json_object_set_new(all, study->name,
                            json_pack("{s:o,s:o,s:o,s:o,s:i}", "directions", directions, "user",
                                      attributes_json(study->user, study->n_user), "system",
                                      attributes_json(study->system, study->n_system), "trials", trials,
                                      "best", best ? best->number : -1));
        study_destroy(study);
    }
    json_dumpf(all, stdout, JSON_ENSURE_ASCII);
    json_decref(all);
    study_summaries_finish(list, n);
    free(list);
    study_store_close(store);
}

static int64_t begin_trial(struct study_store *to, int64_t id, const struct study_trial *trial)
{
    int64_t made;
    int number;
    if (trial->state != TRIAL_WAITING) {
        TRY(study_store_ask(to, id, trial->heartbeat_us != STUDY_NO_TIME, &made, &number, err));
        return made;
    }
    const struct study_attribute *fixed =
        study_attribute_find(trial->system, trial->n_system, "fixed_params");
    json_t *values = fixed ? json_loads(fixed->json, 0, NULL) : json_object();
    TRY(study_store_enqueue(to, id, values, NULL, &made, err));
    json_decref(values);
    return made;
}

static void copy_trial(struct study_store *to, int64_t id, const struct study *study,
                       const struct study_trial *trial)
{
    int64_t made = begin_trial(to, id, trial);
    for (int i = 0; i < trial->n_params; i++)
        TRY(study_store_set_params(
            to, made,
            &(struct study_store_param){study->params[trial->params[i].param],
                                        &study->distributions[trial->params[i].distribution],
                                        trial->params[i].value},
            1, err));
    for (int i = 0; i < trial->n_reports; i++)
        TRY(study_store_report(to, made, trial->reports[i].step, trial->reports[i].value, err));
    for (int i = 0; i < trial->n_user; i++)
        TRY(study_store_set_user(to, made, trial->user[i].key, trial->user[i].json, err));
    for (int i = 0; i < trial->n_system; i++)
        TRY(study_store_set_system(to, made, trial->system[i].key, trial->system[i].json, err));
    if (trial_state_finished(trial->state))
        TRY(study_store_tell(to, made, trial->state, trial->state == TRIAL_COMPLETE ? trial->values : NULL,
                             study->n_objectives, err));
}

static void copy(const char *from_url, const char *to_url)
{
    struct study_store *from, *to;
    struct study_summary *list;
    size_t n;
    TRY(study_store_open(from_url, STUDY_STORE_READ, 0, &from, err));
    TRY(study_store_open(to_url, STUDY_STORE_WRITE, 0, &to, err));
    TRY(study_store_list(from, &list, &n, err));
    for (size_t i = 0; i < n; i++) {
        struct study *study;
        int64_t id;
        TRY(study_store_load(from, list[i].id, &study, err));
        TRY(study_store_begin(to, err));
        TRY(study_store_create(to, study->name, study->directions, study->n_objectives, &id, NULL, err));
        for (int k = 0; k < study->n_user; k++)
            TRY(study_store_set_study_user(to, id, study->user[k].key, study->user[k].json, err));
        for (int k = 0; k < study->n_system; k++)
            TRY(study_store_set_study_system(to, id, study->system[k].key, study->system[k].json, err));
        for (int k = 0; k < study->n_trials; k++)
            copy_trial(to, id, study, study->trials[k]);
        TRY(study_store_commit(to, err));
        study_destroy(study);
    }
    study_summaries_finish(list, n);
    free(list);
    study_store_close(from);
    study_store_close(to);
}

static void distributions(void)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    while ((n = getline(&line, &room, stdin)) > 0) {
        struct distribution distribution;
        line[n - 1] = '\0';
        char *values = strchr(line, '\t');
        if (values)
            *values++ = '\0';
        if (distribution_parse(line, &distribution, err) < 0) {
            printf("-\t%s\n", err);
            continue;
        }
        char *text = distribution_text(&distribution);
        printf("%s\t%d", text, distribution_single(&distribution));
        for (char *value = values ? strtok(values, " ") : NULL; value; value = strtok(NULL, " "))
            printf(" %d", distribution_contains(&distribution, strtod(value, NULL)));
        putchar('\n');
        free(text);
        distribution_finish(&distribution);
    }
    free(line);
}

static void floats(void)
{
    unsigned long long bits;
    while (scanf("%llx", &bits) == 1) {
        char text[PYTHON_FLOAT_MAX];
        double value;
        memcpy(&value, &bits, sizeof value);
        study_python_float_text(value, text);
        puts(text);
    }
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "dump") == 0)
        dump(argv[2]);
    else if (argc == 4 && strcmp(argv[1], "copy") == 0)
        copy(argv[2], argv[3]);
    else if (argc == 2 && strcmp(argv[1], "distributions") == 0)
        distributions();
    else if (argc == 2 && strcmp(argv[1], "floats") == 0)
        floats();
    else
        return 2;
    return 0;
}
