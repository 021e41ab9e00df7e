#include "cli/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/output.h"
#include "cli/stored.h"
#include "cli/sweep_run.h"
#include "exchange/decimal.h"
#include "exchange/exit_status.h"
#include "exchange/nearest.h"

static const char help[] =
    "Usage: papertape sweep --strategy S --grid key=lo:hi:step… --bars F[,F…] [--set key=value…]\n"
    "                       [--metric M] [--top N] [--csv F] [--json]\n"
    "\n"
    "Runs a strategy with every combination of the grids' values, on all cores, on one loading of\n"
    "the bars, and lists the best. Combinations that contradict themselves, or need more bars than\n"
    "there are, are left out and counted.\n"
    "\n"
    "  --grid key=lo:hi:step\n"
    "                     lo, lo + step and so on up to hi; or key=a,b,c\n"
    "  --metric M         what is best: sharpe, sortino, calmar, cagr, return, max_drawdown,\n"
    "                     omega, profit_factor, expectancy, sqn or win_rate\n"
    "  --top N            10: so many are listed\n"
    "  --csv F            every run, best first; shares as they are, 0.05 for 5 %\n"
    "  --backend cpu      the only one: trades are taken one after the other\n"
    "  --json             papertape.sweep/1\n";

enum { OPTION_GRID = 0x100, OPTION_METRIC, OPTION_TOP, OPTION_CSV, OPTION_BACKEND };

static const struct option own_options[] = {
    {"grid", required_argument, NULL, OPTION_GRID},
    {"metric", required_argument, NULL, OPTION_METRIC},
    {"top", required_argument, NULL, OPTION_TOP},
    {"csv", required_argument, NULL, OPTION_CSV},
    {"backend", required_argument, NULL, OPTION_BACKEND},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

enum { OWN_OPTIONS = sizeof own_options / sizeof *own_options, TOP = 10 };

static int fail(int status, const char *what, const char *words)
{
    return stored_fail(status, "sweep", what, words);
}

static int take_metric(struct sweep *sweep, const char *name)
{
    struct nearest nearest = {0};
    char what[96], words[96];
    int metric = sweep_metric_parse(name);
    if (metric >= 0) {
        sweep->metric = (enum sweep_metric)metric;
        return EXIT_OK;
    }
    for (int i = 0; i < SWEEP_METRICS; i++)
        nearest_offer(&nearest, name, sweep_metric_name((enum sweep_metric)i));
    snprintf(what, sizeof what, "--metric: \"%.48s\"", name);
    snprintf(words, sizeof words,
             nearest_is_near(&nearest, name) ? "no metric has that name: did you mean \"%s\"?"
                                             : "no metric has that name: sweep --help lists them",
             nearest.best);
    return fail(EXIT_USAGE, what, words);
}

static int take_top(struct sweep *sweep, const char *text)
{
    int64_t top;
    if (decimal_parse_str(text, 0, &top) < 0 || top < 1 || top > GRID_MOST)
        return fail(EXIT_USAGE, "--top", "a whole number from 1 to 1000000 is needed");
    sweep->top = (size_t)top;
    return EXIT_OK;
}

static int take(struct sweep *sweep, int option, const char *value)
{
    switch (option) {
    case OPTION_GRID:
        if (sweep->run.n_choices == 0)
            return fail(EXIT_USAGE, "--grid", "it belongs behind the --strategy that it is of");
        return grid_add("sweep", value, &sweep->run.choices[0], &sweep->grid);
    case OPTION_METRIC:
        return take_metric(sweep, value);
    case OPTION_TOP:
        return take_top(sweep, value);
    case OPTION_CSV:
        sweep->csv = value;
        return EXIT_OK;
    case OPTION_BACKEND:
        if (strcmp(value, "cpu") == 0)
            return EXIT_OK;
        return fail(EXIT_USAGE, "--backend",
                    strcmp(value, "gpu") == 0 ? "gpu: a sweep has no GPU way: cpu uses all cores"
                                              : "cpu is needed: the only one that a sweep has");
    case 'j':
        sweep->json = true;
        return EXIT_OK;
    case 'h':
        printf("%s%s", help, run_args_help);
        sweep->done = true;
        return EXIT_OK;
    default:
        return run_args_take(&sweep->run, option, value);
    }
}

/* One combination may contradict itself; the parameters that no grid moves may not be what makes all do. */
static int check(struct sweep *sweep)
{
    if (sweep->run.n_choices == 0)
        return fail(EXIT_USAGE, "",
                    "--strategy S is needed: papertape backtest --list-strategies says which");
    if (sweep->grid.n_axes == 0)
        return fail(EXIT_USAGE, "", "--grid key=lo:hi:step is needed, as --grid fast=5:50:5");
    if (sweep->run.n_bars == 0)
        return fail(EXIT_USAGE, "", "--bars F[,F…] is needed: what the strategy trades on");
    sweep->combinations = grid_count(&sweep->grid);
    if (sweep->combinations > GRID_MOST)
        return fail(EXIT_USAGE, "--grid", "more than 1000000 combinations: wider steps are needed");
    struct run_args args = sweep->run;
    args.n_choices = 0; /* what they contradict is found by combination */
    return run_args_check(&args);
}

static int parse(int argc, char **argv, struct sweep *sweep)
{
    struct option options[RUN_ARGS_OPTIONS + OWN_OPTIONS];
    int option, index, status = EXIT_OK;
    memcpy(options, run_args_options, sizeof run_args_options);
    memcpy(options + RUN_ARGS_OPTIONS, own_options, sizeof own_options);
    optind = 0;
    opterr = 0;
    while (status == EXIT_OK && !sweep->done &&
           (option = getopt_long(argc, argv, ":h", options, (index = -1, &index))) != -1) {
        if (option == '?' || option == ':')
            return ask_wrong_option("sweep", argv, option);
        status = take(sweep, option, optarg);
    }
    if (status != EXIT_OK || sweep->done)
        return status;
    if (optind < argc)
        return fail(EXIT_USAGE, argv[optind], "no argument is expected: --strategy S --grid … --bars F");
    return check(sweep);
}

static int run(struct sweep *sweep)
{
    struct output csv = {0};
    int status = sweep->csv ? output_open("sweep", sweep->csv, &csv) : EXIT_OK;
    if (status == EXIT_OK)
        status = sweep_run(sweep);
    if (status == EXIT_OK) {
        sweep_sort(sweep);
        if (csv.file)
            sweep_write_csv(sweep, csv.file);
        status = output_commit("sweep", &csv);
    }
    output_drop(&csv);
    if (status != EXIT_OK)
        return status;
    if (sweep->json)
        return sweep_print_json(sweep);
    sweep_print(sweep);
    return EXIT_OK;
}

static int run_line(int argc, char **argv)
{
    struct sweep sweep = {.top = TOP};
    run_args_init(&sweep.run, "sweep", 1);
    int status = parse(argc, argv, &sweep);
    if (status == EXIT_OK && !sweep.done)
        status = run(&sweep);
    free(sweep.results);
    market_store_close(sweep.market);
    grid_finish(&sweep.grid);
    run_args_finish(&sweep.run);
    return status;
}

const struct option_verb cli_sweep = {
    .name = "sweep", .words = "a strategy with every combination of parameters", .run = run_line};
