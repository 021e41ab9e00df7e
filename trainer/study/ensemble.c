#include "trainer/study/proposal_policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "strategy/policy/ensemble.h"
#include "trainer/command/eval_episode.h"
#include "trainer/study/internal.h"

static int write_file(const struct study_settings *settings, const int *numbers, int n, const char *path,
                      char err[static TRIAL_ERROR_MAX])
{
    char names[POLICY_MEMBERS_MAX][40], why[POLICY_ERROR_MAX];
    const char *members[POLICY_MEMBERS_MAX];
    for (int i = 0; i < n; i++) {
        snprintf(names[i], sizeof names[i], "%d/policy.safetensors", numbers[i]);
        members[i] = names[i];
    }
    int r = ensemble_write(path, members, n, settings->combine, ENSEMBLE_WINDOW, why);
    return r < 0 ? study_error(err, r, "%s", why) : 0;
}

/* ---- On the holdout. ---- */

static int keep(const struct study_market *market, const struct training_episode *episode, const char *folder,
                struct trial_split *ret, char err[static TRIAL_ERROR_MAX])
{
    size_t rows = market->holdout.to - market->holdout.from;
    struct study_tested tested = {.steps = (int64_t)episode->n,
                                  .trades = (int64_t)(episode->buys + episode->sells),
                                  .traded = episode->turnover};
    double before = episode->capital, *returns = calloc(rows, sizeof(double)); /* 0 after a ruin */
    if (!returns)
        return study_error(err, -ENOMEM, "out of memory: the holdout");
    for (size_t i = 0; i < episode->n; i++) {
        returns[i] = episode->equity[i] / before - 1;
        before = episode->equity[i];
        tested.level += before;
    }
    int r = study_write_returns(market, market->holdout, returns, 1, folder, "holdout.csv", err);
    if (r == 0 && study_figures(market, &market->holdout, 1, returns, &tested, ret) < 0)
        r = study_error(err, -ENOMEM, "out of memory: figures");
    free(returns);
    return r;
}

static int test(const struct study_market *market, const struct train_config *config,
                const struct ensemble_policy *ensemble, const char *folder, struct trial_split *ret,
                char err[static TRIAL_ERROR_MAX])
{
    const struct env_options one = {.copies = 1, .backend = ENV_SCALAR};
    struct eval_market eval = {.policy = ensemble->members[0],
                               .ensemble = ensemble,
                               .calendar = market->source.calendar,
                               .params = config->env,
                               .bars = market->source.market,
                               .data = market->grid};
    struct training_episode episode;
    training_source_test_params(&eval.params);
    eval.params.actions = ENV_CONTINUOUS;
    eval.params.lookback = ensemble->policy.lookback;
    size_t lookback = (size_t)eval.params.lookback;
    int r = env_market_create(trainer_data_source(market->grid), &eval.params, &eval.env_market, err);
    if (r == 0)
        r = env_create(&eval.params, eval.env_market, &one, &eval.env, err);
    if (r == 0)
        r = trainer_eval_episode_play(&eval, market->holdout.from - lookback, market->holdout.to + lookback,
                                      NULL, &episode, err);
    if (r == 0) {
        r = keep(market, &episode, folder, ret, err);
        if (r == 0 && training_episode_verdict(&episode, &ret->verdict) < 0)
            r = study_error(err, -ENOMEM, "out of memory: the verdict");
        training_episode_finish(&episode);
    }
    env_destroy(eval.env);
    env_market_destroy(eval.env_market);
    return r;
}

int study_ensemble_make(const struct study_market *market, const struct train_config *config,
                        const struct study_settings *settings, const int *numbers, int n, const char *folder,
                        struct trial_split *ret, char ret_path[static PATH_MAX],
                        char err[static TRIAL_ERROR_MAX])
{
    struct ensemble_policy *ensemble = NULL;
    char path[PATH_MAX], why[POLICY_ERROR_MAX];
    if (snprintf(path, sizeof path, "%s/ensemble.json", folder) >= (int)sizeof path)
        return study_error(err, -ENAMETOOLONG, "folder: %.100s…: a shorter path", folder);
    int r = write_file(settings, numbers, n, path, err);
    if (r < 0)
        return r;
    r = ensemble_load(path, &ensemble, why);
    if (r < 0)
        study_error(err, r, "no ensemble, the best trial alone: %s", why);
    if (r == 0 && market->holdout.to > market->holdout.from)
        r = test(market, config, ensemble, folder, ret, err);
    ensemble_destroy(ensemble);
    if (r < 0)
        unlink(path);
    else
        strcpy(ret_path, path);
    return r;
}
