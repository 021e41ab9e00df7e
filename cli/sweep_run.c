#include "cli/sweep_run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"
#include "cli/stored.h"
#include "engine/backtest/guard.h"
#include "exchange/clock.h"
#include "exchange/exit_status.h"

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

const char *cli_sweep_metric_name(enum sweep_metric metric)
{
    return metric < SWEEP_METRICS ? metric_names[metric] : "";
}

int cli_sweep_metric_parse(const char *name)
{
    for (int i = 0; i < SWEEP_METRICS; i++)
        if (strcmp(metric_names[i], name) == 0)
            return i;
    return -EINVAL;
}

struct batch {
    struct sweep *sweep;
    struct account_spec *accounts; /* [cap] */
    size_t *combinations;          /* [cap] */
    size_t n, cap, next;           /* next: the first combination of the batch after this one */
    size_t bars;                   /* of the symbol that has most */
    struct progress progress;
    size_t done;
    struct backtest_account refused; /* of all: only what counts refused orders */
};

/* Are there fewer bars than its indicators need for a first value? */
static bool too_short(const struct batch *batch, const struct strategy_choice *choice)
{
    size_t warmup, lookback;
    char err[256];
    return backtest_guard_history(choice->strategy, choice->params, batch->sweep->market->interval_ns,
                                  &warmup, &lookback, err, sizeof err) == 0 &&
           lookback >= batch->bars;
}

/* The bars of the symbol that has most, up to the last row. */
static size_t most_bars(const struct sweep *sweep)
{
    size_t most = 0;
    for (int s = 0; s < sweep->market->n_symbols; s++) {
        size_t n = 0;
        for (size_t row = 0; row < sweep->to; row++)
            n += market_present(&sweep->market->series[s], row);
        most = n > most ? n : most;
    }
    return most;
}

/* Combinations from `next` on, without the contradictory ones and those that the bars are too few for. */
static void gather(struct batch *batch, const struct account_spec *base, size_t wanted)
{
    struct sweep *sweep = batch->sweep;
    struct strategy_choice choice = sweep->run.choices[0];
    batch->n = 0;
    for (; batch->next < sweep->combinations && batch->n < wanted; batch->next++) {
        if (!cli_sweep_grid_set(&sweep->grid, batch->next, &choice)) {
            sweep->skipped++;
            continue;
        }
        if (too_short(batch, &choice)) {
            sweep->too_short++;
            continue;
        }
        struct account_spec *spec = &batch->accounts[batch->n];
        *spec = *base;
        memcpy(spec->params, choice.params, sizeof spec->params);
        snprintf(spec->name, sizeof spec->name, "%zu", batch->next);
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
    struct batch *batch = ctx;
    const struct sweep *sweep = batch->sweep;
    return cli_progress_show(&batch->progress,
                             ((double)batch->done + share * (double)batch->n) / (double)sweep->combinations);
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

static int run_batch(struct batch *batch)
{
    struct sweep *sweep = batch->sweep;
    const struct report_config options = {.benchmark = REPORT_BENCHMARK_NONE};
    struct backtest_config config = {.market = sweep->market,
                                     .calendar = cli_run_calendar(&sweep->run),
                                     .venue = sweep->run.venue,
                                     .class_by_calendar = sweep->run.venue != NULL,
                                     .from = sweep->from,
                                     .to = sweep->to,
                                     .accounts = batch->accounts,
                                     .n_accounts = (int)batch->n,
                                     .latency_ns = sweep->run.latency_ns,
                                     .slippage_e6 = sweep->run.slippage_e6,
                                     .way = sweep->run.way,
                                     .threads = sweep->run.threads,
                                     .progress = show,
                                     .ctx = batch};
    struct backtest backtest;
    char err[512] = "";
    if (batch->done == 0) {
        cli_progress_end(&batch->progress);
        cli_run_note_long_only(&sweep->run, &config, &batch->accounts[0]);
    }
    if (backtest_run(&config, &backtest, err, sizeof err) < 0)
        return cli_stored_fail(EXIT_ERROR, "sweep", "", err);
    int status = EXIT_OK;
    for (size_t i = 0; i < batch->n && status == EXIT_OK; i++) {
        struct backtest_report report;
        if (backtest_report(&config, &backtest, (int)i, &options, &report) < 0) {
            status = cli_stored_fail(EXIT_ERROR, "sweep", "", "out of memory");
            break;
        }
        struct sweep_result *to = &sweep->results[sweep->n_results++];
        *to = (struct sweep_result){.combination = batch->combinations[i],
                                    .fills = backtest.accounts[i].n_fills};
        take(to, &report);
        add_refused(&batch->refused, &backtest.accounts[i]);
        backtest_report_finish(&report);
    }
    batch->done = batch->next;
    backtest_finish(&backtest);
    return status;
}

/* How many there are, and after the first few how long all of them take. */
static void note_estimate(struct batch *batch, double seconds)
{
    const struct sweep *sweep = batch->sweep;
    double all = seconds * (double)sweep->combinations / (double)(batch->next ? batch->next : 1);
    cli_progress_end(&batch->progress);
    fprintf(stderr, "papertape: sweep: note: %zu combinations, about %.1f s\n", sweep->combinations, all);
}

static int run_all(struct batch *batch, const struct account_spec *base)
{
    struct sweep *sweep = batch->sweep;
    double started_s = clock_now_s();
    bool noted = false;
    int status = EXIT_OK;
    cli_progress_begin(&batch->progress, "sweep");
    while (status == EXIT_OK && batch->next < sweep->combinations) {
        gather(batch, base, noted ? batch->cap : batch->cap < BATCH_FIRST ? batch->cap : BATCH_FIRST);
        if (batch->n > 0)
            status = run_batch(batch);
        if (status == EXIT_OK && !noted && batch->next < sweep->combinations)
            note_estimate(batch, clock_now_s() - started_s);
        noted = true;
    }
    cli_progress_end(&batch->progress);
    if (status == EXIT_OK)
        cli_run_note_refused(&sweep->run, sweep->market, "all combinations", &batch->refused);
    sweep->seconds = clock_now_s() - started_s;
    return status;
}

int cli_sweep_run(struct sweep *sweep)
{
    double started_s = clock_now_s();
    int status = cli_run_load(&sweep->run, &sweep->market, &sweep->load, &sweep->from, &sweep->to);
    sweep->load_seconds = clock_now_s() - started_s;
    struct account_spec base;
    if (status == EXIT_OK)
        status = cli_run_account(&sweep->run, sweep->market, 0, &base);
    if (status != EXIT_OK)
        return status;
    size_t cap = BATCH_BYTES / ((sweep->to - sweep->from) * sizeof(double));
    struct batch batch = {.sweep = sweep,
                          .bars = most_bars(sweep),
                          .cap = cap < 1            ? 1
                                 : cap > BATCH_MOST ? BATCH_MOST
                                                    : cap};
    batch.accounts = calloc(batch.cap, sizeof *batch.accounts);
    batch.combinations = calloc(batch.cap, sizeof *batch.combinations);
    sweep->results = calloc(sweep->combinations, sizeof *sweep->results);
    if (batch.accounts && batch.combinations && sweep->results)
        status = run_all(&batch, &base);
    else
        status = cli_stored_fail(EXIT_ERROR, "sweep", "", "out of memory");
    free(batch.accounts);
    free(batch.combinations);
    if (status == EXIT_OK && sweep->n_results == 0)
        status = cli_stored_fail(
            EXIT_ERROR, "sweep", "--grid",
            "nothing was run: every combination contradicts itself, or needs more bars than there are");
    return status;
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

void cli_sweep_sort(struct sweep *sweep)
{
    qsort_r(sweep->results, sweep->n_results, sizeof *sweep->results, by_metric, &sweep->metric);
}
