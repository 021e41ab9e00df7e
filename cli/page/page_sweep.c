#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/page/sweep.h"
#include "engine/backtest/luck.h"
#include "exchange/bar.h"
#include "strategy/strategy.h"

enum { WORDS_MAX = 512, LISTED_MAX = 500, DIGITS = 6 };

/* ---- what a run's figures are ---- */

void cli_page_sweep_params(const struct sweep *sweep, const struct sweep_result *result,
                           double params[static STRATEGY_PARAMS_MAX])
{
    struct strategy_choice choice = sweep->run.choices[0];
    backtest_sets_get(&sweep->sets, choice.strategy, result->combination, choice.params);
    for (int i = 0; i < STRATEGY_PARAMS_MAX; i++)
        params[i] = choice.params[i];
}

const char *cli_page_sweep_value(const struct sweep *sweep, int axis, double value,
                                 char ret[static STRATEGY_WORD_MAX])
{
    const char *words = strategy_param_text(cli_sweep_axis(sweep, axis), value, ret);
    if (words != ret)
        snprintf(ret, STRATEGY_WORD_MAX, "%s", words);
    return ret;
}

/* ---- the best runs ---- */

#define METRIC_COLUMN(name, metric) \
    static double name(const struct sweep *sweep, size_t rank) \
    { \
        return cli_sweep_metric(metric, &sweep->runs.results[rank]); \
    }
METRIC_COLUMN(dsr, SWEEP_DSR)
METRIC_COLUMN(sharpe, SWEEP_SHARPE)
METRIC_COLUMN(sortino, SWEEP_SORTINO)
METRIC_COLUMN(calmar, SWEEP_CALMAR)
METRIC_COLUMN(cagr, SWEEP_CAGR)
METRIC_COLUMN(total_return, SWEEP_RETURN)
METRIC_COLUMN(max_drawdown, SWEEP_MAX_DRAWDOWN)
METRIC_COLUMN(omega, SWEEP_OMEGA)
METRIC_COLUMN(profit_factor, SWEEP_PROFIT_FACTOR)
METRIC_COLUMN(expectancy, SWEEP_EXPECTANCY)
METRIC_COLUMN(sqn, SWEEP_SQN)
METRIC_COLUMN(win_rate, SWEEP_WIN_RATE)

#define COLUMN(name, of) \
    static double name(const struct sweep *sweep, size_t rank) \
    { \
        const struct sweep_result *result = &sweep->runs.results[rank]; \
        return of; \
    }
COLUMN(trades, (double)result->trades)
COLUMN(fills, (double)result->fills)
COLUMN(equity, result->final_equity)
COLUMN(fees, result->fees)
COLUMN(exposure, 100 * result->exposure)

static double beside(const struct sweep *sweep, size_t rank)
{
    return (double)sweep->beside[rank].n;
}

static double beside_hold(const struct sweep *sweep, size_t rank)
{
    return (double)sweep->beside[rank].hold;
}

static double fees_twice(const struct sweep *sweep, size_t rank)
{
    return cli_sweep_sharpe_at(sweep, SWEEP_COSTS_FEES, rank);
}

static double more_slippage(const struct sweep *sweep, size_t rank)
{
    return cli_sweep_sharpe_at(sweep, SWEEP_COSTS_SLIPPAGE, rank);
}

#define PERIODS_COLUMN(name, of) \
    static double name(const struct sweep *sweep, size_t rank) \
    { \
        const struct sweep_period_figures *figures = &sweep->periods.figures[rank]; \
        return of; \
    }
PERIODS_COLUMN(periods_median, figures->median)
PERIODS_COLUMN(periods_worst, figures->worst)
PERIODS_COLUMN(periods_above_0, 100 * figures->share)

/* From left to right. A figure that results get in addition is a line here. */
static const struct page_sweep_column columns[] = {
    {"dsr", dsr, DIGITS},
    {"sharpe", sharpe, DIGITS},
    {"return_pct", total_return, DIGITS},
    {"cagr_pct", cagr, DIGITS},
    {"max_drawdown_pct", max_drawdown, DIGITS},
    {"beside", beside, 12},
    {"beside_hold", beside_hold, 12},
    {"sharpe_fees_twice", fees_twice, DIGITS},
    {"sharpe_more_slippage", more_slippage, DIGITS},
    {"sortino", sortino, DIGITS},
    {"calmar", calmar, DIGITS},
    {"omega", omega, DIGITS},
    {"profit_factor", profit_factor, DIGITS},
    {"expectancy", expectancy, DIGITS},
    {"sqn", sqn, DIGITS},
    {"win_rate_pct", win_rate, DIGITS},
    {"exposure_pct", exposure, DIGITS},
    {"trades", trades, 12},
    {"fills", fills, 12},
    {"equity", equity, 10},
    {"fees", fees, DIGITS},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* Behind them, where they were run on periods. */
static const struct page_sweep_column periods_columns[] = {
    {"periods_sharpe_median", periods_median, DIGITS},
    {"periods_sharpe_worst", periods_worst, DIGITS},
    {"periods_above_0_pct", periods_above_0, DIGITS},
};
enum { PERIODS_COLUMNS = sizeof periods_columns / sizeof *periods_columns };

static void heads(struct text *text, const struct sweep *sweep)
{
    const char *names[1 + STRATEGY_PARAMS_MAX + COLUMNS + PERIODS_COLUMNS] = {"Rank"};
    int n = 1;
    for (int i = 0; i < sweep->grid.n_axes; i++)
        names[n++] = cli_sweep_axis(sweep, i)->name;
    for (int i = 0; i < COLUMNS; i++)
        names[n++] = columns[i].name;
    for (int i = 0; sweep->periods.ran && i < PERIODS_COLUMNS; i++)
        names[n++] = periods_columns[i].name;
    report_page_table(text, names, n);
}

static void row(struct text *text, const struct sweep *sweep, size_t rank)
{
    const struct sweep_result *result = &sweep->runs.results[rank];
    double params[STRATEGY_PARAMS_MAX];
    char cell[STRATEGY_WORD_MAX];
    cli_page_sweep_params(sweep, result, params);
    report_page_row(text);
    snprintf(cell, sizeof cell, "%zu", rank + 1);
    report_page_cell(text, cell);
    for (int i = 0; i < sweep->grid.n_axes; i++)
        report_page_cell(text, cli_page_sweep_value(sweep, i, params[sweep->grid.axes[i].param], cell));
    for (int i = 0; i < COLUMNS; i++)
        report_page_value(text, columns[i].value(sweep, rank), columns[i].digits);
    for (int i = 0; sweep->periods.ran && i < PERIODS_COLUMNS; i++)
        report_page_value(text, periods_columns[i].value(sweep, rank), periods_columns[i].digits);
    report_page_row_end(text);
}

static void best(struct text *text, const struct sweep *sweep)
{
    const size_t listed = sweep->shown < LISTED_MAX ? sweep->shown : LISTED_MAX;
    char words[WORDS_MAX], name[SWEEP_METRIC_NAME_MAX];
    cli_sweep_metric_name(sweep->metric, name);
    report_page_heading(text, "The best");
    snprintf(words, sizeof words, "The first %zu of %zu runs by %s; --csv writes all.", listed, sweep->runs.n,
             name);
    report_page_paragraph(text, words);
    snprintf(
        words, sizeof words,
        "beside: the sets next to it; beside_hold: those of them with a Sharpe ratio above 0 and at least "
        "half of its own. sharpe_fees_twice and sharpe_more_slippage: its Sharpe ratio with %d times the "
        "fees, and with %.2f %% more slippage.",
        SWEEP_FEES_TIMES, 100 * SWEEP_SLIPPAGE);
    report_page_paragraph(text, words);
    if (sweep->periods.ran)
        report_page_paragraph(
            text,
            "periods_: its Sharpe ratio in the periods above, each a run that begins flat: the median, the "
            "worst, and in how many of them it is above 0. They change no order.");
    heads(text, sweep);
    for (size_t i = 0; i < listed; i++)
        row(text, sweep, i);
    report_page_table_end(text);
}

/* ---- what it is of, and luck ---- */

static void luck(struct text *text, const struct sweep *sweep)
{
    const enum backtest_verdict verdict = backtest_luck_verdict(&sweep->runs);
    bool none = verdict == BACKTEST_VERDICT_UNKNOWN || verdict == BACKTEST_VERDICT_STOPPED;
    char words[SWEEP_WORDS_MAX];
    report_page_sentence(text, cli_sweep_verdict_text(&sweep->runs, words),
                         none ? -1 : verdict == BACKTEST_VERDICT_MORE);
    report_page_paragraph(
        text, cli_sweep_expected_text(&sweep->runs, &sweep->luck, SWEEP_WHAT, cli_sweep_years(sweep), words));
    if (cli_sweep_pbo_text(&sweep->luck, words))
        report_page_paragraph(text, words);
    report_page_paragraph(
        text, "The best of many looks better than it is: try the choice on bars that it has not seen.");
}

static void about(struct text *text, const struct sweep *sweep)
{
    const struct market *market = sweep->market;
    const struct strategy_choice *choice = &sweep->run.choices[0];
    const char *interval = bar_interval_name(market->interval_ns);
    char from[REPORT_PART_TIME_MAX], to[REPORT_PART_TIME_MAX], words[WORDS_MAX], remark[WORDS_MAX];
    report_page_facts(text);
    cli_strategy_args_text(choice->strategy, choice->params, words, sizeof words);
    report_page_fact(text, "Strategy", choice->strategy->name, words);
    snprintf(words, sizeof words, "%s to %s", report_part_time(market_open_ns(market, sweep->from), from),
             report_part_time(market_open_ns(market, sweep->to), to));
    snprintf(remark, sizeof remark, "UTC; %zu rows of %s", sweep->to - sweep->from,
             interval ? interval : "bars");
    report_page_fact(text, "Traded", words, remark);
    snprintf(remark, sizeof remark,
             "of %zu combinations; %zu contradict themselves, %zu need more bars than there are",
             sweep->runs.combinations, sweep->runs.skipped, sweep->runs.too_short);
    report_page_fact_fixed(text, "Runs", (double)sweep->runs.n, 0, remark);
    if (sweep->periods.ran)
        report_page_fact(text, "Periods", cli_sweep_periods_text(sweep, words),
                         "the best are run on them, too");
    for (int i = 0; i < sweep->grid.n_axes; i++) {
        const struct backtest_axis *axis = &sweep->grid.axes[i];
        char first[STRATEGY_WORD_MAX], last[STRATEGY_WORD_MAX];
        snprintf(words, sizeof words, "%s to %s", cli_page_sweep_value(sweep, i, axis->values[0], first),
                 cli_page_sweep_value(sweep, i, axis->values[axis->n - 1], last));
        snprintf(remark, sizeof remark, "%zu values", axis->n);
        report_page_fact(text, cli_sweep_axis(sweep, i)->name, words, remark);
    }
    report_page_facts_end(text);
}

static int distribution(struct text *text, const struct sweep *sweep)
{
    double *values = cli_page_sweep_metric(sweep);
    char title[WORDS_MAX], name[SWEEP_METRIC_NAME_MAX];
    if (!values)
        return -ENOMEM;
    cli_sweep_metric_name(sweep->metric, name);
    snprintf(title, sizeof title, "%s of all runs", name);
    int r = report_part_distribution(text, REPORT_LOW, title, name, "runs", values, sweep->runs.n);
    free(values);
    return r;
}

static int put_heat(void *ctx, const struct report_heat *heat, const char *caption)
{
    report_page_heat(ctx, heat, caption);
    return 0;
}

static int put_points(void *ctx, const struct report_points *points, const char *caption)
{
    report_page_points(ctx, points, caption);
    return 0;
}

int cli_page_sweep(struct text *text, const struct sweep *sweep)
{
    const struct page_sweep_draw draw = {REPORT_HEAT_SIDE_MAX, REPORT_HEAT_SIDE_MAX, put_heat, put_points,
                                         text};
    const struct market *market = sweep->market;
    char title[WORDS_MAX];
    snprintf(title, sizeof title, "Sweep: %s on %s%s", sweep->run.choices[0].strategy->name,
             market->series[0].symbol.name, market->n_symbols > 1 ? " and others" : "");
    report_page_begin(text, title);
    luck(text, sweep);
    about(text, sweep);
    report_page_heading(text, "Over the grid");
    int r = cli_page_sweep_draw(sweep, &draw);
    if (cli_page_sweep_more(sweep))
        report_page_paragraph(text, cli_page_sweep_more(sweep));
    r = r < 0 ? r : distribution(text, sweep);
    best(text, sweep);
    report_page_end(text);
    return r;
}
