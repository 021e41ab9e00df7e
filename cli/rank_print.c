#include <math.h>

#include "cli/format.h"
#include "cli/rank.h"
#include "cli/sweep_run.h"
#include "exchange/bar.h"
#include "exchange/decimal.h"
#include "strategy/external.h"
#include "strategy/metrics.h"

double cli_rank_years(const struct rank_run *rank)
{
    return (double)(rank->config.to - rank->config.from) /
           metrics_periods_per_year(rank->market->interval_ns);
}

size_t cli_rank_place(const struct rank_run *rank, size_t row)
{
    const struct sweep_results *rows = &rank->ranked.rows;
    return rows->results[row].trades < rows->min_trades ? 0 : row + 1;
}

const struct account_spec *cli_rank_account(const struct rank_run *rank, size_t row)
{
    return &rank->ranked.accounts[rank->ranked.rows.results[row].combination];
}

const char *cli_rank_params(const struct rank_run *rank, size_t row, char ret[static RANK_PARAMS_MAX])
{
    const struct account_spec *spec = cli_rank_account(rank, row);
    cli_strategy_args_text(spec->strategy, spec->params, ret, RANK_PARAMS_MAX);
    return ret;
}

const char *cli_rank_stage_name(enum rank_stage stage)
{
    static const char *const names[RANK_STAGES] = {
        [RANK_LOAD] = "load",           [RANK_INDICATORS] = "indicators", [RANK_SIGNALS] = "signals",
        [RANK_BACKTESTS] = "backtests", [RANK_RANKING] = "ranking",       [RANK_REPORT] = "report"};
    return names[stage];
}

/* ---- the text ---- */

static const char *cell(char buf[static FORMAT_MAX], double value, int decimals)
{
    return cli_format_number(buf, value, fabs(value) < 1e7 ? decimals : 0);
}

static void print_bars(const struct rank_run *rank)
{
    const struct market *market = rank->market;
    const char *interval = bar_interval_name(market->interval_ns);
    char from[FORMAT_MAX], to[FORMAT_MAX];
    printf("bars        ");
    for (int s = 0; s < market->n_symbols && s < 6; s++)
        printf("%s ", market->series[s].symbol.name);
    if (market->n_symbols > 6)
        printf("and %d more ", market->n_symbols - 6);
    printf("%s\n            %zu rows from %s to %s\n", interval ? interval : "",
           rank->config.to - rank->config.from,
           cli_format_time(from, market_open_ns(market, rank->config.from)),
           cli_format_time(to, market_open_ns(market, rank->config.to)));
    cli_run_universe_print(&rank->run, market, rank->config.from, rank->config.to);
    if (rank->config.calendar)
        printf("sessions    %s, by the calendar %s\n", session_choice_names[rank->run.terms.session],
               rank->config.calendar->name);
}

static void print_strategies(const struct rank_run *rank)
{
    const struct backtest_rank *ranked = &rank->ranked;
    char cash[DECIMAL_TEXT_MAX];
    decimal_format_short(ranked->accounts[0].cash, ranked->accounts[0].currency_scale, cash);
    printf("strategies  %zu of %zu, each with %s %s of its own on all symbols\n", ranked->n,
           ranked->n + ranked->n_left_out, cash, ranked->accounts[0].currency);
    for (size_t i = 0; i < ranked->n_left_out; i++)
        printf("            left out: %s\n", ranked->left_out[i].why);
    if (ranked->luck.few > 0)
        printf("            %zu with fewer than %zu trades not ranked\n", ranked->luck.few,
               ranked->rows.min_trades);
}

static void print_seconds(const struct rank_run *rank)
{
    double sum = 0;
    printf("seconds     ");
    for (int s = 0; s < RANK_STAGES; s++) {
        printf("%s%s %.3f",
               s == 0                ? ""
               : s == RANK_BACKTESTS ? ",\n            "
                                     : ", ",
               cli_rank_stage_name((enum rank_stage)s), rank->seconds[s]);
        sum += rank->seconds[s];
    }
    printf(": %.3f in all\n\n", sum);
}

/* A metric that no other column has. */
static bool has_column(enum sweep_metric metric)
{
    return metric == SWEEP_DSR || metric == SWEEP_RETURN || metric == SWEEP_SHARPE ||
           metric == SWEEP_MAX_DRAWDOWN || metric == SWEEP_PROFIT_FACTOR;
}

static void print_row(const struct rank_run *rank, size_t row)
{
    const struct sweep_result *r = &rank->ranked.rows.results[row];
    size_t place = cli_rank_place(rank, row);
    char cells[7][FORMAT_MAX], params[RANK_PARAMS_MAX];
    if (place > 0)
        printf("%4zu ", place);
    else
        printf("   - ");
    if (!has_column(rank->metric))
        printf("%13s ", cell(cells[0], r->metrics[rank->metric], 4));
    printf("%7s %9s %8s %8s %7s %7zu %10s  %s", cell(cells[1], r->dsr, 4),
           cell(cells[2], 100 * r->metrics[SWEEP_RETURN], 2), cell(cells[3], r->metrics[SWEEP_SHARPE], 3),
           cell(cells[4], 100 * r->metrics[SWEEP_MAX_DRAWDOWN], 2),
           cell(cells[5], r->metrics[SWEEP_PROFIT_FACTOR], 2), r->trades, cell(cells[6], r->fees, 2),
           strategy_title(cli_rank_account(rank, row)->strategy));
    printf("%s%s\n", *cli_rank_params(rank, row, params) ? " " : "", params);
}

static void print_luck(const struct rank_run *rank)
{
    const struct sweep_results *rows = &rank->ranked.rows;
    const struct backtest_luck *luck = &rank->ranked.luck;
    char words[SWEEP_WORDS_MAX];
    printf("%s\n", cli_sweep_verdict_text(rows, words));
    printf("%s\n", cli_sweep_expected_text(rows, luck, RANK_WHAT, cli_rank_years(rank), words));
    if (cli_sweep_pbo_text(luck, words))
        printf("%s\n", words);
    printf("Try the choice on bars that it has not seen.\n");
}

void cli_rank_print(const struct rank_run *rank)
{
    print_bars(rank);
    print_strategies(rank);
    print_seconds(rank);
    printf("rank ");
    if (!has_column(rank->metric))
        printf("%13s ", backtest_sweep_metric_name(rank->metric));
    printf("    dsr  return %%   Sharpe  maxdd %%  factor  trades       fees  strategy\n");
    for (size_t row = 0; row < rank->ranked.n; row++)
        print_row(rank, row);
    printf("\nfactor: gross profit over gross loss.\n\n");
    print_luck(rank);
}
