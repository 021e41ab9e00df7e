#include "cli/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "cli/stored.h"
#include "cli/sweep_run.h"
#include "exchange/exit_status.h"
#include "exchange/nearest.h"

enum { TOP = 10 };

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
    for (int i = 0; i < SWEEP_METRICS; i++)
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
    (void)call;
    (void)row;
    if (strcmp(value, "cpu") == 0)
        return EXIT_OK;
    return fail(EXIT_USAGE, "--backend",
                strcmp(value, "gpu") == 0 ? "gpu: a sweep has no GPU way: cpu uses all cores"
                                          : "cpu is needed: the only one that a sweep has");
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

/* A single combination may contradict itself; but the parameters that no grid moves must not make all of
 * them do. */
static int check(struct sweep *sweep)
{
    if (backtest_grid_count(&sweep->grid) > BACKTEST_GRID_MOST)
        return fail(EXIT_USAGE, "--grid", "more than 1000000 combinations: wider steps are needed");
    int n_choices = sweep->run.n_choices, status = check_axes(sweep);
    sweep->run.n_choices = 0; /* contradictions are found per combination */
    status = status == EXIT_OK ? cli_run_check(&sweep->run) : status;
    sweep->run.n_choices = n_choices;
    return status;
}

static int run_and_print(struct sweep *sweep, bool json)
{
    struct output csv = {0};
    int status = sweep->csv ? cli_output_open("sweep", sweep->csv, &csv) : EXIT_OK;
    if (status == EXIT_OK)
        status = cli_sweep_run(sweep);
    if (status == EXIT_OK) {
        backtest_sweep_sort(&sweep->runs, sweep->metric);
        if (csv.file)
            cli_sweep_write_csv(sweep, csv.file);
        status = cli_output_commit("sweep", &csv);
    }
    cli_output_drop(&csv);
    if (status != EXIT_OK)
        return status;
    if (json)
        return cli_sweep_print_json(sweep);
    cli_sweep_print(sweep);
    return EXIT_OK;
}

static int run(struct option_call *call)
{
    int status = check(call->into);
    return status == EXIT_OK ? run_and_print(call->into, call->json) : status;
}

static void init(void *into)
{
    struct sweep *sweep = into;
    sweep->top = TOP;
    cli_run_init(&sweep->run, "sweep", 1);
}

static void finish(void *into)
{
    struct sweep *sweep = into;
    backtest_sweep_finish(&sweep->runs);
    market_store_close(sweep->market);
    backtest_grid_finish(&sweep->grid);
    cli_run_finish(&sweep->run);
}

static const struct option_action actions[] = {
    {.example = "--strategy sma-cross --bars BTCUSDT_5m.csv --grid fast=5:30:5 --grid slow=40,80,120",
     .needed = "strategy bars grid",
     .run = run}};

#define AT(member) offsetof(struct sweep, member)

static const struct option_row options[] = {
    {"grid", "KEY=LO:HI:STEP", "LO, LO + STEP and so on up to HI; or KEY=a,b,c", .take = take_grid},
    {"metric", "METRIC",
     "what is best: sharpe, sortino, calmar, cagr, return, max_drawdown, omega, profit_factor, expectancy, "
     "sqn or win_rate",
     .take = take_metric},
    {"top", "N", "so many are listed: 10", AT(top), .low = 1, .high = BACKTEST_GRID_MOST},
    {"csv", "FILE", "every run, best first; shares as they are, 0.05 for 5 %", AT(csv)},
    {"backend", "cpu", "the only one: trades are taken one after the other", .take = take_backend},
};

CLI_VERB(cli_sweep) = {
    .name = "sweep",
    .words = "a strategy with every combination of parameters",
    .about =
        "Runs a strategy with every combination of the grids' values, on all cores, on one loading of the "
        "bars, and lists the best. Combinations that contradict themselves, or need more bars than there "
        "are, are left out and counted. With --json, papertape.sweep/1.",
    .page = "backtest",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    OPTION_SHARED(cli_run_options),
    .size = sizeof(struct sweep),
    .init = init,
    .finish = finish,
};
