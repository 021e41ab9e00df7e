#include "trainer/search/proposal.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trainer/search/defined.h"
#include "trainer/search/inside.h"
#include "trainer/search/of_trials.h"
#include "trainer/search/together.h"
#include "trainer/study/validation.h"

enum { BLOCKS = VALIDATION_BLOCKS };

/* ---- Which trials. ---- */

struct ranked {
    const struct study_trial **trials; /* [n] COMPLETE ones with a value, best first, the earlier of equals */
    int n;
};

static bool complete(const struct study_trial *trial)
{
    return trial->state == TRIAL_COMPLETE && trial->values && !isnan(trial->values[0]);
}

static bool better(const struct study *study, const struct study_trial *a, const struct study_trial *b)
{
    if (a->values[0] == b->values[0])
        return a->number < b->number;
    return (a->values[0] > b->values[0]) == (study->directions[0] != STUDY_MINIMIZE);
}

static int rank(const struct study *study, struct ranked *ret, char err[static TRIAL_ERROR_MAX])
{
    struct ranked ranked = {.trials = calloc((size_t)study->n_trials + 1, sizeof(*ranked.trials))};
    *ret = ranked;
    if (!ranked.trials)
        return search_say(err, -ENOMEM, "out of memory: %d trials", study->n_trials);
    for (int i = 0; i < study->n_trials; i++) {
        const struct study_trial *trial = study->trials[i];
        if (!complete(trial))
            continue;
        int at = ret->n;
        for (; at > 0 && better(study, trial, ret->trials[at - 1]); at--)
            ret->trials[at] = ret->trials[at - 1];
        ret->trials[at] = trial;
        ret->n++;
    }
    return ret->n > 0 ? 0
                      : search_say(err, -ENODATA, "study %.100s: no trial is complete: nothing to propose",
                                   study->name);
}

/* The configuration of a trial, by the distributions that it was drawn from. */
static int configure(const struct config *base, const struct study *study, const struct study_trial *trial,
                     struct config *ret, char err[static TRIAL_ERROR_MAX])
{
    struct space space = {0};
    double *values = calloc((size_t)trial->n_params + 1, sizeof(double));
    char why[CONFIG_ERROR_MAX];
    int r = values ? 0 : -ENOMEM;
    for (int i = 0; i < trial->n_params && r == 0; i++)
        r = space_add(&space, study->params[trial->params[i].param],
                      &study->distributions[trial->params[i].distribution]);
    for (int i = 0; i < trial->n_params && r == 0; i++) /* the space is sorted */
        for (int k = 0; k < space.n; k++)
            if (strcmp(space.params[k].name, study->params[trial->params[i].param]) == 0)
                values[k] = trial->params[i].value;
    if (r < 0)
        search_say(err, r, "out of memory: trial %d", trial->number);
    else if ((r = settings_apply(base, &space, values, ret, why)) < 0)
        search_say(err, r, "trial %d: %.800s", trial->number, why);
    space_finish(&space);
    free(values);
    return r;
}

/* ---- The policy. ---- */

struct proposed {
    const struct study_trial *trials[POLICY_MEMBERS_MAX]; /* borrowed of the study */
    int n;
    bool together;              /* an ensemble */
    char path[PATH_MAX];        /* of its file */
    struct trial_split holdout; /* what it did there */
    double value;               /* of its best trial */
};

static int join(char ret[static PATH_MAX], const char *folder, const char *name,
                char err[static TRIAL_ERROR_MAX])
{
    return snprintf(ret, PATH_MAX, "%s/%s", folder, name) < PATH_MAX
               ? 0
               : search_say(err, -ENAMETOOLONG, "folder: %.100s…: a shorter path", folder);
}

/* Each proposal has a folder of its own, the first number after that of the one that proposal.json tells of
 * that nobody has: until that is written anew what it says is what lies there, whenever this process is
 * killed, and who else proposes meanwhile takes the number after. */
static int own_folder(const char *folder, char ret[static PATH_MAX], char err[static TRIAL_ERROR_MAX])
{
    static const char within[] = "/proposals/";
    char path[PATH_MAX], name[32];
    int r = join(path, folder, "proposal.json", err);
    if (r == 0)
        r = join(ret, folder, "proposals", err);
    if (r == 0)
        r = search_make_folder(ret, err);
    if (r < 0)
        return r;
    json_t *before = json_load_file(path, 0, NULL);
    const char *policy = json_string_value(json_object_get(before, "policy")), *at = NULL;
    for (const char *next = policy; next && (next = strstr(next, within)); next++)
        at = next + sizeof within - 1;
    unsigned long number = at ? strtoul(at, NULL, 10) + 1 : 1;
    json_decref(before);
    do {
        snprintf(name, sizeof name, "proposals/%lu", number++);
        if ((r = join(ret, folder, name, err)) < 0)
            return r;
        r = mkdir(ret, 0777) < 0 ? -errno : 0;
    } while (r == -EEXIST);
    return r < 0 ? search_say(err, r, "cannot make the folder: %.300s: %s", ret, strerror(-r)) : 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    (void)remove(path);
    return 0;
}

/* Nobody is told of what lies there. */
static void drop_folder(const char *own)
{
    enum { FOLDERS_OPEN = 8 };
    (void)nftw(own, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
}

static void tell(const struct trial_calls *calls, const char *words)
{
    if (calls && calls->told)
        calls->told(calls->ctx, words);
}

/* An account trades by one set of rules (strategy/policy/ensemble.h): the others are trained by the best
 * one's, whatever theirs were. */
static void take_rules(struct env_params *env, const struct env_params *best)
{
    env->norm_action = best->norm_action;
    env->initial_capital = best->initial_capital;
    env->buy_cost_pct = best->buy_cost_pct;
    env->sell_cost_pct = best->sell_cost_pct;
    env->slippage_pct = best->slippage_pct;
    env->trailing_stop_pct = best->trailing_stop_pct;
    env->max_position_pct = best->max_position_pct;
    env->min_cash_reserve = best->min_cash_reserve;
    env->forced_exit_bars = best->forced_exit_bars;
    env->forced_exit_pct = best->forced_exit_pct;
    env->cooldown_bars = best->cooldown_bars;
}

/* What a trial itself is at fault for: another may do better. A machine's fault is everybody's. */
static bool is_own_fault(int r)
{
    return r == -EDOM || r == -EINVAL;
}

/* One trial as the configuration of the proposal's member number ret->n, trained on all rows. 0, 1, or -errno
 * as trial_final(). */
static int make_member(const struct search_market *market, const struct config *base,
                       const struct study *study, const struct study_trial *trial, const char *folder,
                       const struct trial_calls *calls, struct config *config, struct config *best,
                       struct proposed *ret, char err[static TRIAL_ERROR_MAX])
{
    char own[PATH_MAX], number[16];
    struct trial_split split;
    snprintf(number, sizeof number, "%d", trial->number);
    int r = join(own, folder, number, err);
    if (r == 0)
        r = configure(base, study, trial, config, err);
    if (r == 0 && ret->n > 0)
        take_rules(&config->env, &best->env);
    if (r == 0)
        r = trial_final(market, config, own, calls, &split, err);
    if (r != 0)
        return r;
    if (ret->n == 0) {
        ret->holdout = split;
        ret->value = trial->values[0];
        *best = *config;
    }
    ret->trials[ret->n++] = trial;
    return 0;
}

/* The best trials whose training succeeds, at most `wanted`, below `folder`. */
static int make_members(const struct search_market *market, const struct config *base, int wanted,
                        const struct study *study, const struct ranked *ranked, const char *folder,
                        const struct trial_calls *calls, struct config *best, struct proposed *ret,
                        char err[static TRIAL_ERROR_MAX])
{
    char words[TRIAL_ERROR_MAX + 96];
    struct config *config = malloc(sizeof *config);
    int r = config ? 0 : search_say(err, -ENOMEM, "out of memory: a configuration");
    for (int i = 0; i < ranked->n && ret->n < wanted && (r == 0 || is_own_fault(r)); i++) {
        r = make_member(market, base, study, ranked->trials[i], folder, calls, config, best, ret, err);
        if (is_own_fault(r)) {
            snprintf(words, sizeof words, "trial %d is not proposed, the next best is: %s",
                     ranked->trials[i]->number, err);
            tell(calls, words);
        }
    }
    free(config);
    if (is_own_fault(r) && ret->n > 0)
        r = 0;
    if (r == 0)
        err[0] = '\0';
    return r;
}

static int most_members(const struct search_settings *settings)
{
    return settings->ensemble < POLICY_MEMBERS_MAX ? settings->ensemble : POLICY_MEMBERS_MAX;
}

/* The best trial's; with more of them wanted the ensemble of these, unless they cannot act together. */
static int make_policies(const struct search_market *market, const struct config *base,
                         const struct search_settings *settings, const struct study *study,
                         const struct ranked *ranked, const char *folder, const struct trial_calls *calls,
                         struct proposed *ret, char err[static TRIAL_ERROR_MAX])
{
    char own[PATH_MAX], number[16], why[TRIAL_ERROR_MAX];
    int numbers[POLICY_MEMBERS_MAX], wanted = most_members(settings);
    struct config *best = malloc(sizeof *best);
    int r = best ? 0 : search_say(err, -ENOMEM, "out of memory: a configuration");
    if (r == 0)
        r = make_members(market, base, wanted, study, ranked, folder, calls, best, ret, err);
    for (int i = 0; i < ret->n; i++)
        numbers[i] = ret->trials[i]->number;
    if (r == 0 && ret->n > 1) {
        r = together_make(market, best, settings, numbers, ret->n, folder, &ret->holdout, ret->path, why);
        ret->together = r == 0;
        if (r == -EINVAL) {
            tell(calls, why);
            r = 0;
        } else if (r < 0) {
            search_say(err, r, "%s", why);
        }
    }
    free(best);
    if (r != 0 || ret->together)
        return r;
    ret->n = 1;
    snprintf(number, sizeof number, "%d", ret->trials[0]->number);
    r = join(own, folder, number, err);
    return r == 0 ? join(ret->path, own, "policy.safetensors", err) : r;
}

/* ---- How much of it is luck. ---- */

/* papertape.validation/1 and the report, of trial number `proposed` among all of the search; *ret NULL where
 * there is nothing to compare: too few trials or rows, which is told. */
static int look_at_luck(const struct study *study, const struct search_members *others, int proposed,
                        const char *folder, const struct trial_calls *calls, json_t **ret,
                        char err[static TRIAL_ERROR_MAX])
{
    struct returns_matrix returns = {0};
    char why[VALIDATION_ERROR_MAX], path[PATH_MAX];
    char name[SEARCH_COLUMN_MAX];
    int left_out = 0;
    *ret = NULL;
    int r = join(path, folder, "report.html", err);
    if (r < 0)
        return r;
    r = search_members_returns(study, folder, others, proposed, &returns, name, &left_out, why);
    if (r == 0)
        r = validation_json(&returns, BLOCKS, 0, ret, why);
    if (r == 0)
        r = validation_report(&returns, *ret, study->name, path, why);
    returns_finish(&returns);
    if (r == -EINVAL) {
        tell(calls, why);
        return 0;
    }
    return r < 0 ? search_say(err, r, "%s", why) : 0;
}

static double figure(const json_t *validation, const char *in, const char *key)
{
    const json_t *object = in ? json_object_get(validation, in) : validation;
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* ---- papertape.proposal/1. ---- */

static json_t *real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *holdout_json(const struct search_market *market, const struct trial_split *split)
{
    const struct split_rows *rows = &market->holdout;
    if (rows->to == rows->from)
        return json_pack("{s:n, s:n, s:i, s:n, s:n, s:n, s:n, s:n, s:n}", "from_ns", "to_ns", "rows", 0,
                         "sharpe", "sharpe_holding", "sharpe_equal_weight", "return_pct", "drawdown_pct",
                         "trades");
    const struct market *bars = market->source.market;
    int64_t from = market_open_ns(bars, trainer_data_row(market->grid, rows->from));
    int64_t to = market_open_ns(bars, trainer_data_row(market->grid, rows->to - 1)) + bars->interval_ns;
    return json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:I}", "from_ns", (json_int_t)from, "to_ns",
                     (json_int_t)to, "rows", (json_int_t)(rows->to - rows->from), "sharpe",
                     real(split->sharpe), "sharpe_holding", real(split->holding), "sharpe_equal_weight",
                     real(split->equal_weight), "return_pct", real(100 * split->total_return), "drawdown_pct",
                     real(-100 * split->drawdown), "trades", (json_int_t)split->trades);
}

static json_t *gates_json(const struct search_settings *settings, const struct gate_figures *figures,
                          bool *ret_admitted, char *words, size_t cap)
{
    struct gate_verdict verdicts[GATES_MAX];
    int n = gate_judge(&settings->gates, figures, verdicts, ret_admitted);
    json_t *list = json_array();
    int begun = snprintf(words, cap, "%s: ", *ret_admitted ? "admitted" : "refused");
    gate_words(verdicts, n, *ret_admitted, words + begun, cap - (size_t)begun);
    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:b}", "gate", verdicts[i].gate, "figure",
                                              real(verdicts[i].figure), "limit", real(verdicts[i].limit),
                                              "passed", verdicts[i].passed));
    return list;
}

static json_t *expires_json(const struct search_settings *settings)
{
    return settings->expires_ns > 0 ? json_integer((json_int_t)(settings->expires_ns / 1000000000))
                                    : json_null();
}

/* What is counted of all trials. */
static json_t *counts_json(const struct study *study, const struct search_members *others, int complete)
{
    return json_pack("{s:i, s:i, s:I, s:o}", "trials", study->n_trials, "complete", complete, "tried",
                     (json_int_t)search_members_tried(study, others), "of_trials",
                     search_of_trials(study, others));
}

static json_t *luck_json(const json_t *validation)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "pbo", real(figure(validation, NULL, "pbo")),
                     "probability_of_loss", real(figure(validation, NULL, "probability_of_loss")), "slope",
                     real(figure(validation, NULL, "slope")), "intercept",
                     real(figure(validation, NULL, "intercept")), "deflated_sharpe",
                     real(figure(validation, "deflated", "deflated_sharpe")), "skill",
                     real(figure(validation, "deflated", "skill")), "expected_sharpe",
                     real(figure(validation, "deflated", "expected_sharpe")));
}

/* Which trials were trained, and by what: what a policy and its holdout follow from. */
static json_t *made_json(const struct search_settings *settings, const struct config *base,
                         const struct study *study, const struct proposed *proposed)
{
    return json_pack("{s:o, s:o}", "made_of", search_made_of(base, settings), "of_chosen",
                     search_of_chosen(study, proposed->trials, proposed->n));
}

/* Takes over `more`. */
static bool add(json_t *object, json_t *more)
{
    bool added = object && more && json_object_update(object, more) == 0;
    json_decref(more);
    return added;
}

/* NULL without memory. */
static json_t *build(const struct search_market *market, const struct search_settings *settings,
                     const struct config *base, const struct study *study,
                     const struct search_members *others, const struct ranked *ranked,
                     const struct proposed *proposed, const json_t *validation)
{
    bool holdout = market->holdout.to > market->holdout.from, admitted;
    const struct trial_split *split = &proposed->holdout;
    const struct gate_figures figures = {.sharpe = holdout ? split->sharpe : NAN,
                                         .sharpe_holding = holdout ? split->holding : NAN,
                                         .pbo = figure(validation, NULL, "pbo"),
                                         .deflated = figure(validation, "deflated", "skill"),
                                         .drawdown = holdout ? split->drawdown : NAN,
                                         .trades = holdout ? split->trades : -1};
    char words[512], path[PATH_MAX];
    json_t *gates = gates_json(settings, &figures, &admitted, words, sizeof words), *numbers = json_array();
    for (int i = 0; i < proposed->n; i++)
        json_array_append_new(numbers, json_integer(proposed->trials[i]->number));
    const char *whole = realpath(proposed->path, path) ? path : proposed->path;
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:i, s:o, s:s, s:s, s:o, s:o, s:o}", "schema", "papertape.proposal/1", "study",
        study->name, "name", base->name, "trial", proposed->trials[0]->number, "trials_proposed", numbers,
        "kind", proposed->together ? "ensemble" : "policy", "policy", whole, "value", real(proposed->value),
        "expires_s", expires_json(settings), "holdout", holdout_json(market, split));
    json_t *verdict = json_pack("{s:o, s:b, s:s}", "gates", gates, "admitted", admitted, "words", words);
    bool good = add(object, counts_json(study, others, ranked->n));
    good = add(object, luck_json(validation)) && good;
    good = add(object, verdict) && good;
    good = add(object, made_json(settings, base, study, proposed)) && good;
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

static int write_json(const json_t *object, const char *folder, char err[static TRIAL_ERROR_MAX])
{
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    if (!text)
        return search_say(err, -ENOMEM, "out of memory: proposal.json");
    int r = search_write_file(folder, "proposal.json", text, strlen(text), err);
    free(text);
    return r;
}

/* Writing may fail when the file has its name already. */
static bool is_written(const json_t *object, const char *folder)
{
    char path[PATH_MAX];
    if (!object || snprintf(path, sizeof path, "%s/proposal.json", folder) >= (int)sizeof path)
        return false;
    json_t *kept = json_load_file(path, 0, NULL);
    bool same = kept && json_equal(json_object_get(kept, "policy"), json_object_get(object, "policy"));
    json_decref(kept);
    return same;
}

int proposal_make(const struct search_market *market, const struct config *base,
                  const struct search_settings *settings, const struct study *study,
                  const struct search_members *others, const char *folder, const struct trial_calls *calls,
                  json_t **ret, char err[static TRIAL_ERROR_MAX])
{
    struct ranked ranked;
    struct proposed *proposed = calloc(1, sizeof *proposed);
    char own[PATH_MAX];
    bool made = false;
    json_t *validation = NULL, *object = NULL;
    int r = rank(study, &ranked, err);
    if (r == 0 && !proposed)
        r = search_say(err, -ENOMEM, "out of memory: a proposal");
    if (r == 0)
        made = (r = own_folder(folder, own, err)) == 0;
    if (r == 0)
        r = make_policies(market, base, settings, study, &ranked, own, calls, proposed, err);
    if (r == 0)
        r = look_at_luck(study, others, proposed->trials[0]->number, folder, calls, &validation, err);
    if (r == 0 && !(object = build(market, settings, base, study, others, &ranked, proposed, validation)))
        r = search_say(err, -ENOMEM, "out of memory: a proposal");
    if (r == 0)
        r = write_json(object, folder, err);
    free(ranked.trials);
    free(proposed);
    json_decref(validation);
    if (r != 0) {
        if (made && !is_written(object, folder))
            drop_folder(own);
        json_decref(object);
        return r;
    }
    *ret = object;
    return 0;
}

/* ---- An earlier one. ---- */

static bool says(const json_t *proposal, const char *key, json_t *now)
{
    bool same = now && json_equal(json_object_get(proposal, key), now);
    json_decref(now);
    return same;
}

/* Of these trials and none besides, and nothing of them has changed. */
static bool is_of_these(const json_t *proposal, const struct study *study,
                        const struct search_members *others)
{
    const char *name = json_string_value(json_object_get(proposal, "study"));
    return name && strcmp(name, study->name) == 0 &&
           says(proposal, "of_trials", search_of_trials(study, others));
}

/* Would the same trials be trained? Then the policy is what it would be, and what it did on the holdout. */
static bool is_trained_so(const json_t *proposal, const struct search_settings *settings,
                          const struct study *study, const struct ranked *ranked)
{
    const json_t *numbers = json_object_get(proposal, "trials_proposed");
    const char *policy = json_string_value(json_object_get(proposal, "policy"));
    const int wanted = most_members(settings), n = ranked->n < wanted ? ranked->n : wanted;
    return n > 0 && json_array_size(numbers) == (size_t)n && policy && access(policy, R_OK) == 0 &&
           says(proposal, "of_chosen", search_of_chosen(study, ranked->trials, n));
}

/* Counts, and what is luck, among the trials that there are now. 1; 0: other trials would be trained. */
static int reckon_again(const struct search_settings *settings, const struct study *study,
                        const struct search_members *others, const char *folder,
                        const struct trial_calls *calls, json_t *proposal, char err[static TRIAL_ERROR_MAX])
{
    struct ranked ranked;
    json_t *validation = NULL;
    int r = rank(study, &ranked, err);
    bool same = r == 0 && is_trained_so(proposal, settings, study, &ranked);
    if (same)
        r = look_at_luck(study, others, ranked.trials[0]->number, folder, calls, &validation, err);
    if (same && r == 0) {
        bool added = add(proposal, counts_json(study, others, ranked.n));
        if (!add(proposal, luck_json(validation)) || !added)
            r = search_say(err, -ENOMEM, "out of memory: a proposal");
    }
    json_decref(validation);
    free(ranked.trials);
    return r == 0 ? same : r == -ENODATA ? 0 : r;
}

/* By the limits, the name and the expiry that it has. */
static bool is_judged_so(const json_t *proposal, const struct config *base,
                         const struct search_settings *settings, const json_t *gates)
{
    const json_t *before = json_object_get(proposal, "gates"), *gate;
    json_t *expires = expires_json(settings);
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

int proposal_again(const struct config *base, const struct search_settings *settings,
                   const struct study *study, const struct search_members *others, const char *folder,
                   const struct trial_calls *calls, json_t *proposal, char err[static TRIAL_ERROR_MAX])
{
    struct gate_figures figures;
    char words[512], why[GATE_ERROR_MAX];
    bool admitted;
    if (!says(proposal, "made_of", search_made_of(base, settings)))
        return 0;
    bool held = is_of_these(proposal, study, others);
    int r = held ? 1 : reckon_again(settings, study, others, folder, calls, proposal, err);
    if (r <= 0)
        return r;
    if (gate_figures_parse(proposal, &figures, why) < 0)
        return 0;
    json_t *gates = gates_json(settings, &figures, &admitted, words, sizeof words);
    if (held && is_judged_so(proposal, base, settings, gates)) {
        json_decref(gates);
        return 1;
    }
    json_t *verdict = json_pack("{s:s, s:o, s:o, s:b, s:s}", "name", base->name, "expires_s",
                                expires_json(settings), "gates", gates, "admitted", admitted, "words", words);
    r = add(proposal, verdict) ? write_json(proposal, folder, err)
                               : search_say(err, -ENOMEM, "out of memory: a proposal");
    return r < 0 ? r : 1;
}
