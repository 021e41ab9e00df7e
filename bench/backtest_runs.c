/* Backtests, timed: bench/backtest builds and runs it.
 *
 *   backtest_runs walk FILE BARS SEED          writes a seeded walk of 1 m bars as CSV
 *   backtest_runs run STRATEGY THREADS CACHE FILE…
 *                                              loads the files, runs the strategy over them as one account
 *                                              and makes the report; a JSON object with seconds and bytes
 *
 * `run` repeats the run and the report while a second lasts: the quickest repetition counts, since others may
 * share the machine; the load is timed once, as it was found. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "engine/backtest/backtest.h"
#include "engine/backtest/report.h"
#include "strategy/external.h"
#include "strategy/mask.h"

enum { REPETITIONS = 200, CPU_RUNS = 8, CPU_BATCH = 20 };
static const double SECONDS = 1.0;

static int walk(const char *path, size_t bars, uint64_t seed)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return EXIT_FAILURE;
    fputs("open_time,open,high,low,close,volume\n", file);
    int64_t price = 6000000, ms = INT64_C(1700006400000); /* in cents; 2023-11-15 00:00 UTC */
    for (size_t i = 0; i < bars; i++, ms += 60000) {
        int64_t open = price, high = open, low = open;
        for (int k = 0; k < 4; k++) {
            price += (int64_t)((bench_uniform(&seed) - 0.5) * 0.001 * (double)price);
            high = price > high ? price : high;
            low = price < low ? price : low;
        }
        fprintf(file, "%" PRId64 ",%.2f,%.2f,%.2f,%.2f,%.3f\n", ms, (double)open / 100, (double)high / 100,
                (double)low / 100, (double)price / 100, floor(1000 + 9000 * bench_uniform(&seed)) / 1000);
    }
    return fclose(file) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* A strategy of the five indicators, for this bench only: into strength that all five confirm, seldom; out at
 * a stop, at a profit, or when the strength is gone. */
static size_t five_specs(const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    static const char *const five[] = {"sma:20", "ema:14", "rsi:14", "macd:12,26,9", "atr:14"};
    (void)params;
    for (size_t i = 0; i < 5; i++)
        snprintf(specs[i], STRATEGY_SPEC_TEXT, "%s", five[i]);
    return 5;
}

enum { SMA, EMA, RSI, MACD, SIGNAL, HIST, ATR };
static const double RSI_ENTERS = 78, RSI_LEAVES = 30;

static size_t five_bar(const double *params, void *state, const struct strategy_input *input,
                       struct intent *intents)
{
    const double *in = input->indicators;
    (void)params;
    (void)state;
    if (input->live_orders || isnan(in[HIST]))
        return 0;
    if (input->qty > 0 && in[RSI] < RSI_LEAVES) {
        intents[0] = (struct intent){.kind = INTENT_EXIT, .why = "weak"};
        return 1;
    }
    if (input->qty != 0 || !(in[RSI] > RSI_ENTERS && in[EMA] > in[SMA] && in[HIST] > 0))
        return 0;
    intents[0] = (struct intent){.kind = INTENT_ENTER,
                                 .fraction = 0.1,
                                 .stop = input->close - 8 * in[ATR],
                                 .profit = input->close + 16 * in[ATR],
                                 .why = "strong"};
    return 1;
}

static void five_scan(const double *params, const struct strategy_columns *columns,
                      const struct strategy_marks *marks)
{
    (void)params;
    for (size_t i = 0; i < columns->n; i += MASK_BITS) {
        size_t n = mask_bars(columns->n, i);
        const double *const *in = columns->indicators;
        marks->holding[i / MASK_BITS] = mask_below_level(in[RSI] + i, RSI_LEAVES, n);
        marks->flat[i / MASK_BITS] = mask_above_level(in[RSI] + i, RSI_ENTERS, n) &
                                     mask_above(in[EMA] + i, in[SMA] + i, n) &
                                     mask_above_level(in[HIST] + i, 0, n);
    }
}

static const struct strategy five = {.name = "five",
                                     .summary = "all five confirm",
                                     .specs = five_specs,
                                     .on_bar = five_bar,
                                     .scan = five_scan};

static const struct strategy *find(const char *name)
{
    char err[300];
    const struct strategy *found = NULL;
    if (strcmp(name, five.name) == 0)
        return &five;
    if (strategy_open(name, &found, err, sizeof err) < 0)
        fprintf(stderr, "backtest_runs: %s\n", err);
    return found;
}

static struct account_spec account_of(const char *strategy)
{
    struct account_spec spec = {.name = "bench",
                                .currency = "USDT",
                                .currency_scale = 8,
                                .cash = INT64_C(100000000000000), /* a million */
                                .rules = {.fees = {1000, 1000}},
                                .strategy = find(strategy)};
    strategy_defaults(spec.strategy, spec.params);
    if (strcmp(strategy, "sma-cross") == 0)
        strategy_set(spec.strategy, spec.params, "slow", "50", NULL);
    return spec;
}

static int fail(const char *why)
{
    fprintf(stderr, "backtest_runs: %s\n", why);
    return EXIT_FAILURE;
}

static int run(const char *strategy, int threads, const char *cache, const char *const *files, int n_files)
{
    char err[MARKET_ERROR_MAX];
    struct market *market;
    struct market_load load;
    const struct market_options options = {.cache = cache, .threads = threads};
    double started = bench_seconds();
    if (market_store_load_files(files, (size_t)n_files, &options, &market, &load, err) < 0)
        return fail(err);
    double loaded = bench_seconds() - started;
    const struct account_spec account = account_of(strategy);
    struct backtest_config config = {
        .market = market, .to = market->rows, .accounts = &account, .n_accounts = 1, .threads = threads};
    const struct report_config what = {.benchmark = REPORT_BENCHMARK_NONE, .drawdowns = 5};
    double first = 0, best = INFINITY, stages[BACKTEST_STAGES] = {0}, all = bench_seconds();
    size_t n_fills = 0, n_trades = 0, peak = 0;
    double final = 0, sharpe = 0;
    const char *way = "";
    for (int i = 0; i < REPETITIONS && (i < 3 || bench_seconds() - all < SECONDS); i++) {
        struct backtest backtest;
        struct backtest_report report;
        started = bench_seconds();
        if (backtest_run(&config, &backtest, err, sizeof err) < 0)
            return fail(err);
        double ran = bench_seconds();
        if (backtest_report(&config, &backtest, 0, &what, &report) < 0)
            return fail("no memory for the report");
        double took = bench_seconds() - started;
        backtest.seconds[STAGE_METRICS] = started + took - ran;
        if (i == 0) {
            first = took;
            peak = bench_peak_bytes();
        }
        if (took < best) {
            best = took;
            memcpy(stages, backtest.seconds, sizeof stages);
        }
        n_fills = backtest.accounts[0].n_fills;
        n_trades = backtest.accounts[0].n_trades;
        final = report.final_equity;
        sharpe = report.metrics.sharpe;
        way = backtest.accounts[0].way == BACKTEST_COLUMNS ? "columns" : "engine";
        backtest_report_finish(&report);
        backtest_finish(&backtest);
    }
    printf("{\"way\":\"%s\",\"cached\":%s,\"load_s\":%.6f,\"first_s\":%.6f,\"best_s\":%.9f,"
           "\"indicators_s\":%.9f,\"signals_s\":%.9f,\"simulate_s\":%.9f,\"metrics_s\":%.9f,"
           "\"bars\":%zu,\"market_bytes\":%zu,\"peak_bytes\":%zu,\"fills\":%zu,\"trades\":%zu,"
           "\"final_equity\":%.8f,\"sharpe\":%.12g}\n",
           way, load.cached ? "true" : "false", loaded, first, best, stages[STAGE_INDICATORS],
           stages[STAGE_SIGNALS], stages[STAGE_SIMULATE], stages[STAGE_METRICS],
           market->rows * (size_t)market->n_symbols, market->bytes, peak, n_fills, n_trades, final, sharpe);
    market_store_close(market);
    return EXIT_SUCCESS;
}

/* Processor time of a run on one thread, the least of some; the first has warmed caches up. */
static int cpu(const char *strategy, const char *way, const char *cache, const char *file)
{
    char err[MARKET_ERROR_MAX];
    struct market *market;
    struct market_load load;
    const struct market_options options = {.cache = cache, .threads = 1};
    if (market_store_load_files(&file, 1, &options, &market, &load, err) < 0)
        return fail(err);
    const struct account_spec account = account_of(strategy);
    const struct backtest_config config = {.market = market,
                                           .to = market->rows,
                                           .accounts = &account,
                                           .n_accounts = 1,
                                           .way = *way == 'e' ? BACKTEST_ENGINE : BACKTEST_COLUMNS,
                                           .threads = 1};
    double best = INFINITY;
    int64_t final = 0;
    size_t n_fills = 0;
    for (int i = 0; i < CPU_RUNS; i++) {
        struct backtest backtest;
        double started = bench_cpu_seconds();
        for (int k = 0; k < (*way == 'e' ? 1 : CPU_BATCH); k++) {
            if (k > 0)
                backtest_finish(&backtest);
            if (backtest_run(&config, &backtest, err, sizeof err) < 0)
                return fail(err);
        }
        double took = (bench_cpu_seconds() - started) / (*way == 'e' ? 1 : CPU_BATCH);
        best = i > 0 && took < best ? took : best;
        n_fills = backtest.accounts[0].n_fills;
        final = backtest.accounts[0].final_equity;
        backtest_finish(&backtest);
    }
    printf("{\"cpu_s\":%.9f,\"fills\":%zu,\"final_equity\":%" PRId64 "}\n", best, n_fills, final);
    market_store_close(market);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "cpu") == 0 && find(argv[2]))
        return cpu(argv[2], argv[3], argv[4], argv[5]);
    if (argc == 5 && strcmp(argv[1], "walk") == 0)
        return walk(argv[2], strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
    if (argc >= 6 && strcmp(argv[1], "run") == 0 && find(argv[2]))
        return run(argv[2], atoi(argv[3]), argv[4], (const char *const *)argv + 5, argc - 5);
    fputs(
        "usage: backtest_runs walk FILE BARS SEED, run STRATEGY THREADS CACHE FILE…, or cpu STRATEGY engine|columns "
        "CACHE FILE\n",
        stderr);
    return 2;
}
