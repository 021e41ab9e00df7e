/* Trials of a study of a strategy: backtests of each split's blocks. Nothing is fitted, so a block that
 * several splits test alike is run once a trial. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"
#include "strategy/metrics.h"
#include "trainer/study/internal.h"

int study_rules_account(struct study_market *market, size_t *ret_needs, char err[static TRIAL_ERROR_MAX])
{
    const struct study_rules *rules = &market->settings->rules;
    const struct market *bars = market->source.market;
    const struct backtest_config config = {.market = bars, .to = market->source.train.to};
    char why[BACKTEST_TERMS_ERROR_MAX];
    size_t most = 1;
    int r = backtest_terms_account(&rules->terms, bars, &market->account, why);
    if (r < 0)
        return study_error(err, -EINVAL, "%s%s", r == -ERANGE ? "[account] cash: " : "[data] bars: ", why);
    snprintf(market->account.name, sizeof market->account.name, "%s", study_rules_title(rules));
    market->account.strategy = rules->strategy;
    struct account_spec ends = market->account;
    for (int i = 0; (r = study_rules_ends(rules, &market->settings->space, i, ends.params)) >= 0; i++) {
        struct backtest_needs needs;
        if (r > 0 && backtest_needs(&config, &ends, &needs, why, sizeof why) < 0)
            return study_error(err, -EINVAL, "[study] strategy: %s", why);
        if (r > 0 && needs.bars > most)
            most = needs.bars;
    }
    *ret_needs = most;
    return 0;
}

int study_rules_backtest(const struct study_market *market, struct split_rows block,
                         const double params[static STRATEGY_PARAMS_MAX],
                         bool (*progress)(void *ctx, double share), void *ctx, struct account_spec *spec,
                         struct backtest_config *ret_config, struct backtest *ret,
                         char err[static TRIAL_ERROR_MAX])
{
    const struct backtest_terms *terms = &market->settings->rules.terms;
    char why[512];
    *spec = market->account;
    memcpy(spec->params, params, sizeof spec->params);
    *ret_config = (struct backtest_config){.market = market->source.market,
                                           .calendar = training_source_days(&market->source),
                                           .from = trainer_data_row(market->grid, block.from),
                                           .to = trainer_data_row(market->grid, block.to - 1) + 1,
                                           .accounts = spec,
                                           .n_accounts = 1,
                                           .latency_ns = terms->latency_ns,
                                           .slippage_e6 = terms->slippage_e6,
                                           .threads = 1,
                                           .progress = progress,
                                           .ctx = ctx};
    int r = backtest_run(ret_config, ret, why, sizeof why);
    if (r == -ECANCELED)
        return 1;
    if (r == -ENOMEM)
        return study_error(err, r, "out of memory: a backtest");
    return r < 0 ? study_error(err, -EINVAL, "%s", why) : 0;
}

void study_rules_returns(const struct backtest_config *config, const struct backtest *backtest,
                         double *returns, struct study_tested *ret)
{
    const struct backtest_account *ran = &backtest->accounts[0];
    const int scale = config->accounts->currency_scale;
    double before = decimal_to_double(config->accounts->cash, scale);
    *ret = (struct study_tested){.steps = (int64_t)(config->to - config->from),
                                 .trades = (int64_t)ran->n_fills,
                                 .traded = decimal_to_double(ran->turnover, scale)};
    for (size_t i = 0; i < config->to - config->from; i++) {
        const double r = (ran->equity[i] - before) / before;
        returns[i] = before > 0 && isfinite(r) ? fmax(r, -1) : 0;
        before = ran->equity[i];
        ret->level += before;
    }
}

static double number_or_0(double x)
{
    return isfinite(x) ? x : 0;
}

int study_rules_figures(const struct study_market *market, struct split_rows block,
                        const struct backtest_config *config, const struct backtest *backtest,
                        const double *returns, const struct study_tested *tested, struct trial_split *ret)
{
    const double cash = decimal_to_double(config->accounts->cash, config->accounts->currency_scale);
    struct metrics_series equity =
        metrics_equity(cash, backtest->accounts[0].equity, config->to - config->from);
    struct metrics own;
    int r = study_figures(market, &block, 1, returns, tested, ret);
    metrics_look(&equity, metrics_periods_per_year(config->market->interval_ns), &own);
    if (r < 0)
        return r;
    ret->sharpe = number_or_0(own.sharpe);
    ret->total_return = own.total_return;
    ret->drawdown = fabs(own.max_drawdown);
    ret->volatility = number_or_0(own.volatility);
    return 0;
}

/* ---- A trial. ---- */

struct tested_block {
    struct split_rows rows;
    double *returns;
    struct study_tested tested;
    struct trial_split figures;
};

struct rules_trial {
    const struct study_market *market;
    const struct trial_calls *calls;
    double params[STRATEGY_PARAMS_MAX];
    struct tested_block *blocks; /* [n_blocks] that were run */
    int n_blocks;
    struct split_rows rows;
    double *paths, *returns; /* [split.paths][rows]; of one split */
    int done;                /* splits */
    enum trial_go go;
};

static bool show(void *ctx, double share)
{
    struct rules_trial *trial = ctx;
    const double whole = trial->market->settings->split.combinations;
    if (trial->calls && trial->calls->progress)
        trial->go = trial->calls->progress(trial->calls->ctx, (trial->done + share) / whole, 0);
    return trial->go == TRIAL_GO;
}

static int run_block(struct rules_trial *trial, struct split_rows rows, struct tested_block *ret,
                     char err[static TRIAL_ERROR_MAX])
{
    struct account_spec spec;
    struct backtest_config config;
    struct backtest backtest;
    ret->rows = rows;
    ret->returns = malloc((rows.to - rows.from) * sizeof(double));
    if (!ret->returns)
        return study_error(err, -ENOMEM, "out of memory: a block's returns");
    int r =
        study_rules_backtest(trial->market, rows, trial->params, show, trial, &spec, &config, &backtest, err);
    if (r != 0)
        return r;
    study_rules_returns(&config, &backtest, ret->returns, &ret->tested);
    r = study_rules_figures(trial->market, rows, &config, &backtest, ret->returns, &ret->tested,
                            &ret->figures);
    backtest_finish(&backtest);
    return r < 0 ? study_error(err, -ENOMEM, "out of memory: figures") : 0;
}

/* The block's results; *ret NULL where there are none. */
static int test_block(struct rules_trial *trial, struct split_rows rows, const struct tested_block **ret,
                      char err[static TRIAL_ERROR_MAX])
{
    struct tested_block block = {{0, 0}, NULL, {0}, {0}};
    for (int i = 0; i < trial->n_blocks; i++)
        if (trial->blocks[i].rows.from == rows.from && trial->blocks[i].rows.to == rows.to) {
            *ret = &trial->blocks[i];
            return 0;
        }
    struct tested_block *more = realloc(trial->blocks, ((size_t)trial->n_blocks + 1) * sizeof *more);
    if (!more)
        return study_error(err, -ENOMEM, "out of memory: a trial");
    trial->blocks = more;
    int r = run_block(trial, rows, &block, err);
    if (r != 0) {
        free(block.returns);
        return r;
    }
    trial->blocks[trial->n_blocks] = block;
    *ret = &trial->blocks[trial->n_blocks++];
    return 0;
}

static int run_split(struct rules_trial *trial, const int *chosen, struct trial_split *ret,
                     char err[static TRIAL_ERROR_MAX])
{
    const struct study_market *market = trial->market;
    struct split_rows blocks[SPLIT_GROUPS_MAX];
    struct study_tested all = {0};
    size_t at = 0;
    int n = split_blocks(&market->settings->split, market->search.to - market->search.from, chosen, blocks);
    for (int i = 0; i < n; i++) {
        const struct tested_block *tested;
        blocks[i].from += market->search.from;
        blocks[i].to += market->search.from;
        int r = test_block(trial, blocks[i], &tested, err);
        if (r != 0)
            return r;
        memcpy(trial->returns + at, tested->returns, (blocks[i].to - blocks[i].from) * sizeof(double));
        at += blocks[i].to - blocks[i].from;
        all.steps += tested->tested.steps;
        all.trades += tested->tested.trades;
        all.traded += tested->tested.traded;
        all.level += tested->tested.level;
        *ret = tested->figures;
    }
    if (n > 1 && study_figures(market, blocks, n, trial->returns, &all, ret) < 0)
        return study_error(err, -ENOMEM, "out of memory: figures");
    study_keep_returns(market, trial->rows, trial->done, chosen, trial->returns, trial->paths);
    return 0;
}

static int run_splits(struct rules_trial *trial, struct trial_outcome *outcome,
                      char err[static TRIAL_ERROR_MAX])
{
    const struct study_settings *settings = trial->market->settings;
    const struct trial_calls *calls = trial->calls;
    int chosen[SPLIT_GROUPS_MAX];
    split_begin(&settings->split, chosen);
    do {
        int r = run_split(trial, chosen, &outcome->splits[trial->done], err);
        if (r != 0)
            return r;
        outcome->n_splits = ++trial->done;
        outcome->value = study_value(settings, outcome);
        if (calls && calls->reported)
            trial->go = calls->reported(calls->ctx, trial->done, outcome->value);
        if (trial->go != TRIAL_GO && trial->done < settings->split.combinations)
            return 1;
        trial->go = TRIAL_GO;
    } while (split_next(&settings->split, chosen));
    return 0;
}

static int run(struct rules_trial *trial, const char *folder, struct trial_outcome *ret,
               char err[static TRIAL_ERROR_MAX])
{
    const struct study_market *market = trial->market;
    const int paths = market->settings->split.paths;
    struct trial_outcome *outcome = calloc(1, sizeof *outcome);
    trial->rows = study_tested_rows(market);
    const size_t n = trial->rows.to - trial->rows.from;
    trial->paths = calloc((size_t)paths * n, sizeof(double));
    trial->returns = malloc(n * sizeof(double));
    int r =
        outcome && trial->paths && trial->returns ? 0 : study_error(err, -ENOMEM, "out of memory: a trial");
    if (r == 0) {
        r = run_splits(trial, outcome, err);
        if (r == 1)
            study_error(err, 1, "%s", trial->go == TRIAL_STOP_PRUNED ? "pruned" : "stopped");
        *ret = *outcome;
    }
    if (r == 0 && folder)
        r = study_write_returns(market, trial->rows, trial->paths, paths, folder, "returns.csv", err);
    free(outcome);
    return r;
}

int study_rules_trial(const struct study_market *market, const struct space *space, const double *values,
                      const char *folder, const struct trial_calls *calls, struct trial_outcome *ret,
                      char err[static TRIAL_ERROR_MAX])
{
    struct rules_trial trial = {.market = market, .calls = calls};
    char why[CONFIG_ERROR_MAX];
    int r = study_rules_params(&market->settings->rules, space, values, trial.params, why);
    r = r < 0 ? study_error(err, r, "%s", why) : run(&trial, folder, ret, err);
    for (int i = 0; i < trial.n_blocks; i++)
        free(trial.blocks[i].returns);
    free(trial.blocks);
    free(trial.paths);
    free(trial.returns);
    return r;
}
