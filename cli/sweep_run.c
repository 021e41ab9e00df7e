#include "cli/sweep_run.h"

#include <errno.h>
#include <stdio.h>

#include "cli/progress.h"
#include "cli/stored.h"
#include "exchange/clock.h"
#include "exchange/early_stop.h"
#include "exchange/exit_status.h"
#include "strategy/metrics.h"

struct sweep_progress {
    struct sweep *sweep;
    struct progress progress;
    struct sweep_file file;
    double started_s;
    struct sweep_watch watch;
    int asks; /* of ask() in this sweep */
    bool declined;
};

static bool show(void *ctx, double share)
{
    struct sweep_progress *running = ctx;
    if (running->sweep->progress)
        cli_sweep_watch_say(running->sweep, &running->watch, "sets", share, false);
    return cli_progress_show(&running->progress, share) && !early_stop_asked();
}

/* How many there are, and after the first few how long all of them take. */
static bool ask(void *ctx, size_t tried, size_t left, double set_s)
{
    struct sweep_progress *running = ctx;
    struct sweep *sweep = running->sweep;
    if (++running->asks <= sweep->asked)
        return true;
    cli_progress_end(&running->progress);
    running->declined = !cli_sweep_ask(sweep, tried, left, set_s);
    sweep->asked = running->asks;
    return !running->declined;
}

/* A screen that takes long by itself is asked about once it has run long enough to say so. */
static bool screening(void *ctx, double share)
{
    enum { SURE_S = 2 };
    struct sweep_progress *running = ctx;
    struct sweep *sweep = running->sweep;
    const double seconds = clock_now_s() - running->started_s;
    if (share >= 1) {
        sweep->screened = true;
    } else if (!sweep->asked_screen && share > 0 && seconds >= SURE_S) {
        cli_progress_end(&running->progress);
        sweep->asked_screen = true;
        running->declined = !cli_sweep_ask_screen(sweep, seconds / share);
        if (running->declined)
            return false;
    }
    if (sweep->progress && share < 1)
        cli_sweep_watch_say(sweep, &running->watch, "screen", share, false);
    return cli_progress_show(&running->progress, share) && !early_stop_asked();
}

static size_t known(void *ctx, struct sweep_result *rows, size_t cap)
{
    struct sweep_progress *running = ctx;
    size_t n = backtest_sweep_file_rows(&running->file, rows, cap);
    /* Behind a screen progress is of what is left to run. */
    running->watch.known = running->sweep->screened ? 0 : n;
    cli_sweep_watch_rows(running->sweep, &running->watch, rows, n);
    return n;
}

static void keep(void *ctx, const struct sweep_result *rows, size_t n)
{
    struct sweep_progress *running = ctx;
    backtest_sweep_file_add(&running->file, rows, n);
    cli_sweep_watch_rows(running->sweep, &running->watch, rows, n);
}

static int run_all(struct sweep_progress *running, struct backtest_sweep *all)
{
    struct sweep *sweep = running->sweep;
    char err[512] = "";
    running->started_s = running->watch.started_s = clock_now_s();
    cli_progress_begin(&running->progress, "sweep");
    running->progress.shows &= !sweep->progress;
    int r = backtest_sweep_run(all, &sweep->runs, err, sizeof err);
    cli_progress_end(&running->progress);
    if (running->file.why[0])
        fprintf(stderr, "papertape: sweep: note: %s\n", running->file.why);
    if (running->declined)
        return EXIT_USAGE;
    if (r == -ENOTSUP)
        return cli_stored_fail(EXIT_USAGE, "sweep", "--backend gpu", err);
    if (r < 0)
        return cli_stored_fail(EXIT_ERROR, "sweep", "", err);
    if (sweep->progress && !sweep->runs.stopped)
        cli_sweep_watch_say(sweep, &running->watch, "sets", 1, true);
    cli_run_note_refused(&sweep->run, sweep->market, "all combinations", &sweep->runs.refused);
    sweep->seconds = clock_now_s() - running->started_s;
    return EXIT_OK;
}

static int order(struct sweep *sweep, const struct backtest_config *config)
{
    size_t rows = config->to - config->from;
    struct sweep_results *runs = &sweep->runs;
    runs->min_trades = (size_t)sweep->min_trades;
    if (runs->n == 0)
        return cli_stored_fail(EXIT_ERROR, "sweep", "--grid",
                               runs->stopped ? "stopped before the first run"
                                             : "nothing was run: every combination contradicts itself, or "
                                               "needs more bars than there are");
    if (backtest_luck(runs, rows, metrics_periods_per_year(sweep->market->interval_ns), &sweep->luck) < 0)
        return cli_stored_fail(EXIT_ERROR, "sweep", "", "out of memory");
    backtest_sweep_sort(runs, sweep->metric);
    size_t enough = runs->n - sweep->luck.few;
    sweep->shown = enough < (size_t)sweep->top ? enough : (size_t)sweep->top;
    return EXIT_OK;
}

int cli_sweep_rows(struct sweep *sweep, const struct backtest_config *config, const struct account_spec *base)
{
    struct sweep_progress running = {.sweep = sweep};
    struct backtest_sweep all = {.config = config,
                                 .account = base,
                                 .grid = &sweep->grid,
                                 .sets = &sweep->sets,
                                 .progress = show,
                                 .started = ask,
                                 .known = known,
                                 .keep = keep,
                                 .top = sweep->screen || sweep->gpu ? (size_t)sweep->top : 0,
                                 .min_trades = (size_t)sweep->min_trades,
                                 .metric = sweep->metric,
                                 .screening = screening,
                                 .device = sweep->device,
                                 .ctx = &running};
    cli_sweep_keep(sweep, &all, &running.file);
    int status = run_all(&running, &all);
    sweep->kept = running.file.fd >= 0 && !running.file.failed;
    backtest_sweep_file_close(&running.file);
    return status == EXIT_OK ? order(sweep, config) : status;
}

static int open_sets(struct sweep *sweep)
{
    char err[BACKTEST_GRID_ERROR_MAX];
    int r = backtest_sets_open(&sweep->grid, &sweep->sampling, &sweep->sets, err);
    return r < 0 ? cli_stored_fail(EXIT_ERROR, "sweep", "--samples", err) : EXIT_OK;
}

int cli_sweep_run(struct sweep *sweep)
{
    double started_s = clock_now_s();
    int status = cli_run_load(&sweep->run, &sweep->market, &sweep->load, &sweep->from, &sweep->to);
    sweep->load_seconds = clock_now_s() - started_s;
    return status == EXIT_OK ? open_sets(sweep) : status;
}
