#include "trainer/study/outcome.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "record/json.h"
#include "trainer/study/internal.h"
#include "trainer/study/trial_hashes.h"
#include "trainer/study/validation.h"

int study_outcome_validate(const struct study *study, const struct study_members *others, int proposed,
                           const char *folder, const struct trial_calls *calls, json_t **ret,
                           char err[static TRIAL_ERROR_MAX])
{
    struct returns_matrix returns = {0};
    char why[VALIDATION_ERROR_MAX], path[PATH_MAX];
    char name[STUDY_COLUMN_MAX];
    int left_out = 0;
    *ret = NULL;
    int r = study_join_path(path, folder, "report.html", err);
    if (r < 0)
        return r;
    r = study_members_returns(study, folder, others, proposed, &returns, name, &left_out, why);
    if (r == 0)
        r = validation_json(&returns, VALIDATION_BLOCKS, 0, ret, why);
    if (r == 0)
        r = validation_report(&returns, *ret, study->name, path, why);
    returns_finish(&returns);
    if (r == -EINVAL) {
        study_notify(calls, why);
        return 0;
    }
    return r < 0 ? study_error(err, r, "%s", why) : 0;
}

double study_outcome_figure(const json_t *validation, const char *in, const char *key)
{
    const json_t *object = in ? json_object_get(validation, in) : validation;
    return record_json_number(object, key);
}

json_t *study_outcome_gates(const struct gate_limits *limits, const struct gate_figures *figures,
                            bool *ret_admitted, char *words, size_t cap)
{
    struct gate_verdict verdicts[GATES_MAX];
    int n = gate_judge(limits, figures, verdicts, ret_admitted);
    json_t *list = json_array();
    int started = snprintf(words, cap, "%s: ", *ret_admitted ? "admitted" : "refused");
    gate_words(verdicts, n, *ret_admitted, words + started, cap - (size_t)started);
    for (int i = 0; i < n; i++)
        json_array_append_new(list,
                              json_pack("{s:s, s:o, s:o, s:b}", "gate", verdicts[i].gate, "figure",
                                        record_json_real(verdicts[i].figure), "limit",
                                        record_json_real(verdicts[i].limit), "passed", verdicts[i].passed));
    return list;
}

json_t *study_outcome_counts(const struct study *study, const struct study_members *others, int complete)
{
    return json_pack("{s:i, s:i, s:I, s:o}", "trials", study->n_trials, "complete", complete, "tried",
                     (json_int_t)study_members_tried(study, others), "of_trials",
                     study_trial_hashes(study, others));
}

static json_t *known(const json_t *validation, const char *in, const char *key)
{
    return record_json_real(study_outcome_figure(validation, in, key));
}

json_t *study_outcome_luck(const json_t *validation)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "pbo", known(validation, NULL, "pbo"),
                     "probability_of_loss", known(validation, NULL, "probability_of_loss"), "slope",
                     known(validation, NULL, "slope"), "intercept", known(validation, NULL, "intercept"),
                     "deflated_sharpe", known(validation, "deflated", "deflated_sharpe"), "skill",
                     known(validation, "deflated", "skill"), "expected_sharpe",
                     known(validation, "deflated", "expected_sharpe"));
}

bool study_outcome_add(json_t *object, json_t *more)
{
    bool added = object && more && json_object_update(object, more) == 0;
    json_decref(more);
    return added;
}

json_t *study_outcome_expires(const struct study_settings *settings)
{
    const int64_t ns_per_s = 1000000000, ns = settings->expires_ns;
    return ns <= 0              ? json_null()
           : ns % ns_per_s == 0 ? json_integer((json_int_t)(ns / ns_per_s))
                                : json_real((double)ns / (double)ns_per_s);
}
