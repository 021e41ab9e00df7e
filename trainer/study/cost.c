#include "trainer/study/cost.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trainer/nn/train.h"
#include "trainer/study/internal.h"
#include "trainer/study/returns.h"
#include "trainer/telemetry/usage.h"

/* Rows of a test that are measured: so many operations of the policy, and at most so many rows. */
#define TEST_FLOPS 1e9
enum { TEST_ROWS_MIN = 256, TEST_ROWS_MAX = 32768, RETURNS_ROWS_MAX = 16384 };

/* What takes less is done again, so many times at most: the first time touches memory, and a short time is of
 * one moment of the machine. */
#define REPEAT_S 0.1
enum { REPEAT_MAX = 16 };

/* ---- A policy that has learnt nothing. ---- */

static int draw_policy(const struct net_layout *layout, const struct ppo_params *params,
                       struct kept_policy *ret, char err[static TRIAL_ERROR_MAX])
{
    const size_t o = (size_t)layout->shape.observation;
    char why[KEEP_ERROR_MAX];
    float *weights = malloc(layout->n_params * sizeof(float)), *mean = calloc(o, sizeof(float)),
          *scale = malloc(o * sizeof(float));
    int r = weights && mean && scale
                ? nn_init(layout, params->seed, params->policy_gain, params->log_std_init, weights)
                : -ENOMEM;
    for (size_t i = 0; i < o && scale; i++)
        scale[i] = 1;
    if (r < 0)
        study_error(err, r, "out of memory: plan");
    else if ((r = training_kept_policy_make(layout, weights, mean, scale, (float)params->clip_observations,
                                            ret, why)) < 0)
        study_error(err, r, "%s", why);
    free(weights);
    free(mean);
    free(scale);
    return r;
}

/* ---- The test. ---- */

static size_t test_rows(const struct net_layout *layout)
{
    const double rows = TEST_FLOPS / ppo_work_of(layout).rollout;
    return rows < TEST_ROWS_MIN ? TEST_ROWS_MIN : rows > TEST_ROWS_MAX ? TEST_ROWS_MAX : (size_t)rows;
}

/* Rows that are tested in all splits together. */
static size_t tested_rows(const struct study_market *market)
{
    const struct study_split *split = &market->settings->split;
    struct split_rows blocks[SPLIT_GROUPS_MAX];
    int chosen[SPLIT_GROUPS_MAX];
    size_t rows = 0;
    split_begin(split, chosen);
    do {
        int n = split_blocks(split, market->search.to - market->search.from, chosen, blocks);
        for (int i = 0; i < n; i++)
            rows += blocks[i].to - blocks[i].from;
    } while (split_next(split, chosen));
    return rows;
}

/* Seconds a row of a test, with its figures, and of a file of returns, which is written and read. */
struct row_cost {
    double test_s, returns_s, judging_s;
};

/* Writes the text into a file without a name, and reads it as the end of a study does. */
static int time_file(const char *text, size_t size, double *ret_write_s, double *ret_read_s,
                     char err[static TRIAL_ERROR_MAX])
{
    struct usage started = telemetry_usage_now();
    char path[64], why[RETURNS_ERROR_MAX];
    struct csv_columns csv;
    int fd = memfd_create("returns.csv", MFD_CLOEXEC);
    int r = fd < 0 ? -errno : write(fd, text, size) == (ssize_t)size ? 0 : -EIO;
    if (r < 0)
        study_error(err, r, "no room for a plan's returns: %s", strerror(-r));
    *ret_write_s = telemetry_usage_since(&started).cpu_s;
    started = telemetry_usage_now();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (r == 0 && (r = returns_csv_read(path, true, &csv, why)) < 0)
        study_error(err, r, "%s", why);
    else if (r == 0)
        returns_csv_finish(&csv);
    *ret_read_s = telemetry_usage_since(&started).cpu_s;
    if (fd >= 0)
        close(fd);
    return r;
}

static int time_returns(const struct study_market *market, struct split_rows block, const double *returns,
                        struct row_cost *ret, char err[static TRIAL_ERROR_MAX])
{
    const size_t rows = block.to - block.from, n = rows < RETURNS_ROWS_MAX ? rows : RETURNS_ROWS_MAX;
    const int paths = market->settings->split.paths;
    double *columns = malloc((size_t)paths * n * sizeof(double)), write_s = 0, read_s = 0;
    size_t size;
    if (!columns)
        return study_error(err, -ENOMEM, "out of memory: plan");
    for (size_t i = 0; i < (size_t)paths * n; i++)
        columns[i] = returns[i % n];
    const struct usage started = telemetry_usage_now();
    char *text =
        study_returns_text(market, (struct split_rows){block.from, block.from + n}, columns, paths, &size);
    const double text_s = telemetry_usage_since(&started).cpu_s;
    int r = text ? time_file(text, size, &write_s, &read_s, err)
                 : study_error(err, -ENOMEM, "out of memory: plan");
    ret->returns_s = (text_s + write_s) / (double)n;
    ret->judging_s = read_s / (double)n;
    free(columns);
    free(text);
    return r;
}

/* The mean of several after a first one. */
static int time_test(struct study_running_trial *run, const struct study_trained *learnt,
                     struct split_rows block, double *returns, struct row_cost *ret,
                     char err[static TRIAL_ERROR_MAX])
{
    double took_s = 0;
    int64_t steps = 0;
    for (int i = -1; i < REPEAT_MAX && took_s < REPEAT_S; i++) {
        const struct usage started = telemetry_usage_now();
        struct study_tested tested;
        struct trial_split figures = {0};
        int r = study_evaluate(run, learnt, &block, 1, returns, &tested, err);
        if (r == 0 && study_figures(run->market, &block, 1, returns, &tested, &figures) < 0)
            r = study_error(err, -ENOMEM, "out of memory: plan");
        if (r != 0)
            return r;
        if (i < 0)
            continue;
        took_s += telemetry_usage_since(&started).cpu_s;
        steps += tested.steps; /* a ruin ends it early */
    }
    ret->test_s = took_s / (double)(steps > 0 ? steps : 1);
    return 0;
}

static int measure_rows(struct study_running_trial *run, struct study_trained *learnt,
                        const struct net_layout *layout, struct split_rows block, struct row_cost *ret,
                        char err[static TRIAL_ERROR_MAX])
{
    const size_t most = test_rows(layout);
    if (block.to - block.from > most)
        block.to = block.from + most;
    double *returns = malloc((block.to - block.from) * sizeof(double));
    int r = returns ? draw_policy(layout, &run->config->ppo, &learnt->policy, err)
                    : study_error(err, -ENOMEM, "out of memory: plan");
    if (r == 0)
        r = time_test(run, learnt, block, returns, ret, err);
    if (r == 0)
        r = time_returns(run->market, block, returns, ret, err);
    free(returns);
    return r;
}

/* ---- All parts. ---- */

/* As keep_fitted() of market.c keeps them. */
static void count_kept(const struct study_market *market, size_t bytes, struct study_cost *cost)
{
    const int splits = market->settings->split.combinations;
    const size_t room = bytes > 0 ? FITTED_BYTES / bytes : (size_t)splits + 1;
    cost->kept = room > (size_t)splits ? splits + 1 : (int)room;
    cost->refitted = cost->kept < splits ? splits - cost->kept : 0;
    cost->kept_bytes = (size_t)cost->kept * bytes;
    cost->each_bytes = cost->refitted > 0 ? bytes : 0;
}

static void scale(const struct study_market *market, const struct row_cost *row, struct study_cost *cost)
{
    const struct study_split *split = &market->settings->split;
    const double tested = (double)tested_rows(market),
                 holdout = (double)(market->holdout.to - market->holdout.from);
    cost->test_s = row->test_s * tested / split->combinations;
    cost->returns_s = row->returns_s * tested / split->paths;
    cost->judging_s = row->judging_s * tested / split->paths;
    cost->holdout_s = (2 * row->test_s + row->returns_s) * holdout; /* study_judge() plays it again */
}

/* Leaves the last of `most` more than one at most, whose mean after the first counts. */
static int time_markets(const struct study_running_trial *run, const struct split_rows *train, int n,
                        int most, struct study_trained *learnt, struct study_cost *cost,
                        char err[static TRIAL_ERROR_MAX])
{
    double took_s = 0;
    int done = 0;
    for (int i = -1; i < most && took_s < REPEAT_S; i++) {
        const struct usage started = telemetry_usage_now();
        env_market_destroy(learnt->within);
        env_market_destroy(learnt->market);
        learnt->within = learnt->market = NULL;
        int r = study_train_source(run, train, n, learnt, err);
        if (r < 0)
            return r;
        took_s += i < 0 ? 0 : telemetry_usage_since(&started).cpu_s;
        done += i >= 0;
    }
    cost->market_s = done > 0 ? took_s / done : NAN;
    return 0;
}

/* What a trial does on its first split, up to its learner. */
static int open_split(struct study_running_trial *run, bool sizes_only, struct study_trained *learnt,
                      struct split_rows *ret_test, struct study_cost *cost, char err[static TRIAL_ERROR_MAX])
{
    const struct study_market *market = run->market;
    const struct study_split *split = &market->settings->split;
    struct split_rows train[SPLIT_BLOCKS_MAX], test[SPLIT_GROUPS_MAX];
    int chosen[SPLIT_GROUPS_MAX];
    split_begin(split, chosen);
    int n = study_training(market, chosen, train);
    split_blocks(split, market->search.to - market->search.from, chosen, test);
    *ret_test = (struct split_rows){market->search.from + test[0].from, market->search.from + test[0].to};
    const struct usage started = telemetry_usage_now();
    int r = study_fit(market, train, n, market->search.to + market->lookback, &learnt->data, err);
    if (r < 0)
        return r;
    learnt->owned = true;
    count_kept(market, trainer_data_bytes(learnt->data), cost);
    cost->fit_s = sizes_only ? NAN : telemetry_usage_since(&started).cpu_s;
    return time_markets(run, train, n, sizes_only ? 0 : REPEAT_MAX, learnt, cost, err);
}

/* Blocks and features are the same for all trials. */
static int size_largest(const struct study_market *market, const struct train_config *config,
                        const struct study_trained *median, const struct plan_options *options,
                        struct study_cost *cost, char err[static TRIAL_ERROR_MAX])
{
    const struct plan_options sizes = {.sizes_only = true, .notes_host = true, .memory = options->memory};
    const struct study_running_trial run = {.market = market, .config = config, .whole = 1};
    struct study_trained learnt = {.data = median->data};
    struct split_rows train[SPLIT_BLOCKS_MAX];
    int chosen[SPLIT_GROUPS_MAX];
    split_begin(&market->settings->split, chosen);
    int n = study_training(market, chosen, train);
    int r = study_train_source(&run, train, n, &learnt, err);
    if (r == 0)
        r = training_plan_make(&learnt.source, &config->ppo, &sizes, &cost->largest, err);
    study_trained_finish(&learnt);
    return r;
}

static int measure(struct study_running_trial *run, const struct train_config *largest,
                   const struct plan_options *options, struct study_cost *cost,
                   char err[static TRIAL_ERROR_MAX])
{
    struct study_trained learnt = {0};
    struct split_rows test;
    struct row_cost row = {NAN, NAN, NAN};
    struct net_layout *layout = malloc(sizeof *layout);
    int r = layout ? open_split(run, options->sizes_only, &learnt, &test, cost, err)
                   : study_error(err, -ENOMEM, "out of memory: plan");
    if (r == 0)
        r = training_plan_make(&learnt.source, &run->config->ppo, options, &cost->training, err);
    if (r == 0 && largest)
        r = size_largest(run->market, largest, &learnt, options, cost, err);
    if (r == 0 && !options->sizes_only)
        r = training_plan_layout(&learnt.source, &run->config->ppo, layout, err);
    if (r == 0 && !options->sizes_only)
        r = measure_rows(run, &learnt, layout, test, &row, err);
    if (r == 0)
        scale(run->market, &row, cost);
    free(layout);
    study_trained_finish(&learnt);
    return r;
}

int study_cost_measure(const struct study_market *market, const struct train_config *config,
                       const struct train_config *largest, const struct plan_options *options,
                       struct study_cost *ret, char err[static TRIAL_ERROR_MAX])
{
    struct train_config *own = study_own_config(config),
                        *own_largest = largest ? study_own_config(largest) : NULL;
    struct study_running_trial run = {.market = market, .config = own, .whole = 1};
    struct study_cost cost = {0};
    int r = own && (own_largest || !largest) ? measure(&run, own_largest, options, &cost, err)
                                             : study_error(err, -ENOMEM, "out of memory: plan");
    free(own_largest);
    free(own);
    if (r == 0)
        *ret = cost;
    return r;
}

/* ---- A whole study. ---- */

struct study_cost_parts study_cost_parts(const struct study_cost *cost, const struct study_settings *settings,
                                         double opened_s)
{
    const double trials = settings->trials, trainings = trials * settings->split.combinations,
                 proposed = settings->ensemble;
    return (struct study_cost_parts){
        .opening_s = opened_s + cost->kept * cost->fit_s,
        .fitting_s = trials * cost->refitted * cost->fit_s,
        .markets_s = trainings * cost->market_s,
        .training_s = trainings * cost->training.cpu_s,
        .testing_s = trainings * cost->test_s,
        .returns_s = trials * cost->returns_s,
        .judging_s = trials * cost->judging_s,
        .proposal_s = proposed * (cost->training.cpu_s + cost->market_s + cost->holdout_s +
                                  (cost->refitted > 0 ? cost->fit_s : 0)),
    };
}

double study_cost_total(const struct study_cost_parts *parts)
{
    return parts->opening_s + parts->fitting_s + parts->markets_s + parts->training_s + parts->testing_s +
           parts->returns_s + parts->judging_s + parts->proposal_s;
}
