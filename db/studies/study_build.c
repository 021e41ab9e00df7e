#include "db/studies/study_build.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for one more; capacities are powers of two. */
static int grow(void **array, int n, size_t size)
{
    if (n & (n - 1) || (n > 0 && n < 4))
        return 0;
    int room = n < 4 ? 4 : n * 2;
    void *more = realloc(*array, (size_t)room * size);
    if (!more)
        return -ENOMEM;
    *array = more;
    return 0;
}

struct study *study_create(int64_t id, const char *name, const enum study_direction *directions, int n)
{
    struct study *study = calloc(1, sizeof *study);
    if (!study || n < 1 || n > STUDY_OBJECTIVES_MAX || !(study->name = strdup(name))) {
        free(study);
        return NULL;
    }
    study->id = id;
    study->n_objectives = n;
    memcpy(study->directions, directions, (size_t)n * sizeof *directions);
    return study;
}

void study_attributes_finish(struct study_attribute **attributes, int *n)
{
    for (int i = 0; i < *n; i++) {
        free((*attributes)[i].key);
        free((*attributes)[i].json);
    }
    free(*attributes);
    *attributes = NULL;
    *n = 0;
}

struct study_trial *study_trial_create(int64_t id, enum trial_state state)
{
    struct study_trial *trial = calloc(1, sizeof *trial);
    if (trial) {
        trial->id = id;
        trial->state = state;
        trial->started_us = trial->completed_us = trial->heartbeat_us = STUDY_NO_TIME;
    }
    return trial;
}

static void empty(struct study_trial *trial)
{
    free(trial->values);
    free(trial->params);
    free(trial->reports);
    study_attributes_finish(&trial->user, &trial->n_user);
    study_attributes_finish(&trial->system, &trial->n_system);
}

void study_trial_destroy(struct study_trial *trial)
{
    if (trial)
        empty(trial);
    free(trial);
}

void study_destroy(struct study *study)
{
    if (!study)
        return;
    for (int i = 0; i < study->n_trials; i++)
        study_trial_destroy(study->trials[i]);
    for (int i = 0; i < study->n_params; i++)
        free(study->params[i]);
    for (int i = 0; i < study->n_distributions; i++)
        distribution_finish(&study->distributions[i]);
    study_attributes_finish(&study->user, &study->n_user);
    study_attributes_finish(&study->system, &study->n_system);
    study_texts_destroy(study->texts);
    free(study->sync);
    free(study->trials);
    free(study->params);
    free(study->distributions);
    free(study->name);
    free(study);
}

int study_param(struct study *study, const char *name)
{
    int at = study_param_find(study, name);
    if (at >= 0)
        return at;
    char *copy = strdup(name);
    if (!copy || grow((void **)&study->params, study->n_params, sizeof(char *)) < 0) {
        free(copy);
        return -1;
    }
    study->params[study->n_params] = copy;
    return study->n_params++;
}

int study_distribution(struct study *study, const char *text, char err[static DISTRIBUTION_ERROR_MAX])
{
    if (!study->texts && !(study->texts = study_texts_create()))
        return -ENOMEM;
    int at = study_texts_find(study->texts, text);
    if (at >= 0)
        return at;
    struct distribution distribution;
    int r = distribution_parse(text, &distribution, err);
    if (r < 0)
        return r;
    /* Other programs may write the same with other spaces. */
    char *canonical = distribution_text(&distribution);
    at = canonical ? study_texts_find(study->texts, canonical) : -1;
    bool known = at >= 0;
    if (!known)
        at = study->n_distributions;
    if (!canonical || (!known && grow((void **)&study->distributions, at, sizeof(struct distribution)) < 0) ||
        (!known && study_texts_add(study->texts, canonical, at) < 0) ||
        (strcmp(text, canonical) != 0 && study_texts_add(study->texts, text, at) < 0)) {
        free(canonical);
        distribution_finish(&distribution);
        return -ENOMEM;
    }
    free(canonical);
    if (known)
        distribution_finish(&distribution);
    else
        study->distributions[study->n_distributions++] = distribution;
    return at;
}

int study_trial_put_param(struct study_trial *trial, int param, int distribution, double value)
{
    int at = trial->n_params;
    while (at > 0 && trial->params[at - 1].param > param)
        at--;
    if (at > 0 && trial->params[at - 1].param == param) {
        trial->params[at - 1] = (struct trial_param){param, distribution, value};
        return 0;
    }
    if (grow((void **)&trial->params, trial->n_params, sizeof *trial->params) < 0)
        return -ENOMEM;
    memmove(trial->params + at + 1, trial->params + at,
            (size_t)(trial->n_params - at) * sizeof *trial->params);
    trial->params[at] = (struct trial_param){param, distribution, value};
    trial->n_params++;
    return 0;
}

int study_trial_put_report(struct study_trial *trial, int64_t step, double value)
{
    int at = trial->n_reports;
    while (at > 0 && trial->reports[at - 1].step > step)
        at--;
    if (at > 0 && trial->reports[at - 1].step == step) {
        trial->reports[at - 1].value = value;
        return 0;
    }
    if (grow((void **)&trial->reports, trial->n_reports, sizeof *trial->reports) < 0)
        return -ENOMEM;
    memmove(trial->reports + at + 1, trial->reports + at,
            (size_t)(trial->n_reports - at) * sizeof *trial->reports);
    trial->reports[at] = (struct trial_report){step, value};
    trial->n_reports++;
    return 0;
}

int study_trial_put_value(struct study_trial *trial, int n_objectives, int objective, double value)
{
    if (!trial->values) {
        if (!(trial->values = malloc((size_t)n_objectives * sizeof(double))))
            return -ENOMEM;
        for (int i = 0; i < n_objectives; i++)
            trial->values[i] = NAN;
    }
    if (objective >= 0 && objective < n_objectives)
        trial->values[objective] = value;
    return 0;
}

int study_attribute_put(struct study_attribute **attributes, int *n, const char *key, const char *json)
{
    int at = *n, order = 1;
    while (at > 0 && (order = strcmp((*attributes)[at - 1].key, key)) > 0)
        at--;
    char *value = strdup(json);
    if (!value)
        return -ENOMEM;
    if (at > 0 && order == 0) {
        free((*attributes)[at - 1].json);
        (*attributes)[at - 1].json = value;
        return 0;
    }
    char *name = strdup(key);
    if (!name || grow((void **)attributes, *n, sizeof **attributes) < 0) {
        free(name);
        free(value);
        return -ENOMEM;
    }
    memmove(*attributes + at + 1, *attributes + at, (size_t)(*n - at) * sizeof **attributes);
    (*attributes)[at] = (struct study_attribute){name, value};
    ++*n;
    return 0;
}

bool study_attributes_equal(const struct study_attribute *a, int n_a, const struct study_attribute *b,
                            int n_b)
{
    if (n_a != n_b)
        return false;
    for (int i = 0; i < n_a; i++)
        if (strcmp(a[i].key, b[i].key) != 0 || strcmp(a[i].json, b[i].json) != 0)
            return false;
    return true;
}

static bool bytes_equal(const void *a, const void *b, size_t size)
{
    return (!a && !b) || (a && b && memcmp(a, b, size) == 0) || size == 0;
}

/* Are `fresh` and `trial` equal? Then it is destroyed; else its content replaces that of `trial`. */
static bool renew(struct study_trial *trial, struct study_trial *fresh, int n_objectives)
{
    bool same =
        trial->state == fresh->state && trial->started_us == fresh->started_us &&
        trial->completed_us == fresh->completed_us && trial->heartbeat_us == fresh->heartbeat_us &&
        trial->n_params == fresh->n_params && trial->n_reports == fresh->n_reports &&
        !trial->values == !fresh->values &&
        bytes_equal(trial->values, fresh->values, (size_t)n_objectives * sizeof(double)) &&
        bytes_equal(trial->reports, fresh->reports, (size_t)trial->n_reports * sizeof *trial->reports) &&
        study_attributes_equal(trial->user, trial->n_user, fresh->user, fresh->n_user) &&
        study_attributes_equal(trial->system, trial->n_system, fresh->system, fresh->n_system);
    for (int i = 0; same && i < trial->n_params; i++)
        same = trial->params[i].param == fresh->params[i].param &&
               trial->params[i].distribution == fresh->params[i].distribution &&
               trial->params[i].value == fresh->params[i].value;
    if (!same) {
        struct study_trial old = *trial;
        *trial = *fresh;
        trial->number = old.number;
        *fresh = old;
    }
    study_trial_destroy(fresh);
    return same;
}

int study_splice(struct study *study, int first, int last, struct study_trial **fresh, int n,
                 bool *ret_changed)
{
    int old = last - first, total = study->n_trials - old + n, at = first;
    struct study_trial **trials = old == n ? study->trials : malloc((size_t)total * sizeof *trials + 1);
    if (old != n && !trials)
        return -ENOMEM;
    if (old != n && study->trials) {
        memcpy(trials, study->trials, (size_t)first * sizeof *trials);
        memcpy(trials + first + n, study->trials + last, (size_t)(study->n_trials - last) * sizeof *trials);
    }
    for (int i = 0; i < n; i++) {
        while (at < last && study->trials[at]->id < fresh[i]->id) {
            study_trial_destroy(study->trials[at++]);
            *ret_changed = true;
        }
        if (at < last && study->trials[at]->id == fresh[i]->id) {
            struct study_trial *kept = study->trials[at++];
            *ret_changed |= !renew(kept, fresh[i], study->n_objectives);
            fresh[i] = kept;
        } else {
            *ret_changed = true;
        }
    }
    for (; at < last; at++) {
        study_trial_destroy(study->trials[at]);
        *ret_changed = true;
    }
    if (n > 0)
        memcpy(trials + first, fresh, (size_t)n * sizeof *trials);
    if (trials != study->trials)
        free(study->trials);
    study->trials = trials;
    study->n_trials = total;
    for (int i = first; i < total; i++)
        trials[i]->number = i;
    return 0;
}
