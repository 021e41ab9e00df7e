#include "cli/sweep_run.h"

#include <stdio.h>

#include "cli/progress.h"
#include "cli/stored.h"
#include "exchange/clock.h"
#include "exchange/exit_status.h"

struct sweep_progress {
    struct sweep *sweep;
    struct progress progress;
    double started_s;
};

static bool show(void *ctx, double share)
{
    struct sweep_progress *running = ctx;
    return cli_progress_show(&running->progress, share);
}

/* How many there are, and after the first few how long all of them take. */
static void note_estimate(void *ctx, size_t tried)
{
    struct sweep_progress *running = ctx;
    size_t all = backtest_grid_count(&running->sweep->grid);
    double seconds = clock_now_s() - running->started_s;
    cli_progress_end(&running->progress);
    fprintf(stderr, "papertape: sweep: note: %zu combinations, about %.1f s\n", all,
            seconds * (double)all / (double)(tried ? tried : 1));
}

static int run_all(struct sweep_progress *running, const struct backtest_config *config,
                   const struct account_spec *base)
{
    struct sweep *sweep = running->sweep;
    const struct backtest_sweep all = {.config = config,
                                       .account = base,
                                       .grid = &sweep->grid,
                                       .progress = show,
                                       .started = note_estimate,
                                       .ctx = running};
    char err[512] = "";
    running->started_s = clock_now_s();
    cli_run_note_long_only(&sweep->run, config, base);
    cli_progress_begin(&running->progress, "sweep");
    int r = backtest_sweep_run(&all, &sweep->runs, err, sizeof err);
    cli_progress_end(&running->progress);
    if (r < 0)
        return cli_stored_fail(EXIT_ERROR, "sweep", "", err);
    cli_run_note_refused(&sweep->run, sweep->market, "all combinations", &sweep->runs.refused);
    sweep->seconds = clock_now_s() - running->started_s;
    return EXIT_OK;
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
    const struct backtest_config config = {.market = sweep->market,
                                           .calendar = cli_run_calendar(&sweep->run),
                                           .venue = sweep->run.terms.venue,
                                           .class_by_calendar = sweep->run.terms.venue != NULL,
                                           .from = sweep->from,
                                           .to = sweep->to,
                                           .latency_ns = sweep->run.terms.latency_ns,
                                           .slippage_e6 = sweep->run.terms.slippage_e6,
                                           .way = sweep->run.way,
                                           .threads = sweep->run.threads};
    struct sweep_progress running = {.sweep = sweep};
    status = run_all(&running, &config, &base);
    if (status == EXIT_OK && sweep->runs.n == 0)
        status = cli_stored_fail(
            EXIT_ERROR, "sweep", "--grid",
            "nothing was run: every combination contradicts itself, or needs more bars than there are");
    return status;
}
