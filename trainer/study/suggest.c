#include "trainer/study/suggest.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/studies/python_json.h"
#include "exchange/fail.h"
#include "record/json.h"
#include "trainer/study/artifacts.h"
#include "trainer/study/tally.h"
#include "trainer/study/versions.h"

#define say(err, code, ...) fail_with(code, err, STUDY_ERROR_MAX, __VA_ARGS__)

/* ---- Attributes. ---- */

void study_worker_name(pid_t pid, char ret[static WORKER_NAME_MAX])
{
    char host[HOST_NAME_MAX + 1] = "";
    (void)gethostname(host, sizeof host - 1);
    snprintf(ret, WORKER_NAME_MAX, "%.64s:%d", host, (int)pid);
}

static int set_json(struct study_store *store, int64_t trial, const char *key, const json_t *value,
                    bool system, char err[static STUDY_ERROR_MAX])
{
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)) : NULL;
    int r = !text    ? say(err, -ENOMEM, "out of memory")
            : system ? study_store_set_system(store, trial, key, text, err)
                     : study_store_set_user(store, trial, key, text, err);
    free(text);
    return r;
}

static int set_text(struct study_store *store, int64_t trial, const char *key, const char *text,
                    char err[static STUDY_ERROR_MAX])
{
    json_t *value = json_string(text);
    int r = set_json(store, trial, key, value, false, err);
    json_decref(value);
    return r;
}

static int set_worker(struct study_store *store, int64_t trial, char err[static STUDY_ERROR_MAX])
{
    char name[WORKER_NAME_MAX];
    study_worker_name(getpid(), name);
    int r = set_text(store, trial, "papertape:worker", name, err);
    return r == 0 ? set_text(store, trial, STUDY_VERSION, PAPERTAPE_VERSION, err) : r;
}

/* Stores the trial's values early, for processes that read it while it runs. */
static int set_relative(struct study_store *store, int64_t trial, const json_t *pieces,
                        char err[static STUDY_ERROR_MAX])
{
    char key[64];
    size_t i;
    json_t *piece;
    int r = 0;
    json_array_foreach(pieces, i, piece)
    {
        snprintf(key, sizeof key, "tpe:relative_params:%zu", i);
        if (r == 0)
            r = set_json(store, trial, key, piece, true, err);
    }
    return r;
}

/* ---- Values. ---- */

/* 0, *ret NULL: there are none; -EINVAL: they are not names and values, with the reason in `why`. */
static int fixed_params(const struct study_trial *trial, json_t **ret, char *why)
{
    const struct study_attribute *fixed =
        study_attribute_find(trial->system, trial->n_system, "fixed_params");
    size_t at;
    *ret = fixed ? study_python_json_parse(fixed->json, &at) : NULL;
    if (!fixed || json_is_object(*ret))
        return 0;
    return fail_with(-EINVAL, why, STUDY_ERROR_MAX,
                     "fixed_params: %.60s: it was enqueued with what is no names and values", fixed->json);
}

enum origin { DRAWN, KEPT, FIXED };

/* Where the value of a parameter comes from. -EINVAL: the space does not have it, with the reason in
 * `why`. */
static int find_value(const struct study *study, const struct study_trial *trial, const json_t *fixed,
                      const struct space_param *param, double *ret, char *why)
{
    int at = study_param_find(study, param->name);
    const struct trial_param *kept = at >= 0 ? study_trial_param(trial, at) : NULL;
    const json_t *external = json_object_get(fixed, param->name);
    char *text = NULL;
    if (!kept && !external)
        return DRAWN;
    if (kept)
        *ret = kept->value;
    bool right = (kept || distribution_internal(&param->distribution, external, ret) == 0) &&
                 distribution_contains(&param->distribution, *ret);
    if (right)
        return kept ? KEPT : FIXED;
    if (external)
        text = study_python_json_text(external);
    snprintf(why, STUDY_ERROR_MAX, "%.100s: %.60s: it was enqueued with a value that is none of [search]",
             param->name, text ? text : "its value");
    free(text);
    return -EINVAL;
}

/* 1: done; 0: there is nothing left to draw; -EINVAL: *ret->failed, with `why`. */
static int set_values(struct study_store *store, const struct study *study, struct sampler *sampler,
                      const struct space *space, struct study_suggestion *ret,
                      char why[static STUDY_ERROR_MAX], char err[static STUDY_ERROR_MAX])
{
    const struct study_trial *trial = study->trials[ret->number];
    json_t *fixed = NULL, *relative = NULL;
    double *drawn = calloc((size_t)space->n + 1, sizeof *drawn);
    int *origin = calloc((size_t)space->n + 1, sizeof *origin), n_drawn = 0;
    struct study_store_param *params = calloc((size_t)space->n + 1, sizeof *params);
    int r = drawn && origin && params ? 1 : say(err, -ENOMEM, "out of memory");
    if (r > 0 && fixed_params(trial, &fixed, why) < 0) {
        ret->failed = true;
        r = -EINVAL;
    }
    for (int i = 0; i < space->n && r > 0; i++) {
        origin[i] = find_value(study, trial, fixed, &space->params[i], &ret->values[i], why);
        n_drawn += origin[i] == DRAWN;
        if (origin[i] < 0) {
            ret->failed = true;
            r = -EINVAL;
        }
    }
    if (r > 0 && n_drawn > 0) {
        int drew = sampler_sample(sampler, study, ret->number, space, drawn, &relative);
        r = drew == 0 ? 1 : drew == -ENODATA ? 0 : say(err, drew, "cannot draw: %s", strerror(-drew));
    }
    if (r > 0 && relative) {
        int stored = set_relative(store, ret->trial, relative, err);
        r = stored < 0 ? stored : r;
    }
    int n_params = 0;
    for (int i = 0; i < space->n && r > 0; i++) {
        const struct space_param *param = &space->params[i];
        if (origin[i] == DRAWN)
            ret->values[i] = drawn[i];
        if (origin[i] != KEPT)
            params[n_params++] =
                (struct study_store_param){param->name, &param->distribution, ret->values[i]};
    }
    if (r > 0 && n_params > 0) {
        int stored = study_store_set_params(store, ret->trial, params, n_params, err);
        r = stored < 0 ? stored : r;
    }
    json_decref(relative);
    json_decref(fixed);
    free(params);
    free(origin);
    free(drawn);
    return r;
}

/* ---- Suggesting. ---- */

static int ask(struct study_store *store, struct study *study, struct sampler *sampler,
               const struct study_settings *settings, int wanted, struct study_suggestion *ret,
               bool *ret_exhausted, char err[static STUDY_ERROR_MAX])
{
    char why[STUDY_ERROR_MAX] = "";
    int r = study_store_sync(store, study, err);
    if (r < 0)
        return r;
    const struct study_tally tally = study_tally_of(study);
    if (study_tally_room(&tally, wanted) <= 0)
        return 0;
    if ((r = study_store_ask(store, study->id, true, &ret->trial, &ret->number, err)) < 0 ||
        (r = study_store_sync(store, study, err)) < 0)
        return r;
    if (ret->number < 0 || ret->number >= study->n_trials)
        return say(err, -EBADMSG, "trial %d: the study: %d trials that follow one another are right",
                   ret->number, study->n_trials);
    r = set_values(store, study, sampler, &settings->space, ret, why, err);
    *ret_exhausted = r == 0;
    if (r == 0)
        return 0;
    if (ret->failed)
        r = study_tell_failure(store, ret->trial, why, "config", err);
    if (r >= 0)
        r = ret->failed ? 0 : set_worker(store, ret->trial, err);
    return r < 0 ? r : 1;
}

static int suggest(struct study_store *store, struct study *study, struct sampler *sampler,
                   const struct study_settings *settings, int wanted, struct study_suggestion *ret,
                   bool *ret_exhausted, char err[static STUDY_ERROR_MAX])
{
    *ret_exhausted = false;
    ret->failed = false;
    int r = study_store_begin(store, err);
    if (r < 0)
        return r;
    r = ask(store, study, sampler, settings, wanted, ret, ret_exhausted, err);
    if (r <= 0) {
        study_store_rollback(store);
        return r;
    }
    int committed = study_store_commit(store, err);
    return committed < 0 ? committed : r;
}

int study_suggest(struct study_store *store, struct study *study, struct sampler *sampler,
                  const struct study_settings *settings, int wanted, struct study_suggestion *ret,
                  bool *ret_exhausted, char err[static STUDY_ERROR_MAX])
{
    int r;
    do
        r = suggest(store, study, sampler, settings, wanted, ret, ret_exhausted, err);
    while (r < 0 && study_store_again(store, &r, err));
    return r;
}

/* ---- Reporting. ---- */

int study_tell_failure(struct study_store *store, int64_t trial, const char *words, const char *cause,
                       char err[static STUDY_ERROR_MAX])
{
    json_t *word = json_string(cause);
    json_t *failure = json_string(words);
    if (!failure) /* not UTF-8 */
        failure = json_string("it failed");
    int r = set_json(store, trial, "papertape:failure", failure, false, err);
    if (r == 0)
        r = set_json(store, trial, "papertape:cause", word, false, err);
    json_decref(failure);
    json_decref(word);
    return r < 0 ? r : study_store_tell(store, trial, TRIAL_FAIL, NULL, 0, err);
}

static json_t *splits_json(const struct trial_outcome *outcome)
{
    json_t *list = json_array();
    for (int i = 0; i < outcome->n_splits && list; i++) {
        const struct trial_split *split = &outcome->splits[i];
        json_array_append_new(
            list,
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:I}", "sharpe", record_json_real(split->sharpe), "holding",
                      record_json_real(split->holding), "equal_weight", record_json_real(split->equal_weight),
                      "total_return", record_json_real(split->total_return), "drawdown",
                      record_json_real(split->drawdown), "trades", (json_int_t)split->trades));
    }
    return list;
}

static int tell(struct study_store *store, int64_t trial, enum trial_state state,
                const struct trial_outcome *outcome, const json_t *splits, const json_t *files,
                char err[static STUDY_ERROR_MAX])
{
    int r = study_store_begin(store, err);
    if (r < 0)
        return r;
    r = set_json(store, trial, "papertape:splits", splits, false, err);
    if (r == 0 && files)
        r = study_artifacts_set(store, 0, trial, STUDY_ARTIFACTS, files, err);
    if (r == 0)
        r = state == TRIAL_COMPLETE ? study_store_tell(store, trial, state, &outcome->value, 1, err)
                                    : study_store_tell(store, trial, state, NULL, 0, err);
    if (r == 0)
        return study_store_commit(store, err);
    study_store_rollback(store);
    return r;
}

int study_tell(struct study_store *store, int64_t trial, enum trial_state state,
               const struct trial_outcome *outcome, const json_t *files, char err[static STUDY_ERROR_MAX])
{
    json_t *splits = splits_json(outcome);
    int r;
    do
        r = tell(store, trial, state, outcome, splits, files, err);
    while (r < 0 && study_store_again(store, &r, err));
    json_decref(splits);
    return r;
}

static int report(struct study_store *store, struct study *study, const struct study_settings *settings,
                  const struct study_suggestion *asked, int step, double value,
                  char err[static STUDY_ERROR_MAX])
{
    const bool compares = settings->pruner.kind != PRUNER_NONE; /* else no study is read, nor locked */
    struct pruner_verdict verdict = {0};
    int r = study_store_begin(store, err);
    if (r < 0)
        return r;
    if ((r = study_store_report(store, asked->trial, step, value, err)) == 0 && compares &&
        (r = study_store_sync(store, study, err)) == 0 &&
        (r = pruner_judge(&settings->pruner, study, asked->number, &verdict)) < 0)
        r = say(err, r == -EINVAL ? -EBADMSG : r, "cannot judge trial %d: %s", asked->number, strerror(-r));
    for (int i = 0; i < verdict.n_marks && r == 0; i++)
        r = study_store_set_system(store, asked->trial, verdict.marks[i].key, verdict.marks[i].json, err);
    if (r == 0)
        r = study_store_commit(store, err);
    else
        study_store_rollback(store);
    /* After the last split pruning saves nothing. */
    return r < 0 ? r : verdict.prune && step < settings->split.combinations;
}

int study_report(struct study_store *store, struct study *study, const struct study_settings *settings,
                 const struct study_suggestion *asked, int step, double value,
                 char err[static STUDY_ERROR_MAX])
{
    int r;
    do
        r = report(store, study, settings, asked, step, value, err);
    while (r < 0 && study_store_again(store, &r, err));
    return r;
}
