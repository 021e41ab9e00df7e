/* Strategies on bars: loads them, runs, checks that the ledger adds up, and reports. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "engine/backtest/audit.h"
#include "tui/command/backtest_result.h"
#include "tui/command/progress.h"
#include "tui/command/stored.h"
#include "tui/dashboard.h"

/* All that a run on bars owns. */
struct bars_run {
    const struct backtest_args *args;
    struct market *market;
    struct market_load load;
    struct account_spec *accounts;
    struct account_report *reports;
    struct backtest backtest;
    struct output outputs[BACKTEST_OUTPUTS];
    struct backtest_result result;
};

static int fail(int status, const char *what, const char *words)
{
    return stored_fail(status, "backtest", what, words);
}

static double peak_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024.0 * (double)usage.ru_maxrss : 0;
}

static int find_benchmark(struct bars_run *run)
{
    const char *name = run->args->benchmark;
    for (int s = 0; name && s < run->market->n_symbols; s++)
        if (strcmp(run->market->series[s].symbol.name, name) == 0) {
            run->result.benchmark = s;
            return EXIT_OK;
        }
    char words[96];
    if (!name)
        return EXIT_OK;
    snprintf(words, sizeof words, "no bars of it were given: %.24s is one that has",
             run->market->series[0].symbol.name);
    return fail(EXIT_ERROR, name, words);
}

static int make_accounts(struct bars_run *run)
{
    int n = run->args->run.n_choices, status = EXIT_OK;
    run->accounts = calloc((size_t)n, sizeof *run->accounts);
    run->reports = calloc((size_t)n, sizeof *run->reports);
    if (!run->accounts || !run->reports)
        return fail(EXIT_ERROR, "", "out of memory");
    for (int i = 0; i < n && status == EXIT_OK; i++)
        status = run_args_account(&run->args->run, run->market, i, &run->accounts[i]);
    return status;
}

static int simulate(struct bars_run *run, size_t from, size_t to)
{
    const struct run_args *args = &run->args->run;
    struct progress progress;
    struct backtest_config config = {.market = run->market,
                                     .from = from,
                                     .to = to,
                                     .accounts = run->accounts,
                                     .n_accounts = args->n_choices,
                                     .latency_ns = args->latency_ns,
                                     .slippage_e6 = args->slippage_e6,
                                     .way = args->way,
                                     .threads = args->threads,
                                     .orders = true,
                                     .ledger = true,
                                     .progress = progress_show,
                                     .ctx = &progress};
    char err[512] = "";
    progress_begin(&progress, "backtest");
    int r = backtest_run(&config, &run->backtest, err, sizeof err);
    progress_end(&progress);
    if (r < 0)
        return fail(EXIT_ERROR, "", err);
    memcpy(run->result.seconds, run->backtest.seconds, sizeof run->result.seconds);
    r = backtest_audit(&run->backtest, run->market, run->accounts, run->result.hash, err, sizeof err);
    return r < 0 ? fail(EXIT_ERROR, "the ledger does not add up", err) : EXIT_OK;
}

static int measure(struct bars_run *run)
{
    const struct backtest *backtest = &run->backtest;
    double begun = progress_now();
    struct benchmark benchmark =
        benchmark_of(run->market, run->result.benchmark, backtest->from, backtest->to);
    for (int a = 0; a < backtest->n_accounts; a++) {
        if (account_report_make(run->market, backtest, a, &run->accounts[a], &benchmark, &run->reports[a]) <
            0)
            return fail(EXIT_ERROR, "", "out of memory");
        run->result.ledger_rows += backtest->accounts[a].n_ledger;
    }
    run->result.seconds[STAGE_METRICS] = progress_now() - begun;
    run->result.peak_bytes = peak_bytes();
    return EXIT_OK;
}

static int report(struct bars_run *run)
{
    run->result.args = run->args;
    run->result.market = run->market;
    run->result.load = &run->load;
    run->result.accounts = run->accounts;
    run->result.backtest = &run->backtest;
    run->result.reports = run->reports;
    int status = backtest_write(&run->result, run->outputs);
    if (status != EXIT_OK)
        return status;
    if (run->args->json)
        return backtest_print_json(&run->result);
    backtest_print(&run->result);
    return EXIT_OK;
}

static int go(struct bars_run *run)
{
    size_t from, to;
    int status = backtest_open_outputs(run->args, run->outputs);
    double begun = progress_now(), loaded;
    if (status == EXIT_OK)
        status = run_args_load(&run->args->run, &run->market, &run->load, &from, &to);
    loaded = progress_now() - begun;
    if (status == EXIT_OK)
        status = find_benchmark(run);
    if (status == EXIT_OK)
        status = make_accounts(run);
    if (status == EXIT_OK)
        status = simulate(run, from, to);
    run->result.seconds[STAGE_LOAD] = loaded;
    if (status == EXIT_OK)
        status = measure(run);
    return status == EXIT_OK ? report(run) : status;
}

int backtest_bars(const struct backtest_args *args)
{
    struct bars_run run = {.args = args};
    int status = go(&run);
    for (int a = 0; run.reports && a < args->run.n_choices; a++)
        account_report_finish(&run.reports[a]);
    backtest_drop_outputs(run.outputs);
    backtest_finish(&run.backtest);
    free(run.reports);
    free(run.accounts);
    market_close(run.market);
    return status;
}
