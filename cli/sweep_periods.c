/* The best runs of a sweep again on periods of the bars, which are drawn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/format.h"
#include "cli/stored.h"
#include "cli/sweep_run.h"
#include "exchange/early_stop.h"
#include "exchange/exit_status.h"
#include "record/json.h"

static const int64_t DAY_NS = INT64_C(86400) * 1000000000;

static int fail(const char *what, const char *words)
{
    return cli_stored_fail(EXIT_ERROR, "sweep", what, words);
}

/* The bars that the sets need before they say anything, those before the first row among them. */
static int most_needed(const struct sweep *sweep, const struct backtest_config *config,
                       const struct account_spec *base, size_t *ret)
{
    struct account_spec spec = *base;
    struct backtest_needs needs;
    char err[512];
    *ret = 0;
    for (size_t i = 0; i < sweep->shown; i++) {
        (void)backtest_sets_get(&sweep->sets, spec.strategy, sweep->runs.results[i].combination, spec.params);
        if (backtest_needs(config, &spec, &needs, err, sizeof err) < 0)
            return fail("", err);
        *ret = needs.bars > *ret ? needs.bars : *ret;
    }
    return EXIT_OK;
}

/* Any row may be a period's first by which indicators have their values and after which its rows are there.
 */
static int draw(struct sweep *sweep, const struct backtest_config *config, const struct account_spec *base)
{
    struct sweep_periods *periods = &sweep->periods;
    char words[160];
    size_t first;
    int status = most_needed(sweep, config, base, &first);
    if (status != EXIT_OK)
        return status;
    first = first > config->from ? first : config->from;
    periods->rows = (size_t)(periods->days * DAY_NS / config->market->interval_ns);
    if (periods->rows < 2 || first + periods->rows > config->to) {
        snprintf(words, sizeof words,
                 "%lld: %zu rows are left after the indicators' first values: so many a "
                 "period, or fewer, and two at least, are right",
                 (long long)periods->days, first < config->to ? config->to - first : 0);
        return fail("--period-days", words);
    }
    const size_t starts = config->to - periods->rows - first + 1;
    backtest_sampling_starts(&sweep->sampling, (size_t)periods->n, (uint32_t)starts, periods->from);
    for (size_t k = 0; k < (size_t)periods->n; k++)
        periods->from[k] += first;
    return EXIT_OK;
}

static int run_one(struct sweep *sweep, const struct backtest_config *config, const struct account_spec *base,
                   const size_t *which, size_t k, struct sweep_result *rows)
{
    struct sweep_periods *periods = &sweep->periods;
    struct backtest_config within = *config;
    const struct backtest_sweep again = {
        .config = &within, .account = base, .grid = &sweep->grid, .sets = &sweep->sets};
    char err[512] = "";
    within.from = periods->from[k];
    within.to = within.from + periods->rows;
    if (backtest_sweep_some(&again, which, sweep->shown, rows, NULL, err, sizeof err) < 0)
        return fail("", err);
    for (size_t i = 0; i < sweep->shown; i++)
        periods->sharpe[i * (size_t)periods->n + k] = rows[i].metrics[SWEEP_SHARPE];
    return EXIT_OK;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct sweep_period_figures figures_of(const struct sweep_periods *periods, size_t row, double *room)
{
    const size_t n = (size_t)periods->n;
    struct sweep_period_figures ret = {0};
    for (size_t k = 0; k < n; k++) {
        const double sharpe = periods->sharpe[row * n + k];
        room[k] = isfinite(sharpe) ? sharpe : 0;
        ret.above += room[k] > 0;
    }
    qsort(room, n, sizeof *room, ascending);
    ret.median = (room[(n - 1) / 2] + room[n / 2]) / 2;
    ret.worst = room[0];
    ret.share = (double)ret.above / (double)n;
    return ret;
}

static int run_all(struct sweep *sweep, const struct backtest_config *config, const struct account_spec *base,
                   size_t *which, struct sweep_result *rows)
{
    const size_t n = (size_t)sweep->periods.n;
    int status = draw(sweep, config, base);
    for (size_t i = 0; i < sweep->shown; i++)
        which[i] = sweep->runs.results[i].combination;
    for (size_t k = 0; status == EXIT_OK && k < n; k++)
        status =
            early_stop_asked() ? fail("--periods", "stopped") : run_one(sweep, config, base, which, k, rows);
    return status;
}

int cli_sweep_periods(struct sweep *sweep, const struct backtest_config *config,
                      const struct account_spec *base)
{
    struct sweep_periods *periods = &sweep->periods;
    const size_t n = (size_t)periods->n, shown = sweep->shown;
    if (n == 0 || sweep->runs.stopped || shown == 0)
        return EXIT_OK;
    size_t *which = calloc(shown, sizeof *which);
    struct sweep_result *rows = calloc(shown, sizeof *rows);
    double *room = calloc(n, sizeof *room);
    periods->from = calloc(n, sizeof *periods->from);
    periods->sharpe = calloc(n * shown, sizeof *periods->sharpe);
    periods->figures = calloc(shown, sizeof *periods->figures);
    int status = which && rows && room && periods->from && periods->sharpe && periods->figures
                     ? run_all(sweep, config, base, which, rows)
                     : fail("", "out of memory");
    for (size_t i = 0; status == EXIT_OK && i < shown; i++)
        periods->figures[i] = figures_of(periods, i, room);
    periods->ran = status == EXIT_OK;
    free(room);
    free(rows);
    free(which);
    return status;
}

void cli_sweep_periods_finish(struct sweep_periods *periods)
{
    free(periods->from);
    free(periods->sharpe);
    free(periods->figures);
    *periods = (struct sweep_periods){0};
}

/* ---- What they say. ---- */

const char *cli_sweep_periods_text(const struct sweep *sweep, char ret[static SWEEP_PERIODS_MAX])
{
    snprintf(ret, SWEEP_PERIODS_MAX, "%lld of %lld days, drawn by %sseed %llu", (long long)sweep->periods.n,
             (long long)sweep->periods.days, sweep->sampling.sobol ? "Sobol's sequence, " : "",
             (unsigned long long)sweep->sampling.seed);
    return ret;
}

void cli_sweep_periods_print(const struct sweep *sweep)
{
    const struct sweep_periods *periods = &sweep->periods;
    char text[SWEEP_VALUES_MAX], cells[2][FORMAT_MAX];
    if (!periods->ran)
        return;
    printf("periods   %s\n", cli_sweep_periods_text(sweep, text));
    printf("rank   median    worst  above 0  of the Sharpe ratios of each period\n");
    for (size_t i = 0; i < sweep->shown; i++) {
        const struct sweep_period_figures *of = &periods->figures[i];
        printf("%4zu %8s %8s %4zu/%-4lld  %s\n", i + 1, cli_format_number(cells[0], of->median, 3),
               cli_format_number(cells[1], of->worst, 3), of->above, (long long)periods->n,
               cli_sweep_text(sweep, sweep->runs.results[i].combination, text));
    }
    putchar('\n');
}

static json_t *times_json(const struct sweep *sweep)
{
    const struct sweep_periods *periods = &sweep->periods;
    json_t *list = json_array();
    for (size_t k = 0; k < (size_t)periods->n; k++)
        json_array_append_new(
            list,
            json_pack("{s:I, s:I}", "from_ns", (json_int_t)market_open_ns(sweep->market, periods->from[k]),
                      "to_ns", (json_int_t)market_open_ns(sweep->market, periods->from[k] + periods->rows)));
    return list;
}

static void add_row(const struct sweep_periods *periods, size_t i, json_t *row)
{
    const size_t n = (size_t)periods->n;
    const struct sweep_period_figures *of = &periods->figures[i];
    json_t *each = json_array();
    for (size_t k = 0; k < n; k++)
        json_array_append_new(each, record_json_real(periods->sharpe[i * n + k]));
    json_object_set_new(row, "periods_sharpe", each);
    json_object_set_new(row, "periods_sharpe_median", record_json_real(of->median));
    json_object_set_new(row, "periods_sharpe_worst", record_json_real(of->worst));
    json_object_set_new(row, "periods_above_0", json_integer((json_int_t)of->above));
    json_object_set_new(row, "periods_above_0_pct", record_json_real(100 * of->share));
}

void cli_sweep_periods_json(const struct sweep *sweep, json_t *object, json_t *top)
{
    const struct sweep_periods *periods = &sweep->periods;
    size_t i;
    json_t *row;
    if (!periods->ran)
        return;
    json_object_set_new(object, "periods",
                        json_pack("{s:I, s:s, s:I, s:o}", "days", (json_int_t)periods->days, "sampling",
                                  sweep->sampling.sobol ? "sobol" : "random", "seed",
                                  (json_int_t)sweep->sampling.seed, "windows", times_json(sweep)));
    json_array_foreach(top, i, row) add_row(periods, i, row);
}
