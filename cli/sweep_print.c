#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/stored.h"
#include "cli/sweep_run.h"
#include "engine/backtest/selection.h"
#include "exchange/bar.h"
#include "exchange/exit_status.h"
#include "strategy/metrics.h"
#include "strategy/param_json.h"

static double years_of(const struct sweep *sweep)
{
    return (double)(sweep->to - sweep->from) / metrics_periods_per_year(sweep->market->interval_ns);
}

static void values_of(const struct sweep *sweep, size_t combination, double values[STRATEGY_PARAMS_MAX])
{
    struct strategy_choice choice = sweep->run.choices[0];
    backtest_grid_set(&sweep->grid, choice.strategy, combination, choice.params);
    for (int i = 0; i < sweep->grid.n_axes; i++)
        values[i] = choice.params[sweep->grid.axes[i].param];
}

static const struct strategy_param *axis_param(const struct sweep *sweep, int axis)
{
    return &sweep->run.choices[0].strategy->params[sweep->grid.axes[axis].param];
}

static const char *axis_name(const struct sweep *sweep, int axis)
{
    return axis_param(sweep, axis)->name;
}

static const char *cell(char buf[static FORMAT_MAX], double value, int decimals)
{
    return cli_format_number(buf, value, fabs(value) < 1e7 ? decimals : 0);
}

static void print_row(const struct sweep *sweep, size_t rank, const struct sweep_result *r)
{
    double values[STRATEGY_PARAMS_MAX];
    char text[160] = "", value[STRATEGY_WORD_MAX], cells[4][FORMAT_MAX];
    size_t at = 0;
    values_of(sweep, r->combination, values);
    for (int i = 0; i < sweep->grid.n_axes && at < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s=%s", i > 0 ? " " : "", axis_name(sweep, i),
                               strategy_param_text(axis_param(sweep, i), values[i], value));
    printf("%4zu %10s %9s %8s %8s %7zu  %s\n", rank, cell(cells[0], r->metrics[sweep->metric], 4),
           cell(cells[1], 100 * r->metrics[SWEEP_RETURN], 2), cell(cells[2], r->metrics[SWEEP_SHARPE], 3),
           cell(cells[3], 100 * r->metrics[SWEEP_MAX_DRAWDOWN], 2), r->trades, text);
}

/* What the best of so many would show without any skill. */
static void print_bias(const struct sweep *sweep)
{
    double years = years_of(sweep), luck = backtest_selection_best_sharpe(sweep->runs.n, years);
    double best = NAN;
    for (size_t i = 0; i < sweep->runs.n; i++)
        if (!(sweep->runs.results[i].metrics[SWEEP_SHARPE] <= best))
            best = isnan(sweep->runs.results[i].metrics[SWEEP_SHARPE])
                       ? best
                       : sweep->runs.results[i].metrics[SWEEP_SHARPE];
    printf("\nThe best of %zu runs looks better than it is: without any skill, the best of so many\n"
           "independent ones over %.2f years would be expected to show a Sharpe of %.2f",
           sweep->runs.n, years, luck);
    if (isnan(best))
        printf(".\n");
    else
        printf("; the best\nhere shows %.2f%s.\n", best, best <= luck ? ", which is no sign of skill" : "");
    printf("Try the choice on bars that it has not seen.\n");
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
    if (cli_run_calendar(&sweep->run))
        printf("sessions  %s, by the calendar %s\n", session_choice_names[sweep->run.terms.session],
               cli_run_calendar(&sweep->run)->name);
    printf("runs      %zu of %zu combinations", sweep->runs.n, sweep->runs.combinations);
    if (sweep->runs.skipped > 0)
        printf(", %zu contradict themselves", sweep->runs.skipped);
    if (sweep->runs.too_short > 0)
        printf(", %zu need more bars", sweep->runs.too_short);
    printf("\nseconds   load %.3f, runs %.3f: %.0f a second\n\n", sweep->load_seconds, sweep->seconds,
           sweep->seconds > 0 ? (double)sweep->runs.n / sweep->seconds : 0);
    printf("rank %10s  return %%   Sharpe  maxdd %%  trades\n", backtest_sweep_metric_name(sweep->metric));
    for (size_t i = 0; i < sweep->runs.n && i < (size_t)sweep->top; i++)
        print_row(sweep, i + 1, &sweep->runs.results[i]);
    print_bias(sweep);
}

/* Shares come as percent, with the unit in their key. */
static bool is_share(enum sweep_metric metric)
{
    return metric == SWEEP_CAGR || metric == SWEEP_RETURN || metric == SWEEP_MAX_DRAWDOWN ||
           metric == SWEEP_WIN_RATE;
}

static void print_value(const struct strategy_param *param, double value, FILE *out)
{
    char word[STRATEGY_WORD_MAX];
    if (strategy_param_word(param, value, word))
        fprintf(out, "%s,", word);
    else
        fprintf(out, "%.12g,", value);
}

static json_t *result_object(const struct sweep *sweep, const struct sweep_result *r)
{
    double values[STRATEGY_PARAMS_MAX];
    json_t *params = json_object(), *object;
    values_of(sweep, r->combination, values);
    for (int i = 0; i < sweep->grid.n_axes; i++)
        json_object_set_new(params, axis_name(sweep, i),
                            strategy_param_json(axis_param(sweep, i), values[i]));
    object = json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:I}", "params", params, "equity",
                       record_json_real(r->final_equity), "fees", record_json_real(r->fees), "exposure_pct",
                       record_json_real(100 * r->exposure), "trades", (json_int_t)r->trades, "fills",
                       (json_int_t)r->fills, "rejected", (json_int_t)r->refused);
    for (int m = 0; object && m < SWEEP_METRICS; m++) {
        char key[32];
        bool share = is_share((enum sweep_metric)m);
        snprintf(key, sizeof key, "%s%s", backtest_sweep_metric_name((enum sweep_metric)m),
                 share ? "_pct" : "");
        json_object_set_new(object, key, record_json_real(share ? 100 * r->metrics[m] : r->metrics[m]));
    }
    return object;
}

int cli_sweep_print_json(const struct sweep *sweep)
{
    const struct strategy_choice *choice = &sweep->run.choices[0];
    char params[256];
    json_t *top = json_array();
    cli_strategy_args_text(choice->strategy, choice->params, params, sizeof params);
    for (size_t i = 0; i < sweep->runs.n && i < (size_t)sweep->top; i++)
        json_array_append_new(top, result_object(sweep, &sweep->runs.results[i]));
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:o}", "schema",
        "papertape.sweep/1", "strategy", choice->strategy->name, "set", params, "metric",
        backtest_sweep_metric_name(sweep->metric), "combinations", (json_int_t)sweep->runs.combinations,
        "runs", (json_int_t)sweep->runs.n, "contradictory", (json_int_t)sweep->runs.skipped, "too_few_bars",
        (json_int_t)sweep->runs.too_short, "rows", (json_int_t)(sweep->to - sweep->from), "years",
        years_of(sweep), "sharpe_expected_without_skill",
        backtest_selection_best_sharpe(sweep->runs.n, years_of(sweep)), "load_s", sweep->load_seconds,
        "seconds", sweep->seconds, "top", top);
    return cli_stored_print("sweep", object, 17);
}

void cli_sweep_write_csv(const struct sweep *sweep, FILE *out)
{
    for (int i = 0; i < sweep->grid.n_axes; i++)
        fprintf(out, "%s,", axis_name(sweep, i));
    for (int m = 0; m < SWEEP_METRICS; m++)
        fprintf(out, "%s,", backtest_sweep_metric_name((enum sweep_metric)m));
    fputs("equity,fees,exposure,trades,fills,rejected\n", out);
    for (size_t k = 0; k < sweep->runs.n && !ferror(out); k++) {
        const struct sweep_result *r = &sweep->runs.results[k];
        double values[STRATEGY_PARAMS_MAX];
        values_of(sweep, r->combination, values);
        for (int i = 0; i < sweep->grid.n_axes; i++)
            print_value(axis_param(sweep, i), values[i], out);
        for (int m = 0; m < SWEEP_METRICS; m++) {
            if (!isnan(r->metrics[m]))
                fprintf(out, "%.17g", r->metrics[m]);
            fputc(',', out);
        }
        fprintf(out, "%.17g,%.17g,%.17g,%zu,%zu,%llu\n", r->final_equity, r->fees, r->exposure, r->trades,
                r->fills, (unsigned long long)r->refused);
    }
}
