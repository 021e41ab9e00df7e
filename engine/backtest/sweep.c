#include "engine/backtest/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/guard.h"
#include "engine/backtest/report.h"
#include "exchange/fail.h"

/* Accounts that run together: each has its curve of equity. */
enum { BATCH_FIRST = 8, BATCH_MOST = ACCOUNTS_MAX };
static const size_t BATCH_BYTES = (size_t)256 << 20;

static const char *const metric_names[SWEEP_METRICS] = {
    [SWEEP_SHARPE] = "sharpe",         [SWEEP_SORTINO] = "sortino",
    [SWEEP_CALMAR] = "calmar",         [SWEEP_CAGR] = "cagr",
    [SWEEP_RETURN] = "return",         [SWEEP_MAX_DRAWDOWN] = "max_drawdown",
    [SWEEP_OMEGA] = "omega",           [SWEEP_PROFIT_FACTOR] = "profit_factor",
    [SWEEP_EXPECTANCY] = "expectancy", [SWEEP_SQN] = "sqn",
    [SWEEP_WIN_RATE] = "win_rate",
};

const char *backtest_sweep_metric_name(enum sweep_metric metric)
{
    return metric < SWEEP_METRICS ? metric_names[metric] : "";
}

int backtest_sweep_metric_parse(const char *name)
{
    for (int i = 0; i < SWEEP_METRICS; i++)
        if (strcmp(metric_names[i], name) == 0)
            return i;
    return -EINVAL;
}

struct batch {
    const struct backtest_sweep *sweep;
    struct sweep_results *results;
    struct account_spec *accounts; /* [cap] */
    size_t *combinations;          /* [cap] */
    size_t n, cap, next;           /* next: the first combination of the batch after this one */
    size_t bars;                   /* of the symbol that has most */
    size_t done;
};

/* Are there fewer bars than its indicators need for a first value? */
static bool too_short(const struct batch *batch, const struct account_spec *spec)
{
    size_t warmup, lookback;
    char err[256];
    return backtest_guard_history(spec->strategy, spec->params, batch->sweep->config->market->interval_ns,
                                  &warmup, &lookback, err, sizeof err) == 0 &&
           lookback >= batch->bars;
}

/* The bars of the symbol that has most, up to the last row. */
static size_t most_bars(const struct backtest_config *config)
{
    size_t most = 0;
    for (int s = 0; s < config->market->n_symbols; s++) {
        size_t n = 0;
        for (size_t row = 0; row < config->to; row++)
            n += market_present(&config->market->series[s], row);
        most = n > most ? n : most;
    }
    return most;
}

/* Combinations from `next` on, without the contradictory ones and those that the bars are too few for. */
static void gather(struct batch *batch, size_t wanted)
{
    const struct backtest_sweep *sweep = batch->sweep;
    struct account_spec spec = *sweep->account;
    batch->n = 0;
    for (; batch->next < batch->results->combinations && batch->n < wanted; batch->next++) {
        if (!backtest_grid_set(sweep->grid, spec.strategy, batch->next, spec.params)) {
            batch->results->skipped++;
            continue;
        }
        if (too_short(batch, &spec)) {
            batch->results->too_short++;
            continue;
        }
        snprintf(spec.name, sizeof spec.name, "%zu", batch->next);
        batch->accounts[batch->n] = spec;
        batch->combinations[batch->n++] = batch->next;
    }
}

static void take(struct sweep_result *to, const struct backtest_report *report)
{
    const struct metrics *m = &report->metrics;
    const double metrics[SWEEP_METRICS] = {
        [SWEEP_SHARPE] = m->sharpe,
        [SWEEP_SORTINO] = m->sortino,
        [SWEEP_CALMAR] = m->calmar,
        [SWEEP_CAGR] = m->cagr,
        [SWEEP_RETURN] = m->total_return,
        [SWEEP_MAX_DRAWDOWN] = m->max_drawdown,
        [SWEEP_OMEGA] = m->omega,
        [SWEEP_PROFIT_FACTOR] = report->ratios.profit_factor,
        [SWEEP_EXPECTANCY] = report->ratios.expectancy,
        [SWEEP_SQN] = report->ratios.sqn,
        [SWEEP_WIN_RATE] = report->ratios.win_rate,
    };
    memcpy(to->metrics, metrics, sizeof metrics);
    to->final_equity = report->final_equity;
    to->fees = report->fees;
    to->exposure = report->exposure;
    to->trades = report->trades.n;
    to->refused = report->refused;
}

static bool show(void *ctx, double share)
{
    const struct batch *batch = ctx;
    double done = (double)batch->done + share * (double)batch->n;
    return batch->sweep->progress(batch->sweep->ctx, done / (double)batch->results->combinations);
}

static void add_shortage(struct backtest_shortage *to, const struct backtest_shortage *from)
{
    if (from->n == 0)
        return;
    if (to->n == 0)
        to->symbol = from->symbol;
    to->others |= from->others || from->symbol != to->symbol;
    to->n += from->n;
}

static void add_refused(struct backtest_account *to, const struct backtest_account *from)
{
    for (int why = 0; why < ORDER_REASONS; why++)
        to->refused[why] += from->refused[why];
    add_shortage(&to->short_of_cash, &from->short_of_cash);
    add_shortage(&to->short_of_lot, &from->short_of_lot);
}

/* The figures of one account. */
static int measure(struct batch *batch, const struct backtest_config *config, const struct backtest *backtest,
                   size_t i)
{
    const struct report_config options = {.benchmark = REPORT_BENCHMARK_NONE};
    struct sweep_results *results = batch->results;
    struct backtest_report report;
    int r = backtest_report(config, backtest, (int)i, &options, &report);
    if (r < 0)
        return r;
    struct sweep_result *to = &results->results[results->n++];
    *to =
        (struct sweep_result){.combination = batch->combinations[i], .fills = backtest->accounts[i].n_fills};
    take(to, &report);
    add_refused(&results->refused, &backtest->accounts[i]);
    backtest_report_finish(&report);
    return 0;
}

static int run_batch(struct batch *batch, char *err, size_t err_size)
{
    struct backtest_config config = *batch->sweep->config;
    struct backtest backtest;
    config.accounts = batch->accounts;
    config.n_accounts = (int)batch->n;
    config.progress = batch->sweep->progress ? show : NULL;
    config.ctx = batch;
    int r = backtest_run(&config, &backtest, err, err_size);
    if (r < 0)
        return r;
    for (size_t i = 0; i < batch->n && r == 0; i++)
        if ((r = measure(batch, &config, &backtest, i)) < 0)
            snprintf(err, err_size, "out of memory");
    batch->done = batch->next;
    backtest_finish(&backtest);
    return r;
}

static int run_all(struct batch *batch, char *err, size_t err_size)
{
    const struct backtest_sweep *sweep = batch->sweep;
    size_t all = batch->results->combinations;
    bool noted = false;
    int r = 0;
    while (r == 0 && batch->next < all) {
        gather(batch, noted ? batch->cap : batch->cap < BATCH_FIRST ? batch->cap : BATCH_FIRST);
        if (batch->n > 0)
            r = run_batch(batch, err, err_size);
        if (r == 0 && !noted && batch->next < all && sweep->started)
            sweep->started(sweep->ctx, batch->next);
        noted = true;
    }
    return r;
}

static size_t batch_cap(const struct backtest_config *config)
{
    size_t cap = BATCH_BYTES / ((config->to - config->from) * sizeof(double));
    return cap < 1 ? 1 : cap > BATCH_MOST ? BATCH_MOST : cap;
}

int backtest_sweep_run(const struct backtest_sweep *sweep, struct sweep_results *ret, char *err,
                       size_t err_size)
{
    struct sweep_results results = {.combinations = backtest_grid_count(sweep->grid)};
    struct batch batch = {.sweep = sweep,
                          .results = &results,
                          .bars = most_bars(sweep->config),
                          .cap = batch_cap(sweep->config)};
    if (results.combinations > BACKTEST_GRID_MOST)
        return fail_with(-EINVAL, err, err_size, "more than 1000000 combinations: wider steps are needed");
    batch.accounts = calloc(batch.cap, sizeof *batch.accounts);
    batch.combinations = calloc(batch.cap, sizeof *batch.combinations);
    results.results = calloc(results.combinations, sizeof *results.results);
    int r = -ENOMEM;
    if (batch.accounts && batch.combinations && results.results)
        r = run_all(&batch, err, err_size);
    else
        snprintf(err, err_size, "out of memory");
    free(batch.accounts);
    free(batch.combinations);
    if (r < 0)
        backtest_sweep_finish(&results);
    else
        *ret = results;
    return r;
}

void backtest_sweep_finish(struct sweep_results *results)
{
    free(results->results);
    *results = (struct sweep_results){0};
}

static int by_metric(const void *a, const void *b, void *ctx)
{
    const struct sweep_result *x = a, *y = b;
    enum sweep_metric metric = *(const enum sweep_metric *)ctx;
    double p = x->metrics[metric], q = y->metrics[metric];
    if (isnan(p) != isnan(q))
        return isnan(p) ? 1 : -1;
    if (!isnan(p) && p != q)
        return p > q ? -1 : 1;
    return (x->combination > y->combination) - (x->combination < y->combination);
}

void backtest_sweep_sort(struct sweep_results *results, enum sweep_metric metric)
{
    qsort_r(results->results, results->n, sizeof *results->results, by_metric, &metric);
}
