/* One trial of a study: trained and tested on each split of the market's rows, in this process. */
#ifndef TRAINER_STUDY_TRIAL_H
#define TRAINER_STUDY_TRIAL_H

#include "strategy/metrics/verdict.h"
#include "trainer/study/fit.h"
#include "trainer/study/settings.h"
#include "trainer/training/source.h"

struct study_market; /* bars, read once; rows of the study and of the holdout; the splits */

enum { TRIAL_ERROR_MAX = SOURCE_ERROR_MAX, TRIAL_SPLITS_MAX = 256 };

/* Zeroed: for trials, to its end. */
struct study_market_options {
    bool no_trials;             /* for study_trial_final() alone: no split's features are fitted */
    bool rows_only;             /* nothing is fitted: to ask study_market_fit() */
    size_t fitted_bytes;        /* of fitted features that are kept; 0: 1 GiB */
    bool (*stopped)(void *ctx); /* is it to end? Looked at before each split; NULL: never */
    void (*warned)(void *ctx, const char *words); /* NULL: not wanted */
    void *ctx;
};

/* The rows end with the last bar of the first symbol whose data ends, which is reported: later rows would
 * only repeat its last price. `config`, `settings` must outlive it. Of the settings `validation = auto`
 * becomes the split that fits the rows. `options` NULL: zeroed. 1: it was asked to stop, *ret untouched;
 * -EINVAL: too few rows for the splits (study_fit_refuse()), a symbol that has none of them, and errors of
 * training_source_load(). */
int study_market_open(const struct train_config *config, struct study_settings *settings,
                      const struct study_market_options *options, struct study_market **ret,
                      char err[static TRIAL_ERROR_MAX]);
void study_market_close(struct study_market *market); /* NULL is fine */

/* What the study asks of its rows, and what there is. */
void study_market_fit(const struct study_market *market, struct study_demand *ret_demand,
                      struct study_fit *ret);

/* The extra memory of each process that runs trials, for features that were not kept: one split's, or 0. NULL
 * is fine. */
size_t study_market_each_bytes(const struct study_market *market);

/* Of the bars, which all processes share. */
size_t study_market_bars_bytes(const struct study_market *market);

/* With those above it. 0 or -errno with a sentence. */
int study_make_folder(const char *folder, char err[static TRIAL_ERROR_MAX]);

struct trial_split {
    double sharpe, holding, equal_weight; /* annualised, of the split's test rows, a bar's returns */
    double total_return, drawdown,
        volatility;         /* drawdown: the deepest, a share >= 0; volatility: annualised */
    double turnover;        /* money traded, of the mean equity */
    int64_t trades, steps;  /* purchases and sales; steps of training */
    double seconds;         /* of training */
    struct verdict verdict; /* of the holdout alone; else VERDICT_NONE */
};
struct trial_outcome {
    int n_splits; /* that were done */
    struct trial_split splits[TRIAL_SPLITS_MAX];
    /* Mean or median - deviation_weight * deviation - penalties, of what the settings take of these. */
    double value;
};

enum trial_go { TRIAL_GO, TRIAL_STOP_PRUNED, TRIAL_STOP_ASKED };
struct trial_calls {
    void *ctx;
    enum trial_go (*reported)(void *ctx, int step,
                              double value); /* after split `step` (1, 2, …): value so far */
    enum trial_go (*progress)(void *ctx, double share, double steps_s); /* at least once an iteration */
    void (*warned)(void *ctx, const char *words);
};

/* Trains and tests on one split after the other. Features are fitted, and observations normalised, on the
 * split's training rows alone; blocks that are not adjacent are never one episode. Leaves in `folder` (made
 * where missing) returns.csv: timestamp_ns, path_1 …, holding, equal_weight: out-of-sample returns of each
 * bar. 0; 1: it was asked to stop; -EDOM: the training diverged; -ENOMEM; -EINVAL; with a sentence. */
int study_trial_run(const struct study_market *market, const struct train_config *config, const char *folder,
                    const struct trial_calls *calls, struct trial_outcome *ret,
                    char err[static TRIAL_ERROR_MAX]);

/* Trains on all rows of the study, writes `folder`/policy.safetensors (made where missing), and tests it on
 * the holdout: the result is *ret, and holdout.csv as returns.csv. As study_trial_run(). */
int study_trial_final(const struct study_market *market, const struct train_config *config,
                      const char *folder, const struct trial_calls *calls, struct trial_split *ret,
                      char err[static TRIAL_ERROR_MAX]);

/* The same of a study of a strategy: `values` are those of `space`. Each block of adjacent groups of a split
 * is a backtest with the whole cash, whose indicators are warm by the bars before it; nothing is trained.
 * `folder` NULL: nothing is written. */
int study_rules_trial(const struct study_market *market, const struct space *space, const double *values,
                      const char *folder, const struct trial_calls *calls, struct trial_outcome *ret,
                      char err[static TRIAL_ERROR_MAX]);

/* Tests on the holdout alone, and writes FOLDER/strategy.ini: the account of papertaped.ini that trades so.
 */
int study_rules_final(const struct study_market *market, const struct space *space, const double *values,
                      const char *folder, const struct trial_calls *calls, struct trial_split *ret,
                      char err[static TRIAL_ERROR_MAX]);

#endif
