/* Screens of many parameter sets, timed: bench/sweep builds and runs it.
 *
 *   sweep_runs CASE THREADS CACHE FILE    CASE: cross, lean, risk, triple; million; one JSON object
 *
 * A case is repeated while some seconds last: the quickest repetition counts, by the clock and by the
 * processor's time, since others may share the machine.
 *
 * What to expect. A bar-step is one bar of one parameter set. Sixteen sets are one vector. A bar in which one
 * of them holds something takes: a load of the slow average (64 bytes, from the first cache: a tile of 16 KiB
 * is read by some hundred groups), broadcasts of the fast one and of the close, two comparisons, some six
 * operations on bits; equity 1 multiply-add; return 2; its inverse 4 with the estimate; moments 1 + 1 + 1 + 1
 * + 1; downside and losses 3; drawdown 5: 23 operations of 64 bytes, which this processor does at two of 32
 * bytes a cycle each for additions and for products: some 13 to 16 cycles, 1 a bar-step. A bar in which none
 * holds anything takes 4. A trade takes some 40 cycles an order, one at a time, and a mispredicted jump for
 * the bar: with 20 orders in 1,000 bars 16 * 0.02 * 40 = 13 cycles a bar. At 3.5 GHz that is 20 cycles for 16
 * bar-steps, 2.8e9 a second; the lean kernel, whose 13 operations take 8 cycles, 3.5e9. Stops and profits add
 * two loads, two comparisons and their orders: 2e9. Memory: columns are computed once for all sets, 300
 * doubles a bar; a group's 7 KiB are read and written every 256 bars, 28 bytes a bar, 1.8 a bar-step, from
 * the second cache: under 2 cycles a bar. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "engine/backtest/screen/internal.h"
#include "strategy/strategy.h"

enum { REPETITIONS = 50 };
static const double SECONDS = 6;

#if HAVE_AVX_SETS
extern screen_walk_function *const sweep_lean_baseline, *const sweep_lean_avx2, *const sweep_lean_avx512;
#else
extern screen_walk_function *const sweep_lean_baseline;
#endif

static screen_walk_function *lean(void)
{
#if HAVE_AVX_SETS
    enum indicator_isa isa = indicator_isa_best();
    return isa == INDICATOR_ISA_AVX512 ? sweep_lean_avx512
           : isa == INDICATOR_ISA_AVX2 ? sweep_lean_avx2
                                       : sweep_lean_baseline;
#else
    return sweep_lean_baseline;
#endif
}

static const struct grid_case {
    const char *name, *strategy, *axes[3];
} cases[] = {
    {"cross", "sma-cross", {"fast=5:104", "slow=110:309"}},
    {"lean", "sma-cross", {"fast=5:104", "slow=110:309"}},
    {"risk", "sma-cross-rsi-risk", {"fast=5:104", "slow=110:309:10", "stop_atr=2:6.5:0.5"}},
    {"triple", "triple-confirmation", {"fast=5:104", "slow=110:309:10", "rsi_min=40:49"}},
    {"million", "sma-cross", {"fast=1:500", "slow=501:2500", NULL}},
};

struct sweep_case {
    struct backtest_grid grid;
    struct account_spec account;
    struct backtest_config config;
};

static bool get(void *ctx, size_t set, double params[static STRATEGY_PARAMS_MAX])
{
    const struct sweep_case *of = ctx;
    return backtest_grid_set(&of->grid, of->account.strategy, set, params);
}

static int fail(const char *why)
{
    fprintf(stderr, "sweep_runs: %s\n", why);
    return EXIT_FAILURE;
}

static int open_case(const struct grid_case *named, struct market *market, int threads, struct sweep_case *of)
{
    char err[BACKTEST_GRID_ERROR_MAX];
    of->account = (struct account_spec){.name = "bench",
                                        .currency = "USDT",
                                        .currency_scale = 8,
                                        .cash = INT64_C(100000000000000), /* a million */
                                        .rules = {.fees = {1000, 1000}},
                                        .strategy = strategy_find(named->strategy)};
    strategy_defaults(of->account.strategy, of->account.params);
    of->config = (struct backtest_config){.market = market, .to = market->rows, .threads = threads};
    for (int i = 0; i < 3 && named->axes[i]; i++)
        if (backtest_grid_add(&of->grid, of->account.strategy, named->axes[i], err) < 0)
            return fail(err);
    return 0;
}

/* Screens all sets again and again. */
static int time_screen(const struct grid_case *named, struct sweep_case *of)
{
    struct screen_set thin = *backtest_screen_set(indicator_isa_best());
    size_t n = backtest_grid_count(&of->grid);
    struct screen_row *rows = bench_room(n, sizeof *rows);
    struct screen screen = {.config = &of->config,
                            .account = &of->account,
                            .n = n,
                            .get = get,
                            .ctx = of,
                            .threads = of->config.threads};
    char err[256];
    thin.walk[SCREEN_CROSS] = lean();
    if (strcmp(named->name, "lean") == 0)
        screen.set = &thin;
    double best = INFINITY, best_cpu = INFINITY, began = bench_seconds(), fills = 0, best_sharpe = -INFINITY;
    for (int i = 0; i < REPETITIONS && (i < 3 || bench_seconds() - began < SECONDS); i++) {
        double started = bench_seconds(), cpu = bench_cpu_seconds();
        if (backtest_screen_run(&screen, rows, err, sizeof err) < 0)
            return fail(err);
        best_cpu = fmin(best_cpu, bench_cpu_seconds() - cpu);
        best = fmin(best, bench_seconds() - started);
    }
    for (size_t i = 0; i < n; i++) {
        fills += rows[i].fills;
        best_sharpe = fmax(best_sharpe, rows[i].metrics[SWEEP_SHARPE]);
    }
    double steps = (double)n * (double)of->config.to;
    printf("{\"sets\": %zu, \"bars\": %zu, \"seconds\": %.6f, \"cpu_seconds\": %.6f, \"steps\": %.0f, "
           "\"orders_per_1000\": %.3f, \"best_sharpe\": %.6f, \"isa\": \"%s\", \"peak_bytes\": %zu}\n",
           n, of->config.to, best, best_cpu, steps, 1000 * fills / steps, best_sharpe,
           indicator_isa_name(indicator_isa_best()), bench_peak_bytes());
    free(rows);
    return EXIT_SUCCESS;
}

/* The whole sweep, the best ten run exactly, once. */
static int time_sweep(struct sweep_case *of)
{
    const struct backtest_sweep sweep = {
        .config = &of->config, .account = &of->account, .grid = &of->grid, .top = 10, .metric = SWEEP_SHARPE};
    struct sweep_results results;
    char err[256];
    double started = bench_seconds(), cpu = bench_cpu_seconds();
    if (backtest_sweep_run(&sweep, &results, err, sizeof err) < 0)
        return fail(err);
    printf("{\"sets\": %zu, \"bars\": %zu, \"seconds\": %.6f, \"cpu_seconds\": %.6f, \"exact\": %zu, "
           "\"peak_bytes\": %zu}\n",
           results.n, of->config.to, bench_seconds() - started, bench_cpu_seconds() - cpu, results.exact,
           bench_peak_bytes());
    backtest_sweep_finish(&results);
    return EXIT_SUCCESS;
}

static int run(const char *name, int threads, const char *cache, const char *file)
{
    char err[MARKET_ERROR_MAX];
    struct market *market;
    struct market_load load;
    const struct market_options options = {.cache = cache, .threads = threads};
    if (market_store_load_files(&file, 1, &options, &market, &load, err) < 0)
        return fail(err);
    int status = EXIT_FAILURE;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sweep_case of = {0};
        if (strcmp(cases[i].name, name) != 0)
            continue;
        status = open_case(&cases[i], market, threads, &of);
        if (status == 0)
            status = strcmp(name, "million") == 0 ? time_sweep(&of) : time_screen(&cases[i], &of);
        backtest_grid_finish(&of.grid);
    }
    market_store_close(market);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return fail("usage: sweep_runs CASE THREADS CACHE FILE");
    return run(argv[1], atoi(argv[2]), argv[3], argv[4]);
}
