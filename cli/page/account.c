/* A run's page, part by part. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page/page.h"
#include "engine/backtest/universe.h"
#include "exchange/bar.h"
#include "record/print.h"

enum { DIGITS = 4, SYMBOLS_NAMED = 6 };

const char *cli_page_subject(const struct page_run *run, char ret[static PAGE_WORDS_MAX])
{
    const struct market *market = run->source->config->market;
    const char *trader = account_spec_trader(run->spec), *interval = bar_interval_name(market->interval_ns);
    size_t at = (size_t)snprintf(ret, PAGE_WORDS_MAX, "%.64s on", trader ? trader : "orders by hand");
    for (int s = 0; s < market->n_symbols && s < SYMBOLS_NAMED; s++)
        at += (size_t)snprintf(ret + at, PAGE_WORDS_MAX - at, " %s", market->series[s].symbol.name);
    if (market->n_symbols > SYMBOLS_NAMED)
        at += (size_t)snprintf(ret + at, PAGE_WORDS_MAX - at, " and %d more",
                               market->n_symbols - SYMBOLS_NAMED);
    snprintf(ret + at, PAGE_WORDS_MAX - at, " %s", interval ? interval : "");
    return ret;
}

/* ---- figures ---- */

int cli_page_figures(const struct page_run *run, void (*row)(void *ctx, const char *name, double value),
                     void *ctx)
{
    json_t *object = record_print(&backtest_figures, run->report, NULL), *value;
    const char *name;
    if (!object)
        return -ENOMEM;
    json_object_foreach(object, name, value)
        row(ctx, name, json_is_number(value) ? json_number_value(value) : NAN);
    json_decref(object);
    return 0;
}

static void figure_row(void *ctx, const char *name, double value)
{
    struct text *text = ctx;
    report_page_row(text);
    report_page_cell(text, name);
    report_page_value(text, value, 8);
    report_page_row_end(text);
}

static int all_figures(struct text *text, const struct page_run *run)
{
    static const char *const names[] = {"Figure, as --json names it", "value"};
    report_page_heading(text, "All figures");
    report_page_paragraph(text, "docs/metrics.md defines each. n/a is what is not defined, null in JSON.");
    report_page_table(text, names, 2);
    int r = cli_page_figures(run, figure_row, text);
    report_page_table_end(text);
    return r;
}

/* ---- what it is of ---- */

/* The rule that picked symbols. */
static void picked(struct text *text, const struct page_run *run)
{
    const struct backtest_universe *universe = run->source->config->universe;
    char words[128];
    if (!universe)
        return;
    const struct backtest_universe_sums sums = backtest_universe_sum(universe, run->x[0], run->x[run->n]);
    snprintf(words, sizeof words, "%.1f of %d symbols in, the mean of %zu times; nothing new in the others",
             sums.times > 0 ? sums.mean : 0, run->source->config->market->n_symbols, sums.times);
    report_page_fact(text, "Universe", universe->rule.text, words);
}

static void about(struct text *text, const struct page_run *run)
{
    const struct backtest_report *r = run->report;
    char from[REPORT_PART_TIME_MAX], to[REPORT_PART_TIME_MAX], words[PAGE_WORDS_MAX];
    char params[PAGE_PARAMS_MAX], costs[192];
    const char *interval = bar_interval_name(r->interval_ns);
    report_page_facts(text);
    cli_page_run_params(run->spec, params);
    report_page_fact(text, "Strategy",
                     account_spec_trader(run->spec) ? account_spec_trader(run->spec) : "none",
                     params[0] ? params : "all parameters as by default");
    snprintf(words, sizeof words, "%s to %s", report_part_time(r->start_ns, from),
             report_part_time(r->end_ns, to));
    snprintf(costs, sizeof costs, "UTC; %zu rows of %s, a missing bar's among them", r->rows,
             interval ? interval : "bars");
    report_page_fact(text, "Traded", words, costs);
    picked(text, run);
    snprintf(costs, sizeof costs, "%s at the beginning", run->spec->currency);
    report_page_fact_fixed(text, "Cash", r->start_equity, 2, costs);
    report_page_fact(text, "Compared with", run->held ? run->source->benchmark : "nothing",
                     run->held ? "bought for all the cash at the first bar, and held" : NULL);
    report_page_facts_end(text);
}

static void compared(struct text *text, const char *name, double own, double held)
{
    report_page_row(text);
    report_page_cell(text, name);
    report_page_value_fixed(text, own, 2);
    report_page_value_fixed(text, held, 2);
    report_page_row_end(text);
}

static void beside_holding(struct text *text, const struct page_run *run)
{
    static const char *const names[] = {"", "strategy", "holding"};
    const struct metrics *m = &run->report->metrics, *b = &run->report->benchmark;
    const bool held = run->held != NULL;
    report_page_table(text, names, 3);
    compared(text, "Return, %", 100 * m->total_return, held ? 100 * b->total_return : NAN);
    compared(text, "Return a year, %", 100 * m->cagr, held ? 100 * b->cagr : NAN);
    compared(text, "Volatility a year, %", 100 * m->volatility, held ? 100 * b->volatility : NAN);
    compared(text, "Sharpe ratio", m->sharpe, held ? b->sharpe : NAN);
    compared(text, "Sortino ratio", m->sortino, held ? b->sortino : NAN);
    compared(text, "Calmar ratio", m->calmar, held ? b->calmar : NAN);
    compared(text, "Largest drawdown, %", 100 * m->max_drawdown, held ? 100 * b->max_drawdown : NAN);
    compared(text, "Final equity", run->report->final_equity, held ? run->held[run->n] : NAN);
    report_page_table_end(text);
}

/* ---- curves ---- */

static struct report_series series_of(const struct page_run *run, const double *y, enum report_shape shape,
                                      int colour, const char *name)
{
    return (struct report_series){shape, colour, name, run->x, y, NULL, run->n + 1};
}

static void curves(struct text *text, const struct page_run *run)
{
    const char *held = run->source->benchmark ? run->source->benchmark : "holding";
    const struct report_series equity[] = {series_of(run, run->equity, REPORT_LINE, 0, run->name),
                                           series_of(run, run->held, REPORT_LINE, 2, held)};
    const struct report_series drops[] = {series_of(run, run->drawdown, REPORT_DROP, 4, run->name),
                                          series_of(run, run->held_drawdown, REPORT_LINE, 2, held)};
    const struct report_series exposed[] = {
        series_of(run, run->gross, REPORT_SPREAD, 0, run->shorts ? "long and short" : NULL),
        series_of(run, run->net, REPORT_SPREAD, 1, "long less short")};
    struct report_curves of = {.unit = run->spec->currency,
                               .start = run->equity[0],
                               .series = equity,
                               .n = run->held ? 2 : 1,
                               .caption = "Cash and positions at each row's close, after costs; the dashed "
                                          "line is the cash at the beginning."};
    report_part_equity(text, &of);
    of.unit = "%";
    of.series = drops;
    of.caption = "How far equity is below its highest so far.";
    report_part_drawdown(text, &of);
    of.series = exposed;
    of.n = run->shorts ? 2 : 1;
    of.caption = "Positions as a share of equity at each row's close: the line is the mean of the rows that "
                 "share a place, the band goes from their least to their highest.";
    if (run->result->n_fills > 0)
        report_part_exposure(text, &of);
}

static void drawdowns(struct text *text, const struct page_run *run)
{
    static const char *const names[] = {"Deepest drawdowns, %", "from, UTC", "lowest", "regained", "rows"};
    const struct backtest_report *r = run->report;
    char cell[REPORT_PART_TIME_MAX];
    if (r->n_drawdowns == 0)
        return;
    report_page_table(text, names, 5);
    for (size_t i = 0; i < r->n_drawdowns; i++) {
        const struct metrics_drawdown *d = &r->drawdowns[i];
        report_page_row(text);
        report_page_value_fixed(text, 100 * d->depth, 2);
        report_page_cell(text, report_part_time(run->x[d->first], cell));
        report_page_cell(text, report_part_time(run->x[d->trough + 1], cell));
        report_page_cell(text, d->recovered ? report_part_time(run->x[d->end + 1], cell) : "not yet");
        report_page_value_fixed(text, (double)(d->end - d->first), 0);
        report_page_row_end(text);
    }
    report_page_table_end(text);
}

/* ---- returns ---- */

static struct report_month *months_of(const struct metrics_month *months, size_t n)
{
    struct report_month *made = calloc(n + 1, sizeof *made);
    for (size_t i = 0; made && i < n; i++)
        made[i] = (struct report_month){months[i].year, months[i].month, months[i].total_return};
    return made;
}

static int months(struct text *text, const struct backtest_report *r)
{
    struct report_month *each = months_of(r->months, r->n_months), *years = months_of(r->years, r->n_years);
    int ret = each && years ? 0 : -ENOMEM;
    if (ret == 0)
        report_part_months(text, each, r->n_months, years, r->n_years);
    free(each);
    free(years);
    return ret;
}

int cli_page_returns(struct text *text, const struct page_run *run)
{
    const struct backtest_account *result = run->result;
    size_t rows = run->n > result->n_trades ? run->n : result->n_trades, n = 0;
    double *percent = calloc(rows + 1, sizeof *percent);
    int r = percent ? 0 : -ENOMEM;
    bool days = false;
    size_t returns = percent ? cli_page_run_returns(run, &days, percent) : 0;
    report_page_heading(text, "Returns");
    r = r < 0 ? r : months(text, run->report);
    report_page_pair(text);
    if (r == 0)
        r = report_part_distribution(text, REPORT_HALF, days ? "Returns of days" : "Returns of rows", "%",
                                     days ? "days" : "rows", percent, returns);
    for (size_t i = 0; r == 0 && i < result->n_trades; i++) {
        const struct backtest_trade *trade = &result->trades[i];
        int64_t paid = trade->qty < 0 ? trade->proceeds : trade->cost;
        if (trade->exit_ns != 0 && paid > 0)
            percent[n++] = 100 * (double)trade->profit / (double)paid;
    }
    if (r == 0 && n > 0)
        r = report_part_distribution(text, REPORT_HALF, "Returns of closed trades", "%", "trades", percent,
                                     n);
    report_page_pair_end(text);
    free(percent);
    return r;
}

/* ---- costs ---- */

static void cost(struct text *text, const struct page_run *run, const char *name, double value,
                 const char *remark)
{
    char words[PAGE_WORDS_MAX];
    snprintf(words, sizeof words, "%s%s%s", run->spec->currency, remark ? "; " : "", remark ? remark : "");
    report_page_fact_fixed(text, name, value, 2, words);
}

void cli_page_costs(struct text *text, const struct page_run *run)
{
    const struct backtest_report *r = run->report;
    const struct report_series fees = series_of(run, run->fees, REPORT_LINE, 1, NULL);
    const struct report_chart chart = {.size = REPORT_LOW,
                                       .title = "Fees",
                                       .y_name = run->spec->currency,
                                       .time = true,
                                       .also = 0,
                                       .series = &fees,
                                       .n = 1};
    report_page_heading(text, "Costs");
    report_page_facts(text);
    cost(text, run, "Fees", r->fees, NULL);
    cost(text, run, "Slippage", run->slippage,
         "what takers' prices were worse by the run's rate, about: it is in the prices");
    cost(text, run, "Interest", run->interest, "paid for what was borrowed");
    cost(text, run, "Dividends", run->dividends, "received, less those of shorts");
    cost(text, run, "Turnover", r->turnover, "the sum of what was bought and sold");
    report_page_fact_fixed(text, "Turnover a year", r->turnover_year, 2, "times the mean equity");
    report_page_fact_number(text, "Fees of turnover, %", 100 * r->fees_of_turnover, DIGITS, NULL);
    report_page_fact_number(text, "Fees of gain, %", 100 * r->fees_of_gross_profit, DIGITS,
                            "fees / (gain + fees); n/a without a gain before fees");
    report_page_facts_end(text);
    if (run->result->n_fills > 0)
        report_page_chart(text, &chart, "Paid so far.");
}

/* ---- the verdict ---- */

struct judged {
    int r; /* of cli_page_run_verdict() */
    struct verdict verdict;
    size_t rows;
};

static void sentence(struct text *text, const struct judged *judged)
{
    char words[VERDICT_TEXT_MAX];
    if (judged->r == 0)
        report_page_sentence(text, metrics_verdict_text(&judged->verdict, words),
                             metrics_verdict_good(judged->verdict.kind));
    else if (judged->r == -ENODATA)
        report_page_sentence(text, "No verdict on luck: there is nothing to compare with (--benchmark).", -1);
    else
        report_page_sentence(
            text, "No verdict on luck: equity, or the benchmark, is not finite throughout, or not above 0.",
            -1);
}

static void luck(struct text *text, const struct judged *judged)
{
    const struct verdict *verdict = &judged->verdict;
    char words[192];
    if (judged->r < 0)
        return;
    report_page_heading(text, "Luck");
    report_page_facts(text);
    snprintf(words, sizeof words, "points; %.0f %% interval %+.2f to %+.2f", 100 * VERDICT_CONFIDENCE,
             100 * verdict->low, 100 * verdict->high);
    report_page_fact_fixed(text, "Above holding", 100 * verdict->excess, 2,
                           isfinite(verdict->low) ? words : "points; there is no interval");
    snprintf(words, sizeof words, "share of %d random strategies with the same trades that do as well",
             verdict->n_random);
    report_page_fact_number(text, "p", verdict->p, DIGITS, isfinite(verdict->p) ? words : "not tested");
    report_page_fact_fixed(text, "Gain before fees", verdict->gain, 2, NULL);
    report_page_fact_fixed(text, "Fees", verdict->fees, 2, NULL);
    snprintf(words, sizeof words, "of %zu row%s each", judged->rows, judged->rows == 1 ? "" : "s");
    report_page_fact_fixed(text, "Steps", (double)verdict->n_steps, 0, words);
    report_page_facts_end(text);
    report_page_paragraph(
        text, "The best of many choices is better than it is: papertape sweep and papertape-trainer validate "
              "correct for the number of trials. docs/training.md defines both tests.");
}

/* ---- all ---- */

int cli_page_run(struct text *text, const struct page_run *run, size_t most)
{
    struct judged judged;
    judged.r = cli_page_run_verdict(run, &judged.verdict, &judged.rows);
    if (judged.r == -ENOMEM)
        return -ENOMEM;
    sentence(text, &judged);
    about(text, run);
    beside_holding(text, run);
    report_page_heading(text, "Equity");
    curves(text, run);
    drawdowns(text, run);
    int r = cli_page_returns(text, run);
    r = r < 0 ? r : cli_page_trades(text, run, most);
    cli_page_actions(text, run);
    cli_page_costs(text, run);
    luck(text, &judged);
    return r < 0 ? r : all_figures(text, run);
}
