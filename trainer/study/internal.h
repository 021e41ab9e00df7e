/* Between the files of study/: its rows, one training and test on some of them, and their figures.
 * Rows are those of the grid that the environment steps through: all of [data] train_from to train_to, or to
 * the last bar of the first symbol that ends before, but with execution reference only those in which every
 * symbol has a bar. */
#ifndef TRAINER_STUDY_INTERNAL_H
#define TRAINER_STUDY_INTERNAL_H

#include <limits.h>

#include "engine/backtest/backtest.h"
#include "exchange/fail.h"
#include "trainer/study/trial.h"
#include "trainer/training/keep.h"

/* What all trials of a process share, and what each makes for itself:
 *
 * - shared, made at the opening: the bars; every symbol's features before they are scaled (indicators look
 *   back only, so the whole series is computed once; 8 bytes a row and feature); closes; rows and splits.
 * - shared, made at the opening: each split's fitted features, [rows] float32 a feature, and which rows these
 *   are. They follow from the split alone, since the purge is the same for all trials; those beyond
 *   FITTED_BYTES are computed each time, and each process holds one of them.
 * - made for each trial and split: the environment's market (norm_tech and lookback are the trial's), copies,
 *   networks, optimiser, normalisers. */
struct study_market {
    const struct train_config *config;
    struct study_settings *settings; /* split_auto is decided when it is opened, nothing else is changed */
    struct training_source
        source; /* bars and least quantities; source.train: their rows in the market, ending so */
    struct trainer_data *grid;       /* without features: which rows there are */
    struct market_columns **columns; /* [n_symbols]; NULL: closes and volumes, which are not fitted */
    double *closes;                  /* [n_symbols][rows]; where a bar is missing the last before */
    size_t rows;
    size_t lookback; /* the most that a trial may have */
    size_t purge, embargo;
    struct split_rows search, holdout;
    struct study_demand demand; /* what these follow from */
    struct study_fit fit;
    struct trainer_data **fitted; /* [combinations + 1]: of each split; of the whole study; NULL: not kept */
    struct account_spec account;  /* of a study of a strategy, without the parameters that are searched */
    size_t fitted_bytes, each_bytes; /* of those; of one split where some are not kept, else 0 */
};
enum { FITTED_BYTES = 1 << 30 };

/* The rows of the grid that are trained on where these groups are tested: split_training()'s, less those
 * after a tested block before which some symbol has not had purge + embargo bars since its end: rows whose
 * features' windows, or repeated values, reach across missing bars into the test. How many blocks, 0 where
 * nothing is left. */
int study_training(const struct study_market *market, const int chosen[static SPLIT_GROUPS_MAX],
                   struct split_rows ret[static SPLIT_BLOCKS_MAX]);

/* Features fitted on these rows of the grid alone, of its first `end` rows. 0, for trainer_data_destroy();
 * errors of trainer_data_create(). */
int study_fit(const struct study_market *market, const struct split_rows *blocks, int n, size_t end,
              struct trainer_data **ret, char err[static TRIAL_ERROR_MAX]);

/* Keys of [environment] that the rows are split by, each by the most that a trial may have of it; NULL after
 * them. */
enum { SEARCH_LOOKBACK, SEARCH_FORCED_EXIT, SEARCH_COOLDOWN };
extern const char *const study_row_keys[];
double study_param_most(const struct distribution *distribution);

/* A running trial: its callbacks and its progress. */
struct study_running_trial {
    const struct study_market *market;
    const struct train_config *config; /* of the trial; its env.start is 0 */
    const struct trial_calls *calls;
    double done, whole; /* trainings done, of how many */
    double steps_s;     /* of the last iteration */
    enum trial_go go;
};
/* The trial's configuration as an environment over blocks takes it; for free(), NULL without memory. */
struct train_config *study_own_config(const struct train_config *config);
/* Calls the progress callback: `share` of this training is done. False: the trial must stop. */
bool study_continue(struct study_running_trial *run, double share);

/* One training on rows of `blocks`, and what it was made of: for study_trained_finish(). */
struct study_trained {
    struct trainer_data *data;
    bool owned; /* the data */
    struct env_market *market, *within;
    struct training_source source; /* of the policy's file */
    struct kept_policy policy;
    int64_t steps;
    double seconds;
};

/* Trains; fits what is not in market->fitted, of which `which` is the place. The environment's rows are [0,
 * end) of the grid, of which only the blocks' are stepped through. 0; 1: it was asked to stop; errors of
 * study_trial_run(). */
int study_train(struct study_running_trial *run, int which, const struct split_rows *blocks, int n,
                size_t end, struct study_trained *ret, char err[static TRIAL_ERROR_MAX]);
void study_trained_finish(struct study_trained *learnt); /* fine on a zeroed one */

/* Of learnt->data the environment's markets, and the source that a training on `blocks` has. */
int study_train_source(const struct study_running_trial *run, const struct split_rows *blocks, int n,
                       struct study_trained *learnt, char err[static TRIAL_ERROR_MAX]);

/* The results of testing, summed over blocks. */
struct study_tested {
    int64_t steps, trades;
    double traded, level; /* money traded; sum over steps of the equity */
};

/* The policy acts without drawing, in one episode on each block, which begins with the account's money: it
 * decides at the close of each bar from the one before block.from on. `returns` [block rows, blocks one after
 * the other]: of equity from each bar's close to the next; 0 after a ruin. Rows of `lookback` before a block
 * are seen and not traded in. As study_train(). */
int study_evaluate(struct study_running_trial *run, const struct study_trained *learnt,
                   const struct split_rows *blocks, int n, double *returns, struct study_tested *ret,
                   char err[static TRIAL_ERROR_MAX]);

/* The verdict on the policy in one such episode on the block. As study_train(). */
int study_judge(struct study_running_trial *run, const struct study_trained *learnt, struct split_rows block,
                struct verdict *ret, char err[static TRIAL_ERROR_MAX]);

/* ---- A study of a strategy. ---- */

/* Its account in the market, and the most bars that its indicators need at the ends of what is searched. 0,
 * or -EINVAL with a sentence. */
int study_rules_account(struct study_market *market, size_t *ret_needs, char err[static TRIAL_ERROR_MAX]);

/* A backtest of a block of the grid's rows, with `params`; `progress` as struct backtest_config has it. 0,
 * for backtest_finish(); 1: progress() ended it; -ENOMEM; -EINVAL for all else, as what the strategy did
 * wrong. `ret_config` is its configuration, whose account is *spec. */
int study_rules_backtest(const struct study_market *market, struct split_rows block,
                         const double params[static STRATEGY_PARAMS_MAX],
                         bool (*progress)(void *ctx, double share), void *ctx, struct account_spec *spec,
                         struct backtest_config *ret_config, struct backtest *ret,
                         char err[static TRIAL_ERROR_MAX]);

/* Returns of each row of that block, each at least -1, and 0 once nothing is left; and the sums. */
void study_rules_returns(const struct backtest_config *config, const struct backtest *backtest,
                         double *returns, struct study_tested *ret);

/* As study_figures() of one block, but the strategy's own are the backtest's, to the bit. */
int study_rules_figures(const struct study_market *market, struct split_rows block,
                        const struct backtest_config *config, const struct backtest *backtest,
                        const double *returns, const struct study_tested *tested, struct trial_split *ret);

/* Where returns of what a combination's groups are tested for go: paths [split.paths][rows]. */
void study_keep_returns(const struct study_market *market, struct split_rows rows, int combination,
                        const int *chosen, const double *returns, double *paths);
struct split_rows study_tested_rows(const struct study_market *market); /* first group tested to the last */

/* Figures of a test's blocks. A Sharpe ratio that is not finite (nothing was traded) becomes 0. */
int study_figures(const struct study_market *market, const struct split_rows *blocks, int n,
                  const double *returns, const struct study_tested *tested, struct trial_split *ret);
/* trial_outcome.value of outcome->splits [n_splits]. */
double study_value(const struct study_settings *settings, const struct trial_outcome *outcome);

/* Writes folder/name, whole or not at all (exchange/whole_file.h), and makes the folder. 0 or -errno with a
 * sentence. */
int study_write_file(const char *folder, const char *name, const void *bytes, size_t n,
                     char err[static TRIAL_ERROR_MAX]);

/* The same of columns of returns [n_paths][rows.to - rows.from], by number
 * path_1 …. Makes the folder. 0 or -errno with a sentence. */
int study_write_returns(const struct study_market *market, struct split_rows rows, const double *paths,
                        int n_paths, const char *folder, const char *name, char err[static TRIAL_ERROR_MAX]);

/* The text of that file, the caller's; NULL without memory. */
char *study_returns_text(const struct study_market *market, struct split_rows rows, const double *paths,
                         int n_paths, size_t *ret_size);

/* "FOLDER/NAME". 0 or -ENAMETOOLONG with a sentence. */
int study_join_path(char ret[static PATH_MAX], const char *folder, const char *name,
                    char err[static TRIAL_ERROR_MAX]);

/* Calls the callback for warnings, if there is one. */
void study_notify(const struct trial_calls *calls, const char *words);

#define study_error(err, code, ...) fail_with(code, err, TRIAL_ERROR_MAX, __VA_ARGS__)

#endif
