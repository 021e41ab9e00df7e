#include "trainer/study/trial.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/study/internal.h"

struct train_config *study_own_config(const struct train_config *config)
{
    struct train_config *own = malloc(sizeof *own);
    if (own) {
        *own = *config;
        own->env.start = 0;
    }
    return own;
}

static int check_config(const struct study_market *market, const struct train_config *config,
                        char err[static TRIAL_ERROR_MAX])
{
    if ((size_t)config->env.lookback > market->lookback)
        return study_error(err, -EINVAL,
                           "[environment] lookback: %d: at most %zu, by which the rows were split",
                           config->env.lookback, market->lookback);
    if (config->env.execution != market->config->env.execution)
        return study_error(err, -EINVAL, "[environment] execution: the same in all trials is right");
    return 0;
}

/* ---- One split. ---- */

struct trial {
    struct study_running_trial run;
    struct split_rows rows; /* of all groups that are tested in some split */
    double *paths;          /* [split.paths][rows] */
    double *returns;        /* of one split */
};

/* The test of each group is part of one path: copies its returns there. */
void study_keep_returns(const struct study_market *market, struct split_rows within, int combination,
                        const int *chosen, const double *returns, double *paths)
{
    const struct study_split *split = &market->settings->split;
    size_t all = market->search.to - market->search.from, n = within.to - within.from;
    const double *from = returns;
    for (int i = 0; i < split->tested; i++) {
        struct split_rows group = split_group(split, all, chosen[i]);
        size_t at = market->search.from + group.from - within.from, rows = group.to - group.from;
        int path = split_path(split, combination, chosen[i]);
        memcpy(paths + (size_t)path * n + at, from, rows * sizeof(double));
        from += rows;
    }
}

static void shift(struct split_rows *blocks, int n, size_t by)
{
    for (int i = 0; i < n; i++) {
        blocks[i].from += by;
        blocks[i].to += by;
    }
}

static int run_split(struct trial *trial, int combination, const int *chosen, struct trial_split *ret,
                     char err[static TRIAL_ERROR_MAX])
{
    const struct study_market *market = trial->run.market;
    const struct study_split *split = &market->settings->split;
    size_t all = market->search.to - market->search.from;
    struct split_rows train[SPLIT_BLOCKS_MAX], test[SPLIT_GROUPS_MAX];
    struct study_trained learnt;
    struct study_tested tested;
    int n_train = study_training(market, chosen, train);
    int n_test = split_blocks(split, all, chosen, test);
    shift(test, n_test, market->search.from);
    int r = study_train(&trial->run, combination, train, n_train, market->search.to + market->lookback,
                        &learnt, err);
    if (r != 0)
        return r;
    r = study_evaluate(&trial->run, &learnt, test, n_test, trial->returns, &tested, err);
    ret->steps = learnt.steps;
    ret->seconds = learnt.seconds;
    study_trained_finish(&learnt);
    if (r == 0 && study_figures(market, test, n_test, trial->returns, &tested, ret) < 0)
        r = study_error(err, -ENOMEM, "out of memory: figures");
    if (r == 0)
        study_keep_returns(market, trial->rows, combination, chosen, trial->returns, trial->paths);
    return r;
}

/* ---- All of them. ---- */

static int run_splits(struct trial *trial, struct trial_outcome *outcome, char err[static TRIAL_ERROR_MAX])
{
    const struct study_market *market = trial->run.market;
    const struct trial_calls *calls = trial->run.calls;
    int chosen[SPLIT_GROUPS_MAX];
    split_begin(&market->settings->split, chosen);
    do {
        int r = run_split(trial, outcome->n_splits, chosen, &outcome->splits[outcome->n_splits], err);
        if (r != 0)
            return r;
        outcome->n_splits++;
        outcome->value = study_value(market->settings, outcome);
        trial->run.done++;
        bool last = outcome->n_splits == market->settings->split.combinations;
        if (calls && calls->reported)
            trial->run.go = calls->reported(calls->ctx, outcome->n_splits, outcome->value);
        if (trial->run.go != TRIAL_GO && !last)
            return 1;
        trial->run.go = TRIAL_GO;
    } while (split_next(&market->settings->split, chosen));
    return 0;
}

/* From the first group that is tested to the last. */
struct split_rows study_tested_rows(const struct study_market *market)
{
    const struct study_split *split = &market->settings->split;
    size_t all = market->search.to - market->search.from;
    int chosen[SPLIT_GROUPS_MAX];
    split_begin(split, chosen);
    return (struct split_rows){market->search.from + split_group(split, all, chosen[0]).from,
                               market->search.to};
}

int study_trial_run(const struct study_market *market, const struct train_config *config, const char *folder,
                    const struct trial_calls *calls, struct trial_outcome *ret,
                    char err[static TRIAL_ERROR_MAX])
{
    int r = check_config(market, config, err);
    if (r < 0)
        return r;
    const struct study_split *split = &market->settings->split;
    struct trial trial = {.rows = study_tested_rows(market)};
    size_t n = trial.rows.to - trial.rows.from;
    struct train_config *own = study_own_config(config);
    struct trial_outcome *outcome = calloc(1, sizeof *outcome);
    trial.paths = calloc((size_t)split->paths * n, sizeof(double));
    trial.returns = malloc(n * sizeof(double));
    trial.run = (struct study_running_trial){
        .market = market, .config = own, .calls = calls, .whole = split->combinations};
    r = own && outcome && trial.paths && trial.returns ? 0
                                                       : study_error(err, -ENOMEM, "out of memory: a trial");
    if (r == 0) {
        r = run_splits(&trial, outcome, err);
        if (r == 1)
            study_error(err, 1, "%s", trial.run.go == TRIAL_STOP_PRUNED ? "pruned" : "stopped");
        *ret = *outcome;
    }
    if (r == 0)
        r = study_write_returns(market, trial.rows, trial.paths, split->paths, folder, "returns.csv", err);
    free(trial.paths);
    free(trial.returns);
    free(outcome);
    free(own);
    return r;
}

/* ---- On all rows of the study. ---- */

static int finish(struct study_running_trial *run, const struct study_trained *learnt, const char *folder,
                  struct trial_split *ret, char err[static TRIAL_ERROR_MAX])
{
    const struct study_market *market = run->market;
    size_t n = market->holdout.to - market->holdout.from;
    char path[PATH_MAX], why[KEEP_ERROR_MAX];
    struct study_tested tested;
    double *returns = malloc((n + 1) * sizeof(double));
    int r =
        returns ? study_make_folder(folder, err) : study_error(err, -ENOMEM, "out of memory: the holdout");
    ret->steps = learnt->steps;
    ret->seconds = learnt->seconds;
    if (r == 0 && n > 0)
        r = study_evaluate(run, learnt, &market->holdout, 1, returns, &tested, err);
    if (r == 0 && n > 0)
        r = study_write_returns(market, market->holdout, returns, 1, folder, "holdout.csv", err);
    if (r == 0 && n > 0 && study_figures(market, &market->holdout, 1, returns, &tested, ret) < 0)
        r = study_error(err, -ENOMEM, "out of memory: figures");
    if (r == 0 && n > 0)
        r = study_judge(run, learnt, market->holdout, &ret->verdict, err);
    free(returns);
    if (r != 0)
        return r;
    if (snprintf(path, sizeof path, "%s/policy.safetensors", folder) >= (int)sizeof path)
        return study_error(err, -ENAMETOOLONG, "folder: %.100s…: a shorter path", folder);
    r = training_kept_policy_write(&learnt->policy, &learnt->source, learnt->steps,
                                   n > 0 ? &ret->verdict : NULL, path, why);
    return r < 0 ? study_error(err, r, "%s", why) : 0;
}

int study_trial_final(const struct study_market *market, const struct train_config *config,
                      const char *folder, const struct trial_calls *calls, struct trial_split *ret,
                      char err[static TRIAL_ERROR_MAX])
{
    int r = check_config(market, config, err);
    if (r < 0)
        return r;
    struct train_config *own = study_own_config(config);
    struct study_running_trial run = {.market = market, .config = own, .calls = calls, .whole = 1};
    struct study_trained learnt;
    struct trial_split split = {0};
    if (!own)
        return study_error(err, -ENOMEM, "out of memory: a trial");
    r = study_train(&run, market->settings->split.combinations, &market->search, 1, market->rows, &learnt,
                    err);
    if (r == 0) {
        r = finish(&run, &learnt, folder, &split, err);
        study_trained_finish(&learnt);
    }
    if (r == 1)
        study_error(err, 1, "stopped");
    if (r == 0)
        *ret = split;
    free(own);
    return r;
}
