#include "cli/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/page/charts.h"
#include "cli/page/sweep.h"
#include "cli/stored.h"
#include "cli/sweep_run.h"
#include "exchange/early_stop.h"
#include "exchange/exit_status.h"
#include "exchange/nearest.h"
#include "indicators_gpu/module.h"
#include "strategy/direction.h"

enum { TOP = 10, PERIODS_MOST = 1000, DAYS_MOST = 36500, SEED_UNSET = -1 };

static int fail(int status, const char *what, const char *words)
{
    return cli_stored_fail(status, "sweep", what, words);
}

static int take_metric(struct option_call *call, const struct option_row *row, const char *value)
{
    struct sweep *sweep = call->into;
    struct nearest nearest = {0};
    int metric = backtest_sweep_metric_parse(value);
    (void)row;
    if (metric >= 0) {
        sweep->metric = (enum sweep_metric)metric;
        return EXIT_OK;
    }
    for (int i = 0; i <= SWEEP_DSR; i++)
        nearest_offer(&nearest, value, backtest_sweep_metric_name((enum sweep_metric)i));
    return option_fail(call, EXIT_USAGE, "--metric: \"%.48s\": no metric has that name%s", value,
                       NEAREST_HINT(&nearest, value));
}

static int take_grid(struct option_call *call, const struct option_row *row, const char *value)
{
    struct sweep *sweep = call->into;
    (void)row;
    if (sweep->run.n_choices == 0)
        return fail(EXIT_USAGE, "--grid", "it belongs behind the --strategy that it is of");
    char err[BACKTEST_GRID_ERROR_MAX];
    int r = backtest_grid_add(&sweep->grid, sweep->run.choices[0].strategy, value, err);
    return r == 0 ? EXIT_OK : fail(r == -ENOMEM ? EXIT_ERROR : EXIT_USAGE, "--grid", err);
}

static int take_backend(struct option_call *call, const struct option_row *row, const char *value)
{
    struct sweep *sweep = call->into;
    (void)row;
    sweep->gpu = strcmp(value, "gpu") == 0;
    return EXIT_OK;
}

static int take_sampling(struct option_call *call, const struct option_row *row, const char *value)
{
    struct sweep *sweep = call->into;
    (void)row;
    sweep->sampling.sobol = strcmp(value, "sobol") == 0;
    sweep->sampling_given = true;
    return EXIT_OK;
}

static int take_walk(struct option_call *call, const struct option_row *row, const char *value)
{
    struct sweep *sweep = call->into;
    (void)row;
    if (cli_sweep_walk_parse(value, sweep->walk_ns))
        return EXIT_OK;
    return option_fail(call, EXIT_USAGE,
                       "--walk-forward: \"%.48s\": IN:OUT or IN:OUT:STEP is needed, as 90d:30d, with STEP at "
                       "least OUT",
                       value);
}

/* A parameter is on a grid, or it is set. */
static int check_axes(const struct sweep *sweep)
{
    const struct strategy_choice *choice = &sweep->run.choices[0];
    for (int i = 0; i < sweep->grid.n_axes; i++) {
        int param = sweep->grid.axes[i].param;
        char what[96];
        snprintf(what, sizeof what, "--grid: %.64s", choice->strategy->params[param].name);
        if (choice->given[param])
            return fail(EXIT_USAGE, what, "--set or --strategy sets it too: one of them");
    }
    return EXIT_OK;
}

/* A range without a step has no values, unless they are drawn of it. */
static int check_steps(const struct sweep *sweep)
{
    for (int i = 0; i < sweep->grid.n_axes; i++) {
        const struct backtest_axis *axis = &sweep->grid.axes[i];
        char what[96];
        snprintf(what, sizeof what, "--grid: %.64s",
                 sweep->run.choices[0].strategy->params[axis->param].name);
        if (axis->continuous && sweep->samples == 0)
            return fail(EXIT_USAGE, what,
                        "a step is needed, as LO:HI:STEP, or --samples N, which draws of it");
    }
    return EXIT_OK;
}

/* Where nothing is drawn. */
static int check_undrawn(const struct sweep *sweep)
{
    static const char words[] = "it goes with --samples or --periods";
    if (sweep->sampling_given)
        return fail(EXIT_USAGE, "--sampling", words);
    return sweep->seed != SEED_UNSET ? fail(EXIT_USAGE, "--seed", words) : EXIT_OK;
}

/* A single combination may contradict itself; but the parameters that no grid moves must not make all of
 * them do. */
static int check(struct sweep *sweep)
{
    int n_choices = sweep->run.n_choices, status = check_axes(sweep);
    if (status == EXIT_OK)
        status = check_steps(sweep);
    if (status == EXIT_OK && sweep->samples == 0 && sweep->periods.n == 0)
        status = check_undrawn(sweep);
    sweep->seed = sweep->seed == SEED_UNSET ? 1 : sweep->seed;
    sweep->sampling.n = (size_t)sweep->samples;
    sweep->sampling.seed = (uint64_t)sweep->seed;
    sweep->run.n_choices = 0; /* contradictions are found per combination */
    status = status == EXIT_OK ? cli_run_check(&sweep->run) : status;
    sweep->run.n_choices = n_choices;
    return status;
}

static int write_page(const struct sweep *sweep, FILE *out)
{
    struct text text = {0};
    int r = cli_page_sweep(&text, sweep);
    r = r == 0 && !text_ok(&text) ? -ENOMEM : r;
    if (r == 0)
        fwrite(text.data, 1, text.len, out);
    text_finish(&text);
    return r < 0 ? fail(EXIT_ERROR, "--report", strerror(-r)) : EXIT_OK;
}

/* Before anything runs: a file that cannot be written is known at once. */
enum { SWEEP_CSV, SWEEP_PAGE, SWEEP_RETURNS, SWEEP_FILES };

static int open_outputs(const struct sweep *sweep, struct output files[static SWEEP_FILES])
{
    static const char *const options[] = {"csv", "report", "returns"};
    const char *const paths[] = {sweep->csv, sweep->page, sweep->returns};
    int status = EXIT_OK;
    for (int i = 0; i < SWEEP_FILES && status == EXIT_OK; i++) {
        status = paths[i] ? cli_output_open("sweep", paths[i], &files[i]) : EXIT_OK;
        if (status == EXIT_OK)
            status = cli_output_apart("sweep", options, files, i);
    }
    return status;
}

static int print(const struct sweep *sweep, bool json)
{
    if (json)
        return cli_sweep_print_json(sweep);
    cli_sweep_print(sweep);
    int r = sweep->chart ? tui_sweep_chart(sweep, tui_run_chart_width(), stdout) : 0;
    return r < 0 ? fail(EXIT_ERROR, "--chart", strerror(-r)) : EXIT_OK;
}

/* What was done is shown, and the same command does the rest. */
static int say_stopped(const struct sweep *sweep)
{
    char words[SWEEP_WORDS_MAX];
    fflush(stdout);
    fprintf(stderr, "papertape: sweep: %s%s\n", cli_sweep_stopped_text(&sweep->runs, words),
            sweep->kept ? "; they are kept, and the same command continues" : "");
    return EXIT_ERROR;
}

/* Sets that an earlier run has done take no time. */
static int run_plan(struct sweep *sweep, const struct backtest_config *config,
                    const struct account_spec *base, bool json)
{
    int status = cli_sweep_rows(sweep, config, base);
    return status == EXIT_OK || sweep->plan.known ? cli_sweep_print_plan(sweep, base, json) : status;
}

static int run_and_print(struct sweep *sweep, const struct backtest_config *config,
                         const struct account_spec *base, bool json)
{
    struct output files[SWEEP_FILES] = {0};
    if (sweep->dry_run)
        return run_plan(sweep, config, base, json);
    int status = open_outputs(sweep, files);
    if (status == EXIT_OK)
        status = cli_sweep_rows(sweep, config, base);
    if (status == EXIT_OK)
        status = cli_sweep_judge(sweep, config, base);
    if (status == EXIT_OK)
        status = cli_sweep_periods(sweep, config, base);
    if (status == EXIT_OK && files[SWEEP_CSV].file)
        cli_sweep_write_csv(sweep, files[SWEEP_CSV].file);
    if (status == EXIT_OK && files[SWEEP_PAGE].file)
        status = write_page(sweep, files[SWEEP_PAGE].file);
    for (int i = 0; i < SWEEP_FILES && status == EXIT_OK; i++) {
        if (i == SWEEP_RETURNS && files[i].file) /* runs that may fail: the others are there */
            status = cli_sweep_write_returns(sweep, config, base, files[i].file);
        if (status == EXIT_OK)
            status = cli_output_commit("sweep", &files[i]);
    }
    for (int i = 0; i < SWEEP_FILES; i++)
        cli_output_drop(&files[i]);
    if (status == EXIT_OK)
        status = print(sweep, json);
    return status == EXIT_OK && sweep->runs.stopped ? say_stopped(sweep) : status;
}

/* Of the given direction, or of each that the grid has. */
static void note_long_only(const struct sweep *sweep, const struct backtest_config *config,
                           const struct account_spec *base)
{
    struct account_spec spec = *base;
    for (int i = 0; i < sweep->grid.n_axes; i++) {
        const struct backtest_axis *axis = &sweep->grid.axes[i];
        if (strcmp(base->strategy->params[axis->param].name, DIRECTION_NAME) != 0)
            continue;
        for (size_t k = 0; k < axis->n; k++) {
            spec.params[axis->param] = axis->values[k];
            cli_run_note_long_only(&sweep->run, config, &spec);
        }
        return;
    }
    cli_run_note_long_only(&sweep->run, config, &spec);
}

static int run_sweep(struct sweep *sweep, bool json)
{
    struct account_spec base;
    int status = cli_sweep_run(sweep);
    if (status == EXIT_OK)
        status = cli_run_actions(&sweep->run, sweep->market);
    if (status == EXIT_OK)
        status = cli_run_account(&sweep->run, sweep->market, 0, &base);
    if (status == EXIT_OK)
        status = cli_run_universe(&sweep->run, sweep->market, sweep->from, sweep->to);
    if (status != EXIT_OK)
        return status;
    const struct backtest_config config = cli_run_config(&sweep->run, sweep->market, sweep->from, sweep->to);
    note_long_only(sweep, &config, &base);
    early_stop_catch();
    status = sweep->walk_ns[0] > 0 ? cli_sweep_walk(sweep, &config, &base, json)
                                   : run_and_print(sweep, &config, &base, json);
    early_stop_release();
    return status;
}

/* Before the bars are loaded: a device that is not there is known at once. */
static int open_device(struct sweep *sweep)
{
    char reason[GPU_REASON_MAX], words[GPU_REASON_MAX + 64];
    if (!sweep->gpu || gpu_module_open(NULL, &sweep->device, reason, sizeof reason) == 0)
        return EXIT_OK;
    snprintf(words, sizeof words, "%s: --screen screens on the CPU", reason);
    return fail(EXIT_ERROR, "--backend gpu", words);
}

static int run(struct option_call *call)
{
    int status = check(call->into);
    if (status == EXIT_OK)
        status = open_device(call->into);
    return status == EXIT_OK ? run_sweep(call->into, call->json) : status;
}

static void init(void *into)
{
    struct sweep *sweep = into;
    sweep->top = TOP;
    sweep->metric = SWEEP_DSR;
    sweep->min_trades = SWEEP_MIN_TRADES;
    sweep->seed = SEED_UNSET;
    cli_run_init(&sweep->run, "sweep", 1);
}

static void finish(void *into)
{
    struct sweep *sweep = into;
    backtest_sweep_finish(&sweep->runs);
    backtest_sets_finish(&sweep->sets);
    cli_sweep_periods_finish(&sweep->periods);
    free(sweep->beside);
    for (int i = 0; i < SWEEP_COSTS; i++)
        free(sweep->costs[i]);
    market_store_close(sweep->market);
    gpu_module_close(sweep->device);
    backtest_grid_finish(&sweep->grid);
    cli_run_finish(&sweep->run);
}

static const struct option_action actions[] = {
    {.example = "--strategy sma-cross --bars BTCUSDT_5m.csv --grid fast=5:30:5 --grid slow=40,80,120",
     .needed = "strategy bars grid",
     .run = run}};

#define AT(member) offsetof(struct sweep, member)

static const struct option_row options[] = {
    {"grid", "KEY=LO:HI:STEP",
     "LO, LO + STEP and so on up to HI; or KEY=a,b,c; without STEP 1, and with --samples the whole range",
     .take = take_grid},
    {"samples", "N", "so many sets are drawn of the grids, in place of every combination", AT(samples),
     .low = 1, .high = BACKTEST_GRID_MOST},
    {"sampling", "random|sobol",
     "how samples and periods are drawn: independently, or by Sobol's sequence, which fills the grids, and the time, "
     "evenly; random without it",
     .take = take_sampling},
    {"seed", "N", "of the samples, and of the periods: 1", AT(seed), .low = 0, .high = INT64_MAX},
    {"periods", "K",
     "the listed runs again on so many periods of --period-days, drawn as --sampling says, which may overlap",
     AT(periods.n), .low = 1, .high = PERIODS_MOST, .with = "period-days"},
    {"period-days", "N", "the length of each", AT(periods.days), .low = 1, .high = DAYS_MOST,
     .with = "periods", .without = "walk-forward"},
    {"metric", "METRIC",
     "what is best: dsr, the deflated Sharpe ratio, by default; sharpe, sortino, calmar, cagr, return, "
     "max_drawdown, omega, profit_factor, expectancy, sqn or win_rate",
     .take = take_metric},
    {"min-trades", "N", "runs with fewer closed trades are not ranked: 10", AT(min_trades), .low = 0,
     .high = INT64_MAX},
    {"top", "N", "so many are listed: 10", AT(top), .low = 1, .high = BACKTEST_GRID_MOST},
    {"screen", NULL,
     "screen the sets first, many at once and approximately; only those that may be among the --top are run "
     "exactly",
     AT(screen)},
    {"walk-forward", "IN:OUT[:STEP]",
     "choose on IN, trade the choice on the OUT that follows, and again STEP later (OUT without it): as "
     "90d:30d",
     .take = take_walk, .without = "returns report chart"},
    {"csv", "FILE",
     "every run, best first; shares as they are, 0.05 for 5 %; with --walk-forward every window", AT(csv)},
    {"chart", NULL,
     "below the list, in characters as the terminal and its locale have them: the metric over the grid as heat maps, "
     "its distribution",
     AT(chart), .without = "json"},
    {"report", "FILE",
     "one HTML page, which loads nothing and runs nothing: the metric over the grid as heat maps, its distribution, the "
     "best runs",
     AT(page)},
    {"returns", "FILE",
     "the returns of those that are listed: a row a bar, a column each, as papertape-trainer validate reads "
     "them",
     AT(returns)},
    {"progress", NULL,
     "on stderr lines of JSON, papertape.sweep_progress/1: sets that are done, the best so far, the time left; for "
     "programs",
     AT(progress), .without = "walk-forward"},
    {"dry-run", NULL,
     "only how many sets there are and about how long they take: the first few are run for it, and kept",
     AT(dry_run), .without = "walk-forward screen backend csv report chart returns yes"},
    {"yes", NULL, "run what takes longer than 60 s without a question", AT(yes)},
    {"fresh", NULL, "run all of it again, even what an earlier run of the same command has done", AT(fresh),
     .without = "no-cache"},
    {"backend", "cpu|gpu", "where the sets are screened: with gpu on the GPU, as --screen does it on the CPU",
     .take = take_backend},
};

CLI_VERB(cli_sweep) = {
    .name = "sweep",
    .words = "a strategy with every combination of parameters",
    .about =
        "Runs a strategy with every combination of the grids' values, on all cores, on one loading of the "
        "bars, and lists the best. Combinations that contradict themselves, or need more bars than there "
        "are, are left out and counted; equal ones are one run. Beside the best stand what luck alone would "
        "show, the probability of overfitting, how the sets next to them do, and what higher costs leave. A "
        "sweep that was stopped or killed continues with the same command. With --json, "
        "papertape.sweep/1.",
    .page = "backtest",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    OPTION_SHARED(cli_run_options),
    .size = sizeof(struct sweep),
    .init = init,
    .finish = finish,
};
