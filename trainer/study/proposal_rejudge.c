#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange/fail.h"
#include "trainer/study/definition.h"
#include "trainer/study/internal.h"
#include "trainer/study/outcome.h"
#include "trainer/study/proposal.h"
#include "trainer/study/proposal_folder.h"
#include "trainer/study/proposal_policy.h"
#include "trainer/study/trial_hashes.h"

static bool says(const json_t *proposal, const char *key, json_t *now)
{
    bool same = now && json_equal(json_object_get(proposal, key), now);
    json_decref(now);
    return same;
}

/* Is it of exactly these trials, none of which has changed? */
static bool is_of_these(const json_t *proposal, const struct study *study, const struct study_members *others)
{
    const char *name = json_string_value(json_object_get(proposal, "study"));
    return name && strcmp(name, study->name) == 0 &&
           says(proposal, "of_trials", study_trial_hashes(study, others));
}

/* Would the same trials be trained? Then the policy and its result on the holdout would be the same. */
static bool is_trained_so(const json_t *proposal, const struct study_settings *settings,
                          const struct study *study, const struct study_ranked *ranked)
{
    const json_t *numbers = json_object_get(proposal, "trials_proposed");
    const char *policy = json_string_value(json_object_get(proposal, "policy"));
    const int wanted = study_proposed_most(settings), n = ranked->n < wanted ? ranked->n : wanted;
    return n > 0 && json_array_size(numbers) == (size_t)n && policy && access(policy, R_OK) == 0 &&
           says(proposal, "of_chosen", study_chosen_hashes(study, ranked->trials, n));
}

/* Counts and overfitting figures, among the trials that there are now. */
static int compute(const struct study *study, const struct study_members *others, int proposed, int complete,
                   const char *folder, const struct trial_calls *calls, json_t *proposal,
                   char err[static TRIAL_ERROR_MAX])
{
    json_t *validation = NULL;
    int r = study_outcome_validate(study, others, proposed, folder, calls, &validation, err);
    if (r == 0) {
        bool added = study_outcome_add(proposal, study_outcome_counts(study, others, complete));
        if (!study_outcome_add(proposal, study_outcome_luck(validation)) || !added)
            r = study_error(err, -ENOMEM, "out of memory: a proposal");
    }
    json_decref(validation);
    return r;
}

/* 1; 0: other trials would be trained. */
static int compute_again(const struct study_settings *settings, const struct study *study,
                         const struct study_members *others, const char *folder,
                         const struct trial_calls *calls, json_t *proposal, char err[static TRIAL_ERROR_MAX])
{
    struct study_ranked ranked;
    int r = study_rank(study, &ranked, err);
    bool same = r == 0 && is_trained_so(proposal, settings, study, &ranked);
    if (same)
        r = compute(study, others, ranked.trials[0]->number, ranked.n, folder, calls, proposal, err);
    free(ranked.trials);
    return r == 0 ? same : r == -ENODATA ? 0 : r;
}

/* By the limits, the name and the expiry that it has. */
static bool is_judged_so(const json_t *proposal, const struct train_config *base,
                         const struct study_settings *settings, const json_t *gates)
{
    const json_t *before = json_object_get(proposal, "gates"), *gate;
    json_t *expires = study_outcome_expires(settings);
    const char *name = json_string_value(json_object_get(proposal, "name"));
    bool same = json_array_size(before) == json_array_size(gates) && name && strcmp(name, base->name) == 0 &&
                json_equal(json_object_get(proposal, "expires_s"), expires);
    size_t i;
    json_array_foreach(before, i, gate) same =
        same && json_number_value(json_object_get(gate, "limit")) ==
                    json_number_value(json_object_get(json_array_get(gates, i), "limit"));
    json_decref(expires);
    return same;
}

int study_proposal_rejudge(const struct train_config *base, const struct study_settings *settings,
                           const struct study *study, const struct study_members *others, const char *folder,
                           const struct trial_calls *calls, json_t *proposal,
                           char err[static TRIAL_ERROR_MAX])
{
    struct gate_figures figures;
    char words[OUTCOME_WORDS_MAX], why[GATE_ERROR_MAX];
    bool admitted;
    if (!says(proposal, "made_of", study_made_of(base, settings)))
        return 0;
    bool held = is_of_these(proposal, study, others);
    int r = held ? 1 : compute_again(settings, study, others, folder, calls, proposal, err);
    if (r <= 0)
        return r;
    if (gate_figures_parse(proposal, &figures, why) < 0)
        return 0;
    json_t *gates = study_outcome_gates(&settings->gates, &figures, &admitted, words, sizeof words);
    if (held && is_judged_so(proposal, base, settings, gates)) {
        json_decref(gates);
        return 1;
    }
    json_t *verdict =
        json_pack("{s:s, s:o, s:o, s:b, s:s}", "name", base->name, "expires_s",
                  study_outcome_expires(settings), "gates", gates, "admitted", admitted, "words", words);
    r = study_outcome_add(proposal, verdict) ? study_proposal_file_write(proposal, folder, err)
                                             : study_error(err, -ENOMEM, "out of memory: a proposal");
    return r < 0 ? r : 1;
}

/* ---- When another member of the study has ended. ---- */

static double limit_of(const json_t *proposal, const char *gate)
{
    size_t i;
    const json_t *of, *gates = json_object_get(proposal, "gates");
    json_array_foreach(gates, i, of)
    {
        const char *name = json_string_value(json_object_get(of, "gate"));
        const json_t *limit = json_object_get(of, "limit");
        if (name && strcmp(name, gate) == 0 && json_is_number(limit))
            return json_number_value(limit);
    }
    return NAN;
}

/* The limits that it was judged by. */
static bool find_limits(const json_t *proposal, struct gate_limits *ret)
{
    const double trades = limit_of(proposal, "trades");
    *ret = (struct gate_limits){.min_excess = limit_of(proposal, "excess"),
                                .max_pbo = limit_of(proposal, "pbo"),
                                .min_deflated = limit_of(proposal, "deflated"),
                                .max_drawdown = limit_of(proposal, "drawdown")};
    if (!(trades >= 0 && trades <= INT_MAX))
        return false;
    ret->min_trades = (int)trades;
    return !isnan(ret->min_excess) && !isnan(ret->max_pbo) && !isnan(ret->min_deflated) &&
           !isnan(ret->max_drawdown);
}

/* Are the trials that it was made from unchanged? *ret_first: the first of them; *ret_complete: the number of
 * COMPLETE trials of the study. */
static bool is_of_chosen(const json_t *proposal, const struct study *study, int *ret_first, int *ret_complete)
{
    const struct study_trial *chosen[POLICY_MEMBERS_MAX];
    const json_t *numbers = json_object_get(proposal, "trials_proposed");
    const char *name = json_string_value(json_object_get(proposal, "study"));
    struct study_ranked ranked;
    char unused[TRIAL_ERROR_MAX];
    int n = 0;
    bool good = study_rank(study, &ranked, unused) == 0 && name && strcmp(name, study->name) == 0 &&
                json_array_size(numbers) <= POLICY_MEMBERS_MAX;
    for (size_t k = 0; good && k < json_array_size(numbers); k++)
        for (int i = 0; i < ranked.n; i++)
            if (ranked.trials[i]->number == json_integer_value(json_array_get(numbers, k)))
                chosen[n++] = ranked.trials[i];
    good = good && n > 0 && (size_t)n == json_array_size(numbers) &&
           says(proposal, "of_chosen", study_chosen_hashes(study, chosen, n));
    *ret_first = good ? chosen[0]->number : -1;
    *ret_complete = ranked.n;
    free(ranked.trials);
    return good;
}

/* 1: it was judged over all of these trials; 0: it cannot be judged. */
static int judge(const struct study *study, const struct study_members *others, const char *folder,
                 const struct trial_calls *calls, json_t *proposal, char err[static TRIAL_ERROR_MAX])
{
    struct gate_figures figures;
    struct gate_limits limits;
    char words[OUTCOME_WORDS_MAX], why[GATE_ERROR_MAX];
    bool admitted;
    int first, complete;
    if (!is_of_chosen(proposal, study, &first, &complete) || !find_limits(proposal, &limits))
        return 0;
    if (is_of_these(proposal, study, others))
        return 1;
    int r = compute(study, others, first, complete, folder, calls, proposal, err);
    if (r < 0)
        return r;
    if (gate_figures_parse(proposal, &figures, why) < 0)
        return 0;
    json_t *gates = study_outcome_gates(&limits, &figures, &admitted, words, sizeof words);
    if (!study_outcome_add(
            proposal, json_pack("{s:o, s:b, s:s}", "gates", gates, "admitted", admitted, "words", words)))
        return study_error(err, -ENOMEM, "out of memory: a proposal");
    r = study_proposal_file_write(proposal, folder, err);
    return r < 0 ? r : 1;
}

static int judge_alone(struct study_store *store, int64_t id, const char *folder, const char *folders,
                       const struct trial_calls *calls, json_t *proposal, char err[static TRIAL_ERROR_MAX])
{
    struct study_members others = {0};
    struct study *study = NULL;
    char why[STUDY_ERROR_MAX], base[STUDY_NAME_MAX + 1];
    int r = study_store_load(store, id, &study, why);
    if (r == 0) {
        study_base_name(study->name, base);
        r = study_members_load(store, base, study, folders, NULL, NULL, &others, why);
    }
    r = r < 0 ? study_error(err, r, "%s", why) : judge(study, &others, folder, calls, proposal, err);
    study_members_finish(&others);
    study_destroy(study);
    return r;
}

int study_proposal_judge(struct study_store *store, int64_t id, const char *folder, const char *folders,
                         const struct trial_calls *calls, json_t **ret, char err[static TRIAL_ERROR_MAX])
{
    char path[PATH_MAX];
    int r = study_join_path(path, folder, "proposal.json", err);
    if (r < 0 || (access(path, F_OK) < 0 && errno == ENOENT))
        return r;
    int lock = study_folder_lock(folder);
    if (lock == -EBUSY)
        return study_error(err, lock, "%.300s: " FAIL_IN_USE("another process"), path);
    json_t *proposal = json_load_file(path, 0, NULL);
    r = proposal ? judge_alone(store, id, folder, folders, calls, proposal, err) : 0;
    study_folder_unlock(lock);
    if (r > 0)
        *ret = json_incref(proposal);
    json_decref(proposal);
    return r;
}
