#include "engine/backtest/rank.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/backtest/sim.h"
#include "engine/market/parallel.h"
#include "exchange/clock.h"
#include "exchange/decimal.h"
#include "exchange/fail.h"
#include "strategy/external.h"

/* One account's run. */
struct rank_job {
    int account;      /* of the configuration */
    bool counts, ran; /* it can be run; it was */
    size_t work;      /* more of it takes longer */
    double share;     /* done */
    int result;
    char why[RANK_WHY_MAX];
    struct backtest backtest;
    struct backtest_report report;
    struct sweep_result row;
    double seconds[BACKTEST_STAGES];
};

struct ranking {
    const struct backtest_config *config;
    const struct backtest_rank_options *options;
    struct rank_job *jobs; /* [n], by the configuration's accounts */
    size_t *order;         /* [n_order] in which they begin */
    size_t n, n_order;
    double *held;         /* the benchmark's equity; NULL: each report finds its own */
    int threads;          /* of one run */
    pthread_mutex_t lock; /* of `stopped`, the shares and the caller's progress() */
    bool stopped;
};

/* A run's progress, from whatever thread it has. */
struct rank_progress {
    struct ranking *ranking;
    struct rank_job *job;
};

static bool show(void *ctx, double share)
{
    const struct rank_progress *of = ctx;
    struct ranking *ranking = of->ranking;
    const struct backtest_config *config = ranking->config;
    double sum = 0;
    pthread_mutex_lock(&ranking->lock);
    of->job->share = share;
    for (size_t i = 0; i < ranking->n_order; i++)
        sum += ranking->jobs[ranking->order[i]].share;
    if (!ranking->stopped && config->progress)
        ranking->stopped = !config->progress(config->ctx, sum / (double)ranking->n_order);
    bool go = !ranking->stopped;
    pthread_mutex_unlock(&ranking->lock);
    return go;
}

static bool is_stopped(struct ranking *ranking)
{
    pthread_mutex_lock(&ranking->lock);
    bool stopped = ranking->stopped;
    pthread_mutex_unlock(&ranking->lock);
    return stopped;
}

static struct backtest_config config_of(const struct ranking *ranking, const struct rank_job *job)
{
    struct backtest_config config = *ranking->config;
    config.accounts = &ranking->config->accounts[job->account];
    config.n_accounts = 1;
    config.orders = config.ledger = false;
    config.threads = ranking->threads;
    config.decided = NULL; /* whose `ctx` this is not */
    config.restarts = NULL;
    config.ended = NULL;
    return config;
}

/* The same report as that of a backtest of it alone: what is held instead is the same for all. */
static int measure(const struct ranking *ranking, const struct backtest_config *config, struct rank_job *job)
{
    struct report_config options = ranking->options->report;
    if (ranking->held) {
        options.benchmark = REPORT_BENCHMARK_GIVEN;
        options.given = ranking->held;
        options.given_start = decimal_to_double(config->accounts->cash, config->accounts->currency_scale);
    }
    int r = backtest_report(config, &job->backtest, 0, &options, &job->report);
    return r < 0 ? r : backtest_sweep_row_of(&job->report, &job->backtest.accounts[0], 0, NULL, &job->row);
}

static void drop_equity(struct backtest_account *account)
{
    free(account->equity);
    account->equity = NULL;
}

static void run_job(void *ctx, size_t i)
{
    struct ranking *ranking = ctx;
    struct rank_job *job = &ranking->jobs[ranking->order[i]];
    struct rank_progress progress = {ranking, job};
    struct backtest_config config = config_of(ranking, job);
    config.progress = show;
    config.ctx = &progress;
    job->result = -ECANCELED;
    if (is_stopped(ranking))
        return;
    job->result = backtest_run(&config, &job->backtest, job->why, sizeof job->why);
    if (job->result < 0)
        return;
    double ran_s = clock_now_s();
    memcpy(job->seconds, job->backtest.seconds, sizeof job->seconds);
    job->result = measure(ranking, &config, job);
    job->seconds[STAGE_METRICS] = clock_now_s() - ran_s;
    if (!ranking->options->curves)
        drop_equity(&job->backtest.accounts[0]);
    job->ran = job->result == 0;
    (void)show(&progress, 1);
}

/* ---- which are run, and when ---- */

static void check(const struct ranking *ranking, struct rank_job *job)
{
    const struct backtest_config config = config_of(ranking, job);
    const struct strategy *strategy = config.accounts->strategy;
    job->result = backtest_check_config(&config, job->why, sizeof job->why);
    if (job->result == 0 && strategy && strategy->needs_shorts &&
        !backtest_may_short(&config, config.accounts))
        job->result = fail_with(-EINVAL, job->why, sizeof job->why,
                                "%s opens nothing in an account that may not be short", strategy->name);
    job->counts = job->result == 0;
}

/* What takes longest begins first: what the engine runs, then by the indicators that are computed. */
static size_t work_of(const struct ranking *ranking, const struct rank_job *job)
{
    const struct account_spec *spec = &ranking->config->accounts[job->account];
    char specs[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT];
    if (backtest_sim_covers(ranking->config, spec) || !spec->strategy)
        return SIZE_MAX;
    return strategy_specs(spec->strategy, spec->params, specs);
}

static void put_in_order(struct ranking *ranking)
{
    for (size_t i = 0; i < ranking->n; i++) {
        struct rank_job *job = &ranking->jobs[i];
        if (!job->counts)
            continue;
        size_t at = ranking->n_order++;
        job->work = work_of(ranking, job);
        for (; at > 0 && ranking->jobs[ranking->order[at - 1]].work < job->work; at--)
            ranking->order[at] = ranking->order[at - 1];
        ranking->order[at] = i;
    }
}

static int threads_of_each(const struct backtest_config *config, size_t n)
{
    long most = config->threads > 0 ? config->threads : sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 && most > (long)n ? (int)(most / (long)n) : 1;
}

/* The first that failed for another reason than that it cannot be run; with `strict` for any. */
static int failure(const struct ranking *ranking, char *err, size_t err_size)
{
    int r = 0;
    for (size_t i = 0; i < ranking->n; i++) {
        const struct rank_job *job = &ranking->jobs[i];
        if (job->result < 0 && (job->result != -EINVAL || ranking->options->strict)) {
            snprintf(err, err_size, "%s",
                     job->why[0]                 ? job->why
                     : job->result == -ECANCELED ? "stopped"
                                                 : "out of memory");
            return job->result;
        }
        if (job->result < 0 && r == 0) {
            snprintf(err, err_size, "no strategy can be run on these bars: %s", job->why);
            r = job->result;
        }
    }
    for (size_t i = 0; i < ranking->n; i++)
        if (ranking->jobs[i].counts && ranking->jobs[i].result == 0)
            return 0;
    return r;
}

static bool same_money(const struct market *market, const struct account_spec *a,
                       const struct account_spec *b)
{
    bool same =
        a->cash == b->cash && a->currency_scale == b->currency_scale && strcmp(a->currency, b->currency) == 0;
    for (int s = 0; s < market->n_symbols; s++) {
        const struct symbol *symbol = &market->series[s].symbol;
        same &= account_fees(&a->rules, symbol)->taker_e6 == account_fees(&b->rules, symbol)->taker_e6;
    }
    return same;
}

/* The benchmark, once: of accounts with the same cash and fees. */
static int hold(struct ranking *ranking)
{
    const struct backtest_config *config = ranking->config;
    const struct report_config *report = &ranking->options->report;
    if (report->benchmark == REPORT_BENCHMARK_NONE || report->benchmark == REPORT_BENCHMARK_GIVEN)
        return 0;
    for (size_t i = 1; i < ranking->n; i++)
        if (!same_money(config->market, &config->accounts[0], &config->accounts[i]))
            return 0;
    int r = backtest_report_benchmark(config, 0, report, &ranking->held);
    return r == -ENOENT ? 0 : r;
}

static int run_jobs(struct ranking *ranking, char *err, size_t err_size)
{
    for (size_t i = 0; i < ranking->n; i++)
        check(ranking, &ranking->jobs[i]);
    int r = failure(ranking, err, err_size);
    if (r < 0)
        return r;
    r = hold(ranking);
    if (r < 0)
        return fail_with(r, err, err_size, "%s",
                         r == -ENOMEM ? "out of memory" : "the benchmark's symbol is not there");
    put_in_order(ranking);
    ranking->threads = threads_of_each(ranking->config, ranking->n_order);
    market_store_parallel(ranking->config->threads, ranking->n_order, run_job, ranking);
    return failure(ranking, err, err_size);
}

/* ---- the result ---- */

static int make_room(const struct ranking *ranking, struct backtest_rank *ret)
{
    size_t n = ranking->n;
    ret->accounts = calloc(n, sizeof *ret->accounts);
    ret->reports = calloc(n, sizeof *ret->reports);
    ret->rows.results = calloc(n, sizeof *ret->rows.results);
    ret->left_out = calloc(n, sizeof *ret->left_out);
    ret->backtest.accounts = calloc(n, sizeof *ret->backtest.accounts);
    return ret->accounts && ret->reports && ret->rows.results && ret->left_out && ret->backtest.accounts
               ? 0
               : -ENOMEM;
}

static void take_job(const struct ranking *ranking, struct rank_job *job, struct backtest_rank *ret)
{
    size_t at = ret->n++;
    ret->accounts[at] = ranking->config->accounts[job->account];
    ret->reports[at] = job->report;
    job->report = (struct backtest_report){0};
    ret->backtest.accounts[at] = job->backtest.accounts[0];
    job->backtest.accounts[0] = (struct backtest_account){0};
    ret->rows.results[at] = job->row;
    ret->rows.results[at].combination = at;
    for (int s = 0; s < BACKTEST_STAGES; s++)
        ret->seconds[s] += job->seconds[s];
}

static void collect(const struct ranking *ranking, struct backtest_rank *ret)
{
    const struct backtest_config *config = ranking->config;
    size_t rows = config->to - config->from;
    for (size_t i = 0; i < ranking->n; i++) {
        struct rank_job *job = &ranking->jobs[i];
        if (job->ran) {
            take_job(ranking, job, ret);
            continue;
        }
        struct rank_left_out *left_out = &ret->left_out[ret->n_left_out++];
        left_out->account = job->account;
        memcpy(left_out->why, job->why, sizeof left_out->why);
    }
    ret->backtest.n_accounts = (int)ret->n;
    ret->backtest.from = config->from;
    ret->backtest.to = config->to;
    ret->rows.n = ret->n;
    ret->rows.combinations = ranking->n;
    ret->rows.exact = ret->n;
    ret->rows.block_rows = rows / SWEEP_BLOCKS > 1 ? rows / SWEEP_BLOCKS : 0;
    ret->rows.min_trades = ranking->options->min_trades;
}

static int rank(const struct ranking *ranking, struct backtest_rank *ret)
{
    const struct backtest_config *config = ranking->config;
    double periods = ret->reports[0].periods_per_year;
    int r = backtest_luck(&ret->rows, config->to - config->from, periods, &ret->luck);
    if (r == 0)
        backtest_sweep_sort(&ret->rows, ranking->options->metric);
    return r;
}

/* The seconds of all threads, scaled to those that passed. */
static void share_seconds(struct backtest_rank *ret, double passed)
{
    double sum = 0;
    for (int s = 0; s < BACKTEST_STAGES; s++)
        sum += ret->seconds[s];
    for (int s = 0; s < BACKTEST_STAGES && sum > 0; s++)
        ret->seconds[s] *= passed / sum;
}

static void close_jobs(struct ranking *ranking)
{
    for (size_t i = 0; ranking->jobs && i < ranking->n; i++) {
        backtest_finish(&ranking->jobs[i].backtest);
        backtest_report_finish(&ranking->jobs[i].report);
    }
    free(ranking->jobs);
    free(ranking->held);
    free(ranking->order);
    pthread_mutex_destroy(&ranking->lock);
}

static int open_jobs(struct ranking *ranking)
{
    ranking->jobs = calloc(ranking->n, sizeof *ranking->jobs);
    ranking->order = calloc(ranking->n, sizeof *ranking->order);
    for (size_t i = 0; ranking->jobs && i < ranking->n; i++)
        ranking->jobs[i].account = (int)i;
    return ranking->jobs && ranking->order ? 0 : -ENOMEM;
}

int backtest_rank_run(const struct backtest_config *config, const struct backtest_rank_options *options,
                      struct backtest_rank *ret, char *err, size_t err_size)
{
    struct ranking ranking = {.config = config,
                              .options = options,
                              .n = (size_t)config->n_accounts,
                              .lock = PTHREAD_MUTEX_INITIALIZER};
    struct backtest_rank result = {0};
    double started_s = clock_now_s();
    int r = open_jobs(&ranking);
    if (r == 0)
        r = make_room(&ranking, &result);
    if (r == -ENOMEM)
        snprintf(err, err_size, "out of memory");
    if (r == 0)
        r = run_jobs(&ranking, err, err_size);
    if (r == 0) {
        collect(&ranking, &result);
        r = rank(&ranking, &result);
        if (r < 0)
            snprintf(err, err_size, "out of memory");
        share_seconds(&result, clock_now_s() - started_s);
    }
    close_jobs(&ranking);
    if (r < 0)
        backtest_rank_finish(&result);
    else
        *ret = result;
    return r;
}

void backtest_rank_finish(struct backtest_rank *rank)
{
    for (size_t i = 0; i < rank->n; i++)
        backtest_report_finish(&rank->reports[i]);
    backtest_finish(&rank->backtest);
    free(rank->accounts);
    free(rank->reports);
    free(rank->rows.results);
    free(rank->left_out);
    *rank = (struct backtest_rank){0};
}
