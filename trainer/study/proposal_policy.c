#include "trainer/study/proposal_policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/study/internal.h"

/* A trial's values, and the distributions that they were drawn from; both for the caller to free. */
static int values_of(const struct study *study, const struct study_trial *trial, struct space *ret_space,
                     double **ret, char err[static TRIAL_ERROR_MAX])
{
    struct space space = {0};
    double *values = calloc((size_t)trial->n_params + 1, sizeof(double));
    int r = values ? 0 : -ENOMEM;
    for (int i = 0; i < trial->n_params && r == 0; i++)
        r = space_add(&space, study->params[trial->params[i].param],
                      &study->distributions[trial->params[i].distribution]);
    for (int i = 0; i < trial->n_params && r == 0; i++) /* the space is sorted */
        for (int k = 0; k < space.n; k++)
            if (strcmp(space.params[k].name, study->params[trial->params[i].param]) == 0)
                values[k] = trial->params[i].value;
    if (r < 0) {
        space_finish(&space);
        free(values);
        return study_error(err, r, "out of memory: trial %d", trial->number);
    }
    *ret_space = space;
    *ret = values;
    return 0;
}

/* The configuration of a trial. */
static int configure(const struct train_config *base, const struct study *study,
                     const struct study_trial *trial, struct train_config *ret,
                     char err[static TRIAL_ERROR_MAX])
{
    struct space space;
    double *values;
    char why[CONFIG_ERROR_MAX];
    int r = values_of(study, trial, &space, &values, err);
    if (r < 0)
        return r;
    if ((r = study_settings_apply(base, &space, values, ret, why)) < 0)
        study_error(err, r, "trial %d: %.800s", trial->number, why);
    space_finish(&space);
    free(values);
    return r;
}

static int test_rules(const struct study_market *market, const struct study *study,
                      const struct study_trial *trial, const char *folder, const struct trial_calls *calls,
                      struct trial_split *ret, char err[static TRIAL_ERROR_MAX])
{
    struct space space;
    double *values;
    int r = values_of(study, trial, &space, &values, err);
    if (r < 0)
        return r;
    r = study_rules_final(market, &space, values, folder, calls, ret, err);
    space_finish(&space);
    free(values);
    return r;
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
    env->limits = best->limits;
}

/* Errors of the trial itself: another may succeed. An error of the machine concerns all. */
static bool is_own_fault(int r)
{
    return r == -EDOM || r == -EINVAL;
}

/* One trial as the configuration of the proposal's member number ret->n, trained on all rows. 0, 1, or -errno
 * as study_trial_final(). */
static int make_member(const struct study_market *market, const struct train_config *base,
                       const struct study *study, const struct study_trial *trial, const char *folder,
                       const struct trial_calls *calls, struct train_config *config,
                       struct train_config *best, struct study_proposed *ret,
                       char err[static TRIAL_ERROR_MAX])
{
    char own[PATH_MAX], number[16];
    struct trial_split split;
    snprintf(number, sizeof number, "%d", trial->number);
    int r = study_join_path(own, folder, number, err);
    if (r == 0 && ret->rules)
        r = test_rules(market, study, trial, own, calls, &split, err);
    else if (r == 0)
        r = configure(base, study, trial, config, err);
    if (r == 0 && ret->n > 0)
        take_rules(&config->env, &best->env);
    if (r == 0 && !ret->rules)
        r = study_trial_final(market, config, own, calls, &split, err);
    if (r != 0)
        return r;
    if (ret->n == 0) {
        ret->holdout = split;
        ret->value = trial->values[0];
        if (!ret->rules)
            *best = *config;
    }
    ret->trials[ret->n++] = trial;
    return 0;
}

/* The best trials whose training succeeds, at most `wanted`, below `folder`. */
static int make_members(const struct study_market *market, const struct train_config *base, int wanted,
                        const struct study *study, const struct study_ranked *ranked, const char *folder,
                        const struct trial_calls *calls, struct train_config *best,
                        struct study_proposed *ret, char err[static TRIAL_ERROR_MAX])
{
    char words[TRIAL_ERROR_MAX + 96];
    struct train_config *config = malloc(sizeof *config);
    int r = config ? 0 : study_error(err, -ENOMEM, "out of memory: a configuration");
    for (int i = 0; i < ranked->n && ret->n < wanted && (r == 0 || is_own_fault(r)); i++) {
        r = make_member(market, base, study, ranked->trials[i], folder, calls, config, best, ret, err);
        if (is_own_fault(r)) {
            snprintf(words, sizeof words, "trial %d is not proposed, the next best is: %s",
                     ranked->trials[i]->number, err);
            study_notify(calls, words);
        }
    }
    free(config);
    if (is_own_fault(r) && ret->n > 0)
        r = 0;
    if (r == 0)
        err[0] = '\0';
    return r;
}

int study_proposed_most(const struct study_settings *settings)
{
    return settings->ensemble < POLICY_MEMBERS_MAX ? settings->ensemble : POLICY_MEMBERS_MAX;
}

/* The best trial's; if several are wanted, their ensemble, unless they cannot act together. */
int study_proposed_make(const struct study_market *market, const struct train_config *base,
                        const struct study_settings *settings, const struct study *study,
                        const struct study_ranked *ranked, const char *folder,
                        const struct trial_calls *calls, struct study_proposed *ret,
                        char err[static TRIAL_ERROR_MAX])
{
    char own[PATH_MAX], number[16], why[TRIAL_ERROR_MAX];
    int numbers[POLICY_MEMBERS_MAX], wanted = study_proposed_most(settings);
    struct train_config *best = malloc(sizeof *best);
    int r = best ? 0 : study_error(err, -ENOMEM, "out of memory: a configuration");
    ret->rules = settings->rules.strategy != NULL;
    if (r == 0)
        r = make_members(market, base, wanted, study, ranked, folder, calls, best, ret, err);
    for (int i = 0; i < ret->n; i++)
        numbers[i] = ret->trials[i]->number;
    if (r == 0 && ret->n > 1) {
        r = study_ensemble_make(market, best, settings, numbers, ret->n, folder, &ret->holdout, ret->path,
                                why);
        ret->together = r == 0;
        if (r == -EINVAL) {
            study_notify(calls, why);
            r = 0;
        } else if (r < 0) {
            study_error(err, r, "%s", why);
        }
    }
    free(best);
    if (r != 0 || ret->together)
        return r;
    ret->n = 1;
    snprintf(number, sizeof number, "%d", ret->trials[0]->number);
    r = study_join_path(own, folder, number, err);
    return r == 0 ? study_join_path(ret->path, own, ret->rules ? "strategy.ini" : "policy.safetensors", err)
                  : r;
}
