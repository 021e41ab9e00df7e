#include <math.h>
#include <stdio.h>

#include "cli/format.h"
#include "cli/sweep_run.h"
#include "exchange/bar.h"
#include "exchange/clock.h"
#include "indicators_gpu/module.h"
#include "strategy/strategy.h"

static const char *cell(char buf[static FORMAT_MAX], double value, int decimals)
{
    return cli_format_number(buf, value, fabs(value) < 1e7 ? decimals : 0);
}

static const char *count(char buf[static FORMAT_MAX], const struct backtest_beside *beside)
{
    if (beside->n == 0)
        return cli_format_number(buf, NAN, 0);
    snprintf(buf, FORMAT_MAX, "%zu/%zu", beside->hold, beside->n);
    return buf;
}

/* A metric that no other column has. */
static bool has_column(enum sweep_metric metric)
{
    return metric == SWEEP_DSR || metric == SWEEP_RETURN || metric == SWEEP_SHARPE ||
           metric == SWEEP_MAX_DRAWDOWN;
}

static void print_row(const struct sweep *sweep, size_t i)
{
    const struct sweep_result *r = &sweep->runs.results[i];
    char text[SWEEP_VALUES_MAX], cells[8][FORMAT_MAX];
    printf("%4zu ", i + 1);
    if (!has_column(sweep->metric))
        printf("%13s ", cell(cells[0], r->metrics[sweep->metric], 4));
    printf("%7s %9s %8s %8s %7zu %8s %8s %8s  %s\n", cell(cells[1], r->dsr, 4),
           cell(cells[2], 100 * r->metrics[SWEEP_RETURN], 2), cell(cells[3], r->metrics[SWEEP_SHARPE], 3),
           cell(cells[4], 100 * r->metrics[SWEEP_MAX_DRAWDOWN], 2), r->trades,
           count(cells[5], &sweep->beside[i]),
           cell(cells[6], cli_sweep_sharpe_at(sweep, SWEEP_COSTS_FEES, i), 3),
           cell(cells[7], cli_sweep_sharpe_at(sweep, SWEEP_COSTS_SLIPPAGE, i), 3),
           cli_sweep_text(sweep, r->combination, text));
}

static void print_rows(const struct sweep *sweep)
{
    printf("rank ");
    if (!has_column(sweep->metric))
        printf("%13s ", backtest_sweep_metric_name(sweep->metric));
    printf("    dsr  return %%   Sharpe  maxdd %%  trades   beside  fees x2    +slip\n");
    for (size_t i = 0; i < sweep->shown; i++)
        print_row(sweep, i);
}

static void print_luck(const struct sweep *sweep)
{
    char words[SWEEP_WORDS_MAX];
    printf("%s\n", cli_sweep_verdict_text(&sweep->runs, words));
    printf("%s\n",
           cli_sweep_expected_text(&sweep->runs, &sweep->luck, SWEEP_WHAT, cli_sweep_years(sweep), words));
    if (cli_sweep_pbo_text(&sweep->luck, words))
        printf("%s\n", words);
    printf("Try the choice on bars that it has not seen.\n");
}

static void print_counts(const struct sweep *sweep)
{
    const struct sweep_results *runs = &sweep->runs;
    bool drawn = sweep->sets.drawn != NULL;
    printf("runs      %zu of %zu %s", runs->n, runs->combinations, drawn ? "samples" : "combinations");
    if (sweep->sets.asked > (double)runs->combinations)
        printf(", %.0f are equal to others", sweep->sets.asked - (double)runs->combinations);
    if (runs->skipped > 0)
        printf(", %zu contradict themselves", runs->skipped);
    if (runs->too_short > 0)
        printf(", %zu need more bars", runs->too_short);
    if (runs->widened > 0)
        printf("; screened%s%s, %zu run exactly", sweep->device ? " on " : "",
               sweep->device ? gpu_module_device(sweep->device) : "", runs->exact);
    if (sweep->luck.few > 0)
        printf("\n          %zu have fewer than %zu trades and are not ranked", sweep->luck.few,
               runs->min_trades);
    if (runs->known > 0)
        printf("\n          %zu were kept of an earlier run of this command", runs->known);
    printf("\nseconds   load %.3f, runs %.3f", sweep->load_seconds, sweep->seconds);
    if (runs->n > runs->known && sweep->seconds > 0)
        printf(": %.0f a second", (double)(runs->n - runs->known) / sweep->seconds);
    printf("\n\n");
}

void cli_sweep_print(const struct sweep *sweep)
{
    const struct market *market = sweep->market;
    const char *interval = bar_interval_name(market->interval_ns);
    char from[FORMAT_MAX], to[FORMAT_MAX], params[256];
    cli_strategy_args_text(sweep->run.choices[0].strategy, sweep->run.choices[0].params, params,
                           sizeof params);
    printf("strategy  %s%s%s\nbars      ", sweep->run.choices[0].strategy->name, *params ? "  " : "", params);
    for (int s = 0; s < market->n_symbols && s < 6; s++)
        printf("%s ", market->series[s].symbol.name);
    if (market->n_symbols > 6)
        printf("and %d more ", market->n_symbols - 6);
    printf("%s\n          %zu rows from %s to %s\n", interval ? interval : "", sweep->to - sweep->from,
           cli_format_time(from, market_open_ns(market, sweep->from)),
           cli_format_time(to, market_open_ns(market, sweep->to)));
    cli_run_universe_print(&sweep->run, sweep->market, sweep->from, sweep->to);
    if (cli_run_calendar(&sweep->run))
        printf("sessions  %s, by the calendar %s\n", session_choice_names[sweep->run.terms.session],
               cli_run_calendar(&sweep->run)->name);
    print_counts(sweep);
    print_rows(sweep);
    printf("\nbeside: of the sets next to it, those with a Sharpe above 0 and at least half of its own.\n"
           "fees x2, +slip: its Sharpe with twice the fees, and with %.2f %% more slippage.\n\n",
           100 * SWEEP_SLIPPAGE);
    cli_sweep_periods_print(sweep);
    print_luck(sweep);
}
