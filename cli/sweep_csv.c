#include <math.h>
#include <stdlib.h>

#include "cli/stored.h"
#include "cli/sweep_run.h"
#include "exchange/exit_status.h"
#include "strategy/strategy.h"

static void write_value(const struct strategy_param *param, double value, FILE *out)
{
    char word[STRATEGY_WORD_MAX];
    if (strategy_param_word(param, value, word))
        fprintf(out, "%s,", word);
    else
        fprintf(out, "%.12g,", value);
}

static void write_figure(double value, FILE *out)
{
    if (!isnan(value))
        fprintf(out, "%.17g", value);
    fputc(',', out);
}

/* Of the row in that place: empty where it is not listed, and so was not run on periods. */
static void write_periods(const struct sweep_periods *periods, size_t place, size_t shown, FILE *out)
{
    if (!periods->ran || place >= shown) {
        fputs(",,,", out);
        return;
    }
    const struct sweep_period_figures *of = &periods->figures[place];
    fprintf(out, ",%.17g,%.17g,%.17g", of->median, of->worst, of->share);
}

static void write_row(const struct sweep *sweep, size_t place, FILE *out)
{
    const struct sweep_result *r = &sweep->runs.results[place];
    double values[STRATEGY_PARAMS_MAX];
    cli_sweep_values(sweep, r->combination, values);
    for (int i = 0; i < sweep->grid.n_axes; i++)
        write_value(cli_sweep_axis(sweep, i), values[i], out);
    for (int m = 0; m < SWEEP_METRICS; m++)
        write_figure(r->metrics[m], out);
    fprintf(out, "%.17g,%.17g,%.17g,%zu,%zu,%llu,", r->final_equity, r->fees, r->exposure, r->trades,
            r->fills, (unsigned long long)r->refused);
    write_figure(r->dsr, out);
    fprintf(out, "%s,%s", r->exact ? "true" : "false", sweep->runs.stopped ? "true" : "false");
    if (sweep->periods.n > 0)
        write_periods(&sweep->periods, place, sweep->shown, out);
    fputc('\n', out);
}

void cli_sweep_write_csv(const struct sweep *sweep, FILE *out)
{
    for (int i = 0; i < sweep->grid.n_axes; i++)
        fprintf(out, "%s,", cli_sweep_axis(sweep, i)->name);
    for (int m = 0; m < SWEEP_METRICS; m++)
        fprintf(out, "%s,", backtest_sweep_metric_name((enum sweep_metric)m));
    fputs("equity,fees,exposure,trades,fills,rejected,dsr,exact,stopped", out);
    if (sweep->periods.n > 0)
        fputs(",periods_sharpe_median,periods_sharpe_worst,periods_above_0_share", out);
    fputc('\n', out);
    for (size_t k = 0; k < sweep->runs.n && !ferror(out); k++)
        write_row(sweep, k, out);
}

/* ---- the matrix of returns ---- */

static const size_t returns_most = (size_t)1 << 30; /* bytes */

static void write_matrix(const struct sweep *sweep, const double *returns, FILE *out)
{
    char text[SWEEP_VALUES_MAX];
    size_t rows = sweep->to - sweep->from;
    fputs("timestamp_ns", out);
    for (size_t i = 0; i < sweep->shown; i++)
        fprintf(out, ",%s", cli_sweep_text(sweep, sweep->runs.results[i].combination, text));
    fputc('\n', out);
    for (size_t row = 0; row < rows && !ferror(out); row++) {
        fprintf(out, "%lld", (long long)market_open_ns(sweep->market, sweep->from + row));
        for (size_t i = 0; i < sweep->shown; i++)
            fprintf(out, ",%.17g", returns[i * rows + row]);
        fputc('\n', out);
    }
}

static int run_and_write(const struct sweep *sweep, const struct backtest_sweep *again, FILE *out)
{
    size_t rows = sweep->to - sweep->from, n = sweep->shown;
    double *returns = calloc(n * rows + 1, sizeof *returns);
    struct sweep_result *results = calloc(n + 1, sizeof *results);
    size_t *which = calloc(n + 1, sizeof *which);
    char err[512] = "out of memory";
    for (size_t i = 0; which && i < n; i++)
        which[i] = sweep->runs.results[i].combination;
    int status = EXIT_OK;
    if (!returns || !results || !which ||
        backtest_sweep_some(again, which, n, results, returns, err, sizeof err) < 0)
        status = cli_stored_fail(EXIT_ERROR, "sweep", "--returns", err);
    else
        write_matrix(sweep, returns, out);
    free(returns);
    free(results);
    free(which);
    return status;
}

int cli_sweep_write_returns(const struct sweep *sweep, const struct backtest_config *config,
                            const struct account_spec *base, FILE *out)
{
    const struct backtest_sweep again = {
        .config = config, .account = base, .grid = &sweep->grid, .sets = &sweep->sets};
    if (sweep->shown * (sweep->to - sweep->from) > returns_most / sizeof(double))
        return cli_stored_fail(EXIT_ERROR, "sweep", "--returns",
                               "more than 1 GiB of returns: a smaller --top, or fewer rows, are needed");
    return run_and_write(sweep, &again, out);
}
