/* The page of a ranking: the verdict on luck, the order, and the strategies compared, the best one first. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page/page.h"
#include "cli/rank.h"
#include "cli/sweep_run.h"
#include "engine/backtest/universe.h"
#include "engine/market/parallel.h"
#include "exchange/bar.h"
#include "strategy/external.h"

enum { DIGITS = 6 };

static void verdict(struct text *text, const struct rank_run *rank)
{
    const struct sweep_results *rows = &rank->ranked.rows;
    const struct backtest_luck *luck = &rank->ranked.luck;
    char words[SWEEP_WORDS_MAX];
    enum backtest_verdict is = backtest_luck_verdict(rows);
    report_page_sentence(text, cli_sweep_verdict_text(rows, words),
                         is == BACKTEST_VERDICT_MORE   ? 1
                         : is == BACKTEST_VERDICT_LUCK ? 0
                                                       : -1);
    report_page_paragraph(text, cli_sweep_expected_text(rows, luck, RANK_WHAT, cli_rank_years(rank), words));
    if (cli_sweep_pbo_text(luck, words))
        report_page_paragraph(text, words);
}

static void about(struct text *text, const struct rank_run *rank)
{
    const struct backtest_rank *ranked = &rank->ranked;
    const struct backtest_report *first = &ranked->reports[0];
    const char *interval = bar_interval_name(first->interval_ns);
    char from[REPORT_PART_TIME_MAX], to[REPORT_PART_TIME_MAX], words[PAGE_WORDS_MAX], remark[PAGE_WORDS_MAX];
    size_t at = 0;
    report_page_facts(text);
    words[0] = '\0';
    for (int s = 0; s < rank->market->n_symbols && at + SYMBOL_NAME_MAX + 1 < sizeof words; s++)
        at += (size_t)snprintf(words + at, sizeof words - at, "%s%s", s > 0 ? " " : "",
                               rank->market->series[s].symbol.name);
    report_page_fact(text, "Symbols", words, "each strategy trades all of them in an account of its own");
    snprintf(words, sizeof words, "%s to %s", report_part_time(first->start_ns, from),
             report_part_time(first->end_ns, to));
    snprintf(remark, sizeof remark, "UTC; %zu rows of %s, a missing bar's among them", first->rows,
             interval ? interval : "bars");
    report_page_fact(text, "Traded", words, remark);
    if (rank->config.universe)
        report_page_fact(text, "Universe", rank->config.universe->rule.text, "nothing new in the others");
    report_page_fact_fixed(text, "Cash", first->start_equity, 2, ranked->accounts[0].currency);
    for (size_t i = 0; i < ranked->n_left_out; i++)
        report_page_fact(text, "Left out", rank->accounts[ranked->left_out[i].account].strategy->name,
                         ranked->left_out[i].why);
    report_page_facts_end(text);
}

static void row(struct text *text, const struct rank_run *rank, size_t at)
{
    const struct sweep_result *r = &rank->ranked.rows.results[at];
    size_t place = cli_rank_place(rank, at);
    char cell[RANK_PARAMS_MAX];
    report_page_row(text);
    snprintf(cell, sizeof cell, "%zu", place);
    report_page_cell(text, place > 0 ? cell : "n/a");
    report_page_cell(text, strategy_title(cli_rank_account(rank, at)->strategy));
    report_page_cell(text, *cli_rank_params(rank, at, cell) ? cell : "defaults");
    report_page_value(text, r->dsr, DIGITS);
    report_page_value(text, r->metrics[SWEEP_SHARPE], DIGITS);
    report_page_value(text, 100 * r->metrics[SWEEP_RETURN], DIGITS);
    report_page_value(text, 100 * r->metrics[SWEEP_MAX_DRAWDOWN], DIGITS);
    report_page_value(text, r->metrics[SWEEP_PROFIT_FACTOR], DIGITS);
    report_page_value_fixed(text, (double)r->trades, 0);
    report_page_value_fixed(text, r->fees, 2);
    report_page_row_end(text);
}

static void order(struct text *text, const struct rank_run *rank)
{
    static const char *const names[] = {"Rank",       "strategy",         "parameters",    "dsr",    "sharpe",
                                        "return_pct", "max_drawdown_pct", "profit_factor", "trades", "fees"};
    const struct backtest_rank *ranked = &rank->ranked;
    char words[PAGE_WORDS_MAX];
    report_page_heading(text, "Ranking");
    snprintf(words, sizeof words,
             "By %s. Strategies with fewer than %zu closed trades are not ranked: %zu here.",
             backtest_sweep_metric_name(rank->metric), ranked->rows.min_trades, ranked->luck.few);
    report_page_paragraph(text, words);
    report_page_table(text, names, sizeof names / sizeof *names);
    for (size_t at = 0; at < ranked->n; at++)
        row(text, rank, at);
    report_page_table_end(text);
}

/* The strategies in their order, each as a run of the page. */
struct compared {
    const struct page_source *source;
    const struct backtest_rank *ranked;
    struct page_run *runs; /* [n] */
    int *results;          /* [n] */
};

static void make_run(void *ctx, size_t i)
{
    const struct compared *compared = ctx;
    int account = (int)compared->ranked->rows.results[i].combination;
    compared->results[i] =
        cli_page_run_curves(compared->source, account, compared->ranked->accounts[account].name,
                            i < PAGE_COMPARED_MAX, &compared->runs[i]);
}

static int make_runs(const struct compared *compared, int threads)
{
    size_t n = compared->ranked->n;
    market_store_parallel(threads, n, make_run, (void *)compared);
    for (size_t i = 0; i < n; i++)
        if (compared->results[i] < 0)
            return compared->results[i];
    return 0;
}

/* Compared with the best one. */
static int compare(struct text *text, const struct rank_run *rank)
{
    const struct backtest_rank *ranked = &rank->ranked;
    struct backtest_config config = rank->config;
    const struct report_config options = {.benchmark = REPORT_BENCHMARK_FIRST};
    config.accounts = ranked->accounts;
    config.n_accounts = (int)ranked->n;
    const struct page_source source = {
        .config = &config, .backtest = &ranked->backtest, .reports = ranked->reports, .options = &options};
    const struct compared compared = {.source = &source,
                                      .ranked = ranked,
                                      .runs = calloc(ranked->n, sizeof *compared.runs),
                                      .results = calloc(ranked->n, sizeof *compared.results)};
    int r = compared.runs && compared.results ? 0 : -ENOMEM;
    if (r == 0)
        r = make_runs(&compared, config.threads);
    if (r == 0)
        r = cli_page_compare(text, compared.runs, ranked->n);
    for (size_t i = 0; compared.runs && i < ranked->n; i++)
        cli_page_run_finish(&compared.runs[i]);
    free(compared.runs);
    free(compared.results);
    return r;
}

int cli_page_rank(struct text *text, const struct rank_run *rank)
{
    const struct backtest_rank *ranked = &rank->ranked;
    char title[PAGE_WORDS_MAX];
    snprintf(title, sizeof title, "Ranking: %zu strategies on %s%s", ranked->n,
             rank->market->series[0].symbol.name, rank->market->n_symbols > 1 ? " and others" : "");
    report_page_begin(text, title);
    verdict(text, rank);
    about(text, rank);
    order(text, rank);
    int r = ranked->n > 1 ? compare(text, rank) : 0;
    report_page_end(text);
    return r;
}
