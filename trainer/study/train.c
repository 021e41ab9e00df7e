/* One training of a trial: on the rows of its split alone. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "trainer/study/internal.h"
#include "trainer/training/make.h"

bool study_continue(struct study_running_trial *run, double share)
{
    if (run->go == TRIAL_GO && run->calls && run->calls->progress)
        run->go = run->calls->progress(run->calls->ctx, (run->done + share) / run->whole, run->steps_s);
    return run->go == TRIAL_GO;
}

/* ---- What is seen. ---- */

/* Rows of the grid as rows of the market. */
static struct feature_rows in_market(const struct study_market *market, struct split_rows rows)
{
    return (struct feature_rows){trainer_data_row(market->grid, rows.from),
                                 trainer_data_row(market->grid, rows.to - 1) + 1};
}

int study_fit(const struct study_market *market, const struct split_rows *blocks, int n, size_t end,
              struct trainer_data **ret, char err[static TRIAL_ERROR_MAX])
{
    struct feature_rows fit[SPLIT_BLOCKS_MAX];
    const struct trainer_data_options options = {
        .from = market->source.train.from,
        .rows = end,
        .common = market->config->env.execution == ENV_REFERENCE,
        .features = market->columns ? market->config->data.features : NULL,
        .columns = market->columns,
        .session_columns = market->config->data.session_features,
        .calendar = training_source_days(&market->source),
        .fit_blocks = fit,
        .n_fit_blocks = (size_t)n,
        .backend = FEATURE_EXACT,
        .min_order_qty = market->source.least,
    };
    for (int i = 0; i < n; i++)
        fit[i] = in_market(market, blocks[i]);
    return trainer_data_create(market->source.market, &options, ret, err);
}

static int take_data(const struct study_market *market, int which, const struct split_rows *blocks, int n,
                     size_t end, struct study_trained *learnt, char err[static TRIAL_ERROR_MAX])
{
    learnt->data = market->fitted[which];
    learnt->owned = !learnt->data;
    return learnt->owned ? study_fit(market, blocks, n, end, &learnt->data, err) : 0;
}

static int make_markets(const struct train_config *config, const struct split_rows *blocks, int n,
                        struct study_trained *learnt, char err[static TRIAL_ERROR_MAX])
{
    struct env_block within[SPLIT_BLOCKS_MAX];
    char why[ENV_ERROR_MAX];
    for (int i = 0; i < n; i++)
        within[i] = (struct env_block){(int32_t)blocks[i].from, (int32_t)blocks[i].to};
    int r = env_market_create(trainer_data_source(learnt->data), &config->env, &learnt->market, why);
    if (r == 0)
        r = env_market_blocks(learnt->market, within, n, &learnt->within, why);
    return r < 0 ? study_error(err, r, "the bars of training: %.900s", why) : 0;
}

int study_train_source(const struct study_running_trial *run, const struct split_rows *blocks, int n,
                       struct study_trained *learnt, char err[static TRIAL_ERROR_MAX])
{
    const struct study_market *market = run->market;
    const struct feature_rows first = in_market(market, blocks[0]), last = in_market(market, blocks[n - 1]);
    struct training_source source = market->source; /* its bars, calendar and least quantities */
    source.config = run->config;
    source.train = source.fit = (struct source_rows){first.from, last.to};
    source.train_data = learnt->data;
    int r = make_markets(run->config, blocks, n, learnt, err);
    source.train_market = learnt->within;
    if (r == 0)
        learnt->source = source;
    return r;
}

/* ---- Learning. ---- */

static int iterate(struct study_running_trial *run, struct learner *learner, struct study_trained *learnt,
                   char err[static TRIAL_ERROR_MAX])
{
    const double total = (double)run->config->ppo.total_steps;
    char why[PPO_ERROR_MAX];
    while (learnt->steps < run->config->ppo.total_steps) {
        struct ppo_update update;
        double started = clock_now_s();
        if (!study_continue(run, (double)learnt->steps / total))
            return 1;
        int r = ppo_learner_iterate(learner, &update, why);
        if (r < 0) /* -EINVAL: an action is not finite, so neither are the weights */
            return study_error(err, r == -EINVAL ? -EDOM : r, "%s", why);
        run->steps_s = (double)(update.steps - learnt->steps) / (clock_now_s() - started);
        learnt->steps = update.steps;
    }
    return study_continue(run, 1) ? 0 : 1;
}

int study_train(struct study_running_trial *run, int which, const struct split_rows *blocks, int n,
                size_t end, struct study_trained *ret, char err[static TRIAL_ERROR_MAX])
{
    const struct study_market *market = run->market;
    struct study_trained learnt = {0};
    struct making making = {0};
    char why[KEEP_ERROR_MAX];
    double started = clock_now_s();
    int r = study_continue(run, 0) ? take_data(market, which, blocks, n, end, &learnt, err) : 1;
    if (r == 0)
        r = study_train_source(run, blocks, n, &learnt, err);
    if (r == 0)
        r = training_making_begin(&learnt.source, &run->config->ppo, false,
                                  run->calls ? run->calls->warned : NULL, run->calls ? run->calls->ctx : NULL,
                                  &making, err);
    if (r == 0)
        r = iterate(run, making.learner, &learnt, err);
    if (r == 0 && (r = training_kept_policy_take(making.learner, &learnt.policy, why)) < 0)
        study_error(err, r, "%s", why);
    training_making_end(&making);
    learnt.seconds = clock_now_s() - started;
    if (r != 0) {
        study_trained_finish(&learnt);
        return r;
    }
    *ret = learnt;
    return 0;
}

void study_trained_finish(struct study_trained *learnt)
{
    training_kept_policy_drop(&learnt->policy);
    env_market_destroy(learnt->within);
    env_market_destroy(learnt->market);
    if (learnt->owned)
        trainer_data_destroy(learnt->data);
    *learnt = (struct study_trained){0};
}
