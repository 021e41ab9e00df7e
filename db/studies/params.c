/* Checks a study's distributions when they are set: each parameter keeps its class, its logarithm and its
 * choices. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/store_ops.h"

enum { KNOWN_MAX = 1024 /* the list is cleared when it is full */ };

/* The last distribution of a parameter, with its text: 24 parameters a trial have the same ones every time.
 * It is valid as long as that trial has it: a transaction may be rolled back, a study deleted, and its id
 * reused. */
struct known_param {
    int64_t study, trial;
    char *name, *text;
    struct distribution distribution;
};
struct study_store_known {
    struct known_param rows[KNOWN_MAX];
    int n, next; /* the one after the last one found: parameters come in the same order */
};

static void known_finish(struct known_param *row)
{
    free(row->name);
    free(row->text);
    distribution_finish(&row->distribution);
}

static void known_clear(struct study_store_known *known)
{
    for (int i = 0; i < known->n; i++)
        known_finish(&known->rows[i]);
    known->n = known->next = 0;
}

void study_store_known_destroy(struct study_store_known *known)
{
    if (known)
        known_clear(known);
    free(known);
}

static struct known_param *known_find(struct study_store_known *known, int64_t study, const char *name)
{
    for (int i = 0; known && i < known->n; i++) {
        int at = known->next + i < known->n ? known->next + i : known->next + i - known->n;
        if (known->rows[at].study == study && strcmp(known->rows[at].name, name) == 0) {
            known->next = at + 1 < known->n ? at + 1 : 0;
            return &known->rows[at];
        }
    }
    return NULL;
}

/* Takes `text`. What cannot be stored is read again. */
static void known_put(struct study_store *store, int64_t study, int64_t trial, const char *name,
                      const struct distribution *distribution, char *text)
{
    if (!store->known)
        store->known = calloc(1, sizeof *store->known);
    struct known_param *row = known_find(store->known, study, name);
    struct known_param fresh = {.study = study, .trial = trial, .text = text, .name = strdup(name)};
    if (!store->known || !fresh.name || distribution_copy(distribution, &fresh.distribution) < 0) {
        known_finish(&fresh);
        return;
    }
    if (row) {
        known_finish(row);
        *row = fresh;
        return;
    }
    if (store->known->n == KNOWN_MAX)
        known_clear(store->known);
    store->known->rows[store->known->n++] = fresh;
}

/* The newest trial that has it; NULL: none. */
static const struct study_trial *newest_with(const struct study *study, int param)
{
    for (int i = study->n_trials - 1; i >= 0; i--)
        if (study_trial_param(study->trials[i], param))
            return study->trials[i];
    return NULL;
}

void study_store_learn(struct study_store *store, const struct study *study)
{
    for (int i = 0; i < study->n_params && study->n_params <= KNOWN_MAX / 2; i++) {
        if (known_find(store->known, study->id, study->params[i]))
            continue;
        const struct study_trial *trial = newest_with(study, i);
        const struct trial_param *param = trial ? study_trial_param(trial, i) : NULL;
        const struct distribution *distribution = param ? &study->distributions[param->distribution] : NULL;
        char *text = distribution ? distribution_text(distribution) : NULL;
        if (text)
            known_put(store, study->id, trial->id, study->params[i], distribution, text);
    }
}

/* Is it compatible with the study's trials' distributions of that parameter? */
static int check_compatible(struct study_store *store, int64_t study, const char *name,
                            const struct distribution *distribution, char err[static STUDY_ERROR_MAX])
{
    char *text, why[DISTRIBUTION_ERROR_MAX];
    int r = store->ops->param_known(store, study, name, &text, err);
    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return r;
    struct distribution there;
    r = distribution_parse(text, &there, why);
    if (r < 0) {
        study_store_fail(store, r, err, "parameter \"%.100s\": %s", name, why);
    } else {
        if (!distribution_compatible(&there, distribution))
            r = study_store_fail(
                store, -EINVAL, err,
                "parameter \"%.100s\": the study has %.200s: a parameter keeps its class, its "
                "logarithm and its choices",
                name, text);
        distribution_finish(&there);
    }
    free(text);
    return r;
}

static int insert(struct study_store *store, int64_t trial, const struct study_trial_row *row,
                  const char *name, const struct distribution *distribution, double value,
                  char err[static STUDY_ERROR_MAX])
{
    struct known_param *known = known_find(store->known, row->study, name);
    int r = known ? store->ops->param_is(store, row->study, known->trial, name, known->text, err) : 0;
    if (r == -ENOENT)
        known = NULL;
    else if (r < 0)
        return r;
    bool same, again = known && distribution_equal(&known->distribution, distribution);
    char *text = again ? known->text : NULL;
    r = 0;
    if (!again) {
        if (!known || !distribution_compatible(&known->distribution, distribution))
            r = check_compatible(store, row->study, name, distribution, err);
        if (r == 0 && !(text = distribution_text(distribution)))
            r = study_store_fail(store, -ENOMEM, err, "no memory for parameter \"%.100s\"", name);
        if (r < 0)
            return r;
    }
    r = store->ops->param_insert(store, trial, name, value, text, &same, err);
    if (r == -EEXIST)
        r = same ? 0
                 : study_store_fail(
                       store, -EEXIST, err,
                       "trial %d: parameter \"%.100s\": has another value already, which it keeps",
                       row->number, name);
    if (!again && r == 0)
        known_put(store, row->study, trial, name, distribution, text);
    else if (!again)
        free(text);
    return r;
}

static int check_value(struct study_store *store, const struct study_trial_row *row,
                       const struct study_store_param *param, char err[static STUDY_ERROR_MAX])
{
    if (distribution_contains(param->distribution, param->value))
        return 0;
    return study_store_fail(
        store, -EINVAL, err,
        "trial %d: parameter \"%.100s\": %.17g: a value of %.15g to %.15g, on its grid, is needed",
        row->number, param->name, param->value, param->distribution->low, param->distribution->high);
}

/* Those whose distributions were seen before, in one statement where the database has one: `stored` of
 * `rows` [n]. */
static int insert_known(struct study_store *store, int64_t trial, const struct study_trial_row *row,
                        const struct study_store_param *params, int n, struct study_param_row *rows,
                        char err[static STUDY_ERROR_MAX])
{
    int n_known = 0;
    for (int i = 0; i < n; i++) {
        const struct known_param *known = known_find(store->known, row->study, params[i].name);
        if (known && distribution_equal(&known->distribution, params[i].distribution))
            rows[n_known++] =
                (struct study_param_row){params[i].name, known->text, params[i].value, known->trial, false};
    }
    return n_known > 0 ? store->ops->params_insert(store, row->study, trial, rows, n_known, err) : 0;
}

static int insert_all(struct study_store *store, int64_t trial, const struct study_trial_row *row,
                      const struct study_store_param *params, int n, struct study_param_row *rows,
                      char err[static STUDY_ERROR_MAX])
{
    int r = n > 1 ? insert_known(store, trial, row, params, n, rows, err) : 0;
    for (int i = 0, at = 0; i < n && r == 0; i++) {
        if (at < n && rows[at].name == params[i].name && rows[at++].stored)
            continue;
        r = insert(store, trial, row, params[i].name, params[i].distribution, params[i].value, err);
    }
    return r;
}

static int once_set_params(struct study_store *store, int64_t trial, const struct study_store_param *params,
                           int n, struct study_param_row *rows, char err[static STUDY_ERROR_MAX])
{
    struct study_trial_row row;
    bool own;
    int r = 0;
    memset(rows, 0, ((size_t)n + 1) * sizeof *rows); /* of a call that is repeated */
    for (int i = 0; i < n && r == 0; i++)
        r = study_store_check_name(store, "parameter", params[i].name, err);
    if (r == 0)
        r = study_store_enter(store, &own, err);
    if (r < 0)
        return r;
    r = study_store_trial_open(store, trial, &row, err);
    for (int i = 0; i < n && r == 0; i++)
        r = check_value(store, &row, &params[i], err);
    if (r == 0)
        r = insert_all(store, trial, &row, params, n, rows, err);
    return study_store_leave(store, own, r, err);
}

int study_store_set_params(struct study_store *store, int64_t trial, const struct study_store_param *params,
                           int n, char err[static STUDY_ERROR_MAX])
{
    struct study_param_row *rows = calloc((size_t)n + 1, sizeof *rows);
    if (!rows)
        return study_store_fail(store, -ENOMEM, err, "no memory for %d parameters", n);
    int r = STUDY_STORE_CALL(store, err, once_set_params(store, trial, params, n, rows, err));
    free(rows);
    return r;
}
