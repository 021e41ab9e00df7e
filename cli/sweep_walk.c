/* Walk-forward: the best set of one window is traded in the next, again and again; what it earns there is of
 * bars that the choice has not seen. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/format.h"
#include "cli/output.h"
#include "cli/stored.h"
#include "cli/sweep_run.h"
#include "exchange/clock.h"
#include "exchange/exit_status.h"
#include "record/json.h"
#include "strategy/metrics.h"
#include "strategy/metrics/deflate.h"
#include "strategy/strategy.h"

enum { WINDOWS_MAX = 10000 };

struct walk_window {
    size_t from, middle, to; /* rows: in sample [from, middle), out of sample [middle, to) */
    bool chosen;             /* false: no set had enough trades, and nothing is traded */
    char params[SWEEP_VALUES_MAX];
    struct sweep_result in, out;
    struct backtest_luck luck;
};

struct walk {
    struct sweep *sweep;
    const struct backtest_config *config;
    const struct account_spec *base;
    struct walk_window *windows;
    size_t n, rows; /* rows: out of sample, of all windows */
    double *returns;
    struct metrics metrics; /* of the returns */
    double psr;             /* the probability that their true Sharpe ratio is above 0 */
};

bool cli_sweep_walk_parse(const char *text, int64_t ret_ns[static 3])
{
    char copy[96], *next = copy;
    int64_t ns[3] = {0};
    int n = 0;
    if ((size_t)snprintf(copy, sizeof copy, "%s", text) >= sizeof copy)
        return false;
    while (next && n < 3) {
        char ago[64];
        snprintf(ago, sizeof ago, "-%.60s", strsep(&next, ":"));
        if (!cli_stored_ago_parse(ago, &ns[n]) || ns[n] <= 0)
            return false;
        n++;
    }
    ns[2] = n == 3 ? ns[2] : ns[1];
    if (next || n < 2 || ns[2] < ns[1])
        return false;
    memcpy(ret_ns, ns, sizeof ns);
    return true;
}

/* ---- the windows ---- */

static size_t row_after(const struct walk *walk, size_t row, int64_t ns)
{
    const struct market *market = walk->config->market;
    return market_store_row_at(market, market_open_ns(market, row) + ns);
}

/* As many as fit: the last one ends with the rows at the latest. */
static int cut(struct walk *walk)
{
    const int64_t *ns = walk->sweep->walk_ns;
    const struct market *market = walk->config->market;
    size_t from = walk->config->from, to = walk->config->to;
    walk->windows = calloc(WINDOWS_MAX, sizeof *walk->windows);
    if (!walk->windows)
        return cli_stored_fail(EXIT_ERROR, "sweep", "", "out of memory");
    while (walk->n < WINDOWS_MAX) {
        struct walk_window window = {.from = from, .middle = row_after(walk, from, ns[0])};
        if (window.middle >= to || window.middle == from)
            break;
        window.to = row_after(walk, window.middle, ns[1]);
        if (window.to > to || window.to == window.middle ||
            market_open_ns(market, window.to) < market_open_ns(market, window.middle) + ns[1])
            break;
        walk->rows += window.to - window.middle;
        walk->windows[walk->n++] = window;
        from = row_after(walk, from, ns[2]);
    }
    if (walk->n > 0)
        return EXIT_OK;
    return cli_stored_fail(EXIT_ERROR, "sweep", "--walk-forward",
                           "the rows are too few for one window: a shorter IN or OUT is needed");
}

/* ---- one window ---- */

static int choose(struct walk *walk, struct walk_window *window)
{
    struct sweep *sweep = walk->sweep;
    struct backtest_config config = *walk->config;
    config.from = window->from;
    config.to = window->middle;
    backtest_sweep_finish(&sweep->runs);
    int status = cli_sweep_rows(sweep, &config, walk->base);
    if (status != EXIT_OK)
        return status;
    window->luck = sweep->luck;
    window->chosen = sweep->shown > 0;
    if (window->chosen) {
        window->in = sweep->runs.results[0];
        cli_sweep_text(sweep, window->in.combination, window->params);
    }
    return EXIT_OK;
}

static int trade(struct walk *walk, struct walk_window *window, double *returns)
{
    struct backtest_config config = *walk->config;
    const struct backtest_sweep again = {
        .config = &config, .account = walk->base, .grid = &walk->sweep->grid, .sets = &walk->sweep->sets};
    char err[512] = "";
    config.from = window->middle;
    config.to = window->to;
    if (!window->chosen)
        return EXIT_OK;
    int r = backtest_sweep_some(&again, &window->in.combination, 1, &window->out, returns, err, sizeof err);
    return r < 0 ? cli_stored_fail(EXIT_ERROR, "sweep", "--walk-forward", err) : EXIT_OK;
}

static int run_windows(struct walk *walk)
{
    size_t at = 0, i = 0;
    int status = EXIT_OK;
    walk->returns = calloc(walk->rows, sizeof *walk->returns);
    if (!walk->returns)
        return cli_stored_fail(EXIT_ERROR, "sweep", "", "out of memory");
    walk->sweep->times = walk->n;
    for (; i < walk->n && status == EXIT_OK; i++) {
        struct walk_window *window = &walk->windows[i];
        status = choose(walk, window);
        if (status == EXIT_OK && walk->sweep->runs.stopped)
            break;
        if (status == EXIT_OK)
            status = trade(walk, window, walk->returns + at);
        at += window->to - window->middle;
    }
    if (status != EXIT_OK)
        return status;
    if (walk->sweep->runs.stopped && i == 0)
        return cli_stored_fail(EXIT_ERROR, "sweep", "",
                               walk->sweep->kept
                                   ? "stopped in the first window; what is done is kept, and the "
                                     "same command continues"
                                   : "stopped in the first window");
    walk->n = i;
    walk->rows = at;
    return EXIT_OK;
}

static void measure(struct walk *walk)
{
    const struct metrics_series series = metrics_returns(walk->returns, walk->rows);
    struct deflated of;
    metrics_compute(&series, metrics_periods_per_year(walk->config->market->interval_ns), &walk->metrics);
    walk->psr = overfit_deflated_sharpe(walk->returns, walk->rows, 1, 0, &of) == 0 ? of.psr : NAN;
}

/* ---- what it shows ---- */

static double mean_in_sample(const struct walk *walk)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < walk->n; i++)
        if (walk->windows[i].chosen && isfinite(walk->windows[i].in.metrics[SWEEP_SHARPE])) {
            sum += walk->windows[i].in.metrics[SWEEP_SHARPE];
            n++;
        }
    return n > 0 ? sum / (double)n : NAN;
}

static void print_window(const struct walk *walk, const struct walk_window *window)
{
    char time[FORMAT_MAX], cells[5][FORMAT_MAX];
    printf("%-19s ", cli_format_time(time, market_open_ns(walk->config->market, window->middle)));
    if (!window->chosen) {
        printf("%7s %8s %8s %9s %7s  no set has enough trades\n", "n/a", "n/a", "n/a", "n/a", "0");
        return;
    }
    printf("%7s %8s %8s %9s %7zu  %s\n", cli_format_number(cells[0], window->in.dsr, 4),
           cli_format_number(cells[1], window->in.metrics[SWEEP_SHARPE], 3),
           cli_format_number(cells[2], window->out.metrics[SWEEP_SHARPE], 3),
           cli_format_number(cells[3], 100 * window->out.metrics[SWEEP_RETURN], 2), window->out.trades,
           window->params);
}

static void print_walk(const struct walk *walk)
{
    char cells[4][FORMAT_MAX];
    printf("strategy  %s\nwindows   %zu, chosen by %s\n\n", walk->sweep->run.choices[0].strategy->name,
           walk->n, backtest_sweep_metric_name(walk->sweep->metric));
    printf("traded from          dsr in   Sharpe  out of sample:\n"
           "                             in smpl   Sharpe  return %%  trades  chosen\n");
    for (size_t i = 0; i < walk->n; i++)
        print_window(walk, &walk->windows[i]);
    printf("\nout of sample  return %s %%, Sharpe %s (in sample %s on average), max drawdown %s %%\n",
           cli_format_number(cells[0], 100 * walk->metrics.total_return, 2),
           cli_format_number(cells[1], walk->metrics.sharpe, 3),
           cli_format_number(cells[2], mean_in_sample(walk), 3),
           cli_format_number(cells[3], 100 * walk->metrics.max_drawdown, 2));
    if (walk->sweep->runs.stopped)
        printf("\nNo verdict: stopped after %zu windows.\n", walk->n);
    else if (isnan(walk->psr))
        printf("\nNo verdict: nothing was traded out of sample.\n");
    else
        printf(
            "\n%s: with a probability of %.4f the choices' true Sharpe out of sample is above 0; above %.2f it "
            "would be more than luck.\n",
            walk->psr > DEFLATE_LUCK_LEVEL ? "More than luck" : "No more than luck", walk->psr,
            DEFLATE_LUCK_LEVEL);
}

static json_t *window_object(const struct walk *walk, const struct walk_window *window)
{
    const struct market *market = walk->config->market;
    json_t *object =
        json_pack("{s:I, s:I, s:I, s:o}", "from_ns", (json_int_t)market_open_ns(market, window->from),
                  "chosen_ns", (json_int_t)market_open_ns(market, window->middle), "to_ns",
                  (json_int_t)market_open_ns(market, window->to), "params",
                  window->chosen ? json_string(window->params) : json_null());
    if (!window->chosen)
        return object;
    json_object_set_new(object, "dsr_in", record_json_real(window->in.dsr));
    json_object_set_new(object, "pbo_in", record_json_real(window->luck.pbo));
    json_object_set_new(object, "sharpe_in", record_json_real(window->in.metrics[SWEEP_SHARPE]));
    json_object_set_new(object, "sharpe", record_json_real(window->out.metrics[SWEEP_SHARPE]));
    json_object_set_new(object, "return_pct", record_json_real(100 * window->out.metrics[SWEEP_RETURN]));
    json_object_set_new(object, "trades", json_integer((json_int_t)window->out.trades));
    return object;
}

static int print_json(const struct walk *walk)
{
    json_t *windows = json_array();
    for (size_t i = 0; i < walk->n; i++)
        json_array_append_new(windows, window_object(walk, &walk->windows[i]));
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "schema", "papertape.walk-forward/1",
        "strategy", walk->sweep->run.choices[0].strategy->name, "metric",
        backtest_sweep_metric_name(walk->sweep->metric), "rows", (json_int_t)walk->rows, "return_pct",
        record_json_real(100 * walk->metrics.total_return), "sharpe", record_json_real(walk->metrics.sharpe),
        "sharpe_in", record_json_real(mean_in_sample(walk)), "max_drawdown_pct",
        record_json_real(100 * walk->metrics.max_drawdown), "probability_above_0",
        record_json_real(walk->psr), "stopped", walk->sweep->runs.stopped, "windows", windows);
    return cli_stored_print("sweep", object, 17);
}

static int write_csv(const struct walk *walk)
{
    const struct market *market = walk->config->market;
    struct output csv = {0};
    int status = cli_output_open("sweep", walk->sweep->csv, &csv);
    if (status != EXIT_OK)
        return status;
    fputs("from_ns,chosen_ns,to_ns,params,dsr_in,sharpe_in,sharpe,return,trades\n", csv.file);
    for (size_t i = 0; i < walk->n; i++) {
        const struct walk_window *w = &walk->windows[i];
        fprintf(csv.file, "%lld,%lld,%lld,%s,", (long long)market_open_ns(market, w->from),
                (long long)market_open_ns(market, w->middle), (long long)market_open_ns(market, w->to),
                w->params);
        if (w->chosen)
            fprintf(csv.file, "%.17g,%.17g,%.17g,%.17g,%zu\n", w->in.dsr, w->in.metrics[SWEEP_SHARPE],
                    w->out.metrics[SWEEP_SHARPE], w->out.metrics[SWEEP_RETURN], w->out.trades);
        else
            fputs(",,,,0\n", csv.file);
    }
    status = cli_output_commit("sweep", &csv);
    cli_output_drop(&csv);
    return status;
}

int cli_sweep_walk(struct sweep *sweep, const struct backtest_config *config, const struct account_spec *base,
                   bool json)
{
    struct walk walk = {.sweep = sweep, .config = config, .base = base};
    int status = cut(&walk);
    if (status == EXIT_OK)
        status = run_windows(&walk);
    if (status == EXIT_OK) {
        measure(&walk);
        status = sweep->csv ? write_csv(&walk) : EXIT_OK;
    }
    if (status == EXIT_OK && json)
        status = print_json(&walk);
    else if (status == EXIT_OK)
        print_walk(&walk);
    if (status == EXIT_OK && sweep->runs.stopped) {
        fflush(stdout);
        fprintf(stderr, "papertape: sweep: stopped after %zu windows%s\n", walk.n,
                sweep->kept ? "; what is done is kept, and the same command continues" : "");
        status = EXIT_ERROR;
    }
    free(walk.windows);
    free(walk.returns);
    return status;
}
