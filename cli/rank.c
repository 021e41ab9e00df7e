/* Strategies ranked among each other: bars are loaded once, each strategy trades them by itself. */
#include "cli/rank.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/progress.h"
#include "cli/stored.h"
#include "cli/sweep_run.h"
#include "cli/verbs.h"
#include "exchange/clock.h"
#include "exchange/exit_status.h"
#include "exchange/nearest.h"
#include "exchange/text.h"
#include "strategy/strategy.h"

enum { DRAWDOWNS = 5 };

static int fail(int status, const char *what, const char *words)
{
    return cli_stored_fail(status, "rank", what, words);
}

static int take_metric(struct option_call *call, const struct option_row *row, const char *value)
{
    struct rank_run *rank = call->into;
    struct nearest nearest = {0};
    int metric = backtest_sweep_metric_parse(value);
    (void)row;
    if (metric >= 0) {
        rank->metric = (enum sweep_metric)metric;
        return EXIT_OK;
    }
    for (int i = 0; i <= SWEEP_DSR; i++)
        nearest_offer(&nearest, value, backtest_sweep_metric_name((enum sweep_metric)i));
    return option_fail(call, EXIT_USAGE, "--metric: \"%.48s\": no metric has that name%s", value,
                       NEAREST_HINT(&nearest, value));
}

/* Without a --strategy all that are built in, each with its defaults. */
static int choose(struct rank_run *rank)
{
    struct run_args *run = &rank->run;
    size_t n;
    const struct strategy *const *list = strategy_list(&n);
    rank->named = run->n_choices > 0;
    for (size_t i = 0; i < n && !rank->named; i++) {
        struct strategy_choice *choice = &run->choices[run->n_choices];
        int status = cli_strategy_args_choose("rank", list[i]->name, choice);
        if (status != EXIT_OK)
            return status;
        run->n_choices++;
    }
    return EXIT_OK;
}

static int make_accounts(struct rank_run *rank)
{
    int n = rank->run.n_choices, status = EXIT_OK;
    rank->accounts = calloc((size_t)n, sizeof *rank->accounts);
    if (!rank->accounts)
        return fail(EXIT_ERROR, "", "out of memory");
    for (int i = 0; i < n && status == EXIT_OK; i++)
        status = cli_run_account(&rank->run, rank->market, i, &rank->accounts[i]);
    return status;
}

static int load(struct rank_run *rank)
{
    double started_s = clock_now_s();
    size_t from, to;
    int status = cli_run_load(&rank->run, &rank->market, &rank->load, &from, &to);
    rank->seconds[RANK_LOAD] = clock_now_s() - started_s;
    if (status == EXIT_OK)
        status = cli_run_actions(&rank->run, rank->market);
    if (status == EXIT_OK)
        status = make_accounts(rank);
    if (status == EXIT_OK)
        status = cli_run_universe(&rank->run, rank->market, from, to);
    if (status != EXIT_OK)
        return status;
    rank->config = cli_run_config(&rank->run, rank->market, from, to);
    rank->config.accounts = rank->accounts;
    rank->config.n_accounts = rank->run.n_choices;
    rank->config.progress = cli_progress_show;
    return EXIT_OK;
}

/* What a backtest of each would say on stderr, too. */
static void note(const struct rank_run *rank)
{
    const struct backtest_rank *ranked = &rank->ranked;
    for (size_t i = 0; i < ranked->n; i++) {
        cli_run_note_long_only(&rank->run, &rank->config, &ranked->accounts[i]);
        cli_run_note_refused(&rank->run, rank->market, ranked->accounts[i].name,
                             &ranked->backtest.accounts[i]);
    }
}

static int run_all(struct rank_run *rank, bool json)
{
    const struct backtest_rank_options options = {
        .report = {.benchmark = REPORT_BENCHMARK_FIRST, .drawdowns = DRAWDOWNS, .tails = json || rank->page},
        .metric = rank->metric,
        .min_trades = (size_t)rank->min_trades,
        .strict = rank->named,
        .curves = rank->page != NULL,
    };
    struct progress progress;
    char err[512] = "";
    rank->config.ctx = &progress;
    cli_progress_begin(&progress, "rank");
    int r = backtest_rank_run(&rank->config, &options, &rank->ranked, err, sizeof err);
    cli_progress_end(&progress);
    if (r < 0)
        return fail(EXIT_ERROR, "", err);
    const double *seconds = rank->ranked.seconds;
    rank->seconds[RANK_INDICATORS] = seconds[STAGE_INDICATORS];
    rank->seconds[RANK_SIGNALS] = seconds[STAGE_SIGNALS];
    rank->seconds[RANK_BACKTESTS] = seconds[STAGE_SIMULATE];
    rank->seconds[RANK_RANKING] = seconds[STAGE_METRICS];
    note(rank);
    return EXIT_OK;
}

/* ---- files ---- */

static int write_page(const struct rank_run *rank, FILE *out)
{
    struct text text = {0};
    int r = cli_page_rank(&text, rank);
    r = r == 0 && !text_ok(&text) ? -ENOMEM : r;
    if (r == 0)
        fwrite(text.data, 1, text.len, out);
    text_finish(&text);
    return r < 0 ? fail(EXIT_ERROR, "--report", strerror(-r)) : EXIT_OK;
}

static int write_files(struct rank_run *rank, struct output *csv, struct output *page)
{
    double started_s = clock_now_s();
    int status = EXIT_OK;
    if (csv->file)
        cli_rank_write_csv(rank, csv->file);
    if (page->file)
        status = write_page(rank, page->file);
    if (status == EXIT_OK)
        status = cli_output_commit("rank", csv);
    if (status == EXIT_OK)
        status = cli_output_commit("rank", page);
    rank->seconds[RANK_REPORT] = clock_now_s() - started_s;
    return status;
}

static int rank_and_write(struct rank_run *rank, bool json)
{
    static const char *const names[] = {"csv", "report"};
    struct output outputs[2] = {0}, *csv = &outputs[0], *page = &outputs[1];
    int status = rank->csv ? cli_output_open("rank", rank->csv, csv) : EXIT_OK;
    if (status == EXIT_OK && rank->page)
        status = cli_output_open("rank", rank->page, page);
    if (status == EXIT_OK)
        status = cli_output_apart("rank", names, outputs, 1);
    if (status == EXIT_OK)
        status = load(rank);
    if (status == EXIT_OK)
        status = run_all(rank, json);
    if (status == EXIT_OK)
        status = write_files(rank, csv, page);
    cli_output_drop(csv);
    cli_output_drop(page);
    return status;
}

/* ---- the verb ---- */

static int run(struct option_call *call)
{
    struct rank_run *rank = call->into;
    rank->run.state = call->state;
    int status = choose(rank);
    if (status == EXIT_OK)
        status = cli_run_check(&rank->run);
    if (status == EXIT_OK)
        status = rank_and_write(rank, call->json);
    if (status != EXIT_OK)
        return status;
    if (call->json)
        return cli_rank_print_json(rank);
    cli_rank_print(rank);
    return EXIT_OK;
}

static void init(void *into)
{
    struct rank_run *rank = into;
    rank->metric = SWEEP_DSR;
    rank->min_trades = SWEEP_MIN_TRADES;
    cli_run_init(&rank->run, "rank", STRATEGY_ARGS_MAX);
}

static void finish(void *into)
{
    struct rank_run *rank = into;
    backtest_rank_finish(&rank->ranked);
    free(rank->accounts);
    market_store_close(rank->market);
    cli_run_finish(&rank->run);
}

static const struct option_action actions[] = {
    {.example = "--bars BTCUSDT_5m.csv,ETHUSDT_5m.csv --report ranking.html", .needed = "bars", .run = run}};

#define AT(member) offsetof(struct rank_run, member)

static const struct option_row options[] = {
    {"metric", "METRIC",
     "what is best: dsr, the deflated Sharpe ratio, by default; sharpe, sortino, calmar, cagr, return, "
     "max_drawdown, omega, profit_factor, expectancy, sqn or win_rate",
     .take = take_metric},
    {"min-trades", "N", "strategies with fewer closed trades are listed, but not ranked: 10", AT(min_trades),
     .low = 0, .high = INT64_MAX},
    {"csv", "FILE", "a row a strategy, best first; shares as they are, 0.05 for 5 %", AT(csv)},
    {"report", "FILE",
     "one HTML page, which loads nothing and runs nothing: the ranking, the verdict on luck, curves over each other, "
     "all figures and differences to the best",
     AT(page)},
};

CLI_VERB(cli_rank) = {
    .name = "rank",
    .words = "strategies on the same bars, best first",
    .about =
        "Loads the bars once, runs each strategy on all of their symbols as a backtest by itself, on all "
        "cores, and lists them, best first, with what of the best is luck. Without --strategy these are the "
        "built-in ones, each with its defaults; those that cannot run on the bars are left out, and named. "
        "With --json, papertape.rank/1.",
    .page = "backtest",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    OPTION_SHARED(cli_run_options),
    .size = sizeof(struct rank_run),
    .init = init,
    .finish = finish,
};
