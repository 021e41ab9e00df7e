/* Sweeps of rule strategies on the GPU, one JSON line a figure (see bench/run for the keys), each case apart
 * (bench/cases.h). Exit 77 without a device. Arguments: the module's path; the name of one case, or all.
 *
 * Cases, bars and columns on the device unless they are what is timed:
 * - cross-SETSxBARS: sma-cross by 256 fast and 1,024 slow averages: equity, drawdown, moments, blocks, trades
 * - bracket-SETSxBARS: sma-cross-rsi-risk by the same averages, with a stop and a profit
 * - columns-COLUMNSxBARS: the averages as columns, RSI, MACD and ATR beside them
 * - best-SETS: the best 1,000 by the deflated Sharpe ratio, from the rows on: luck, then the selection
 * - workflow-8xBARSx8: of 8 symbols the indicators, 8 sets each, the best: all that a run repeats once its
 *   bars are on the device
 *
 * `value` is bar-steps a second (a bar of a set) or seconds, `goal` what is asked; `trades` of a set and
 * 1,000 bars.
 *
 * Predictions for an H100 (3.0 TB/s by copy, 132 processors at 1.7 GHz: 2.87e13 lanes' instructions a
 * second), operations by the kernels' PTX for sm_90:
 * - cross: a bar that is valued takes 62 instructions, 70 with what the reciprocal becomes, and one in which
 *   no set of the warp holds anything 35: 53 on average; a stretch's end 350 in 256 bars, 1.5. On this walk a
 *   set trades 2.7 times in 1,000 bars, and neighbours with it: in 2 % of a warp's bars one does, by 500
 *   instructions, half of them float64: 15 a bar. With 5 warps a scheduler, 80 % of the cycles issue: 70
 *   instructions, 3.3e11 bar-steps/s, 0.08 s. The goal of 5e11 leaves 46 instructions a bar. Bytes: 8 a
 *   bar-step from the L1, a line of slow averages and one value of a fast one for a warp; 4 from the L2,
 *   where a block reads 129 columns for 128 sets, 1.3 TB/s; from memory each column once for each of three
 *   rounds of blocks, 1.5 GB, 0.5 ms
 * - bracket: 12 instructions more a bar, fewer bars with a position, twice as many that trade, each with an
 *   entry of 150: 85 instructions, 2.7e11 bar-steps/s
 * - columns: a thread adds 1,281 closes, 12 cycles each, all at once: 10 us; 1.3e8 divisions in float64, 0.3
 *   ms; as many stores of 4 bytes, each in a sector of its own until the L2 has joined them, 2 ms. RSI, MACD
 *   and ATR by the exact walks 1 ms: 4e10 values/s
 * - best: of 262,144 rows of 256 bytes two sectors each, twice; 66 steps of a sort of 2,048 in shared memory,
 *   40 us; the 1,000 of each of 128 blocks are sorted on the host: 15 ms, all of it the host's
 * - workflow: of a symbol the indicators take 4 ms (five-1x1000000-f64-exact), and then 8 threads walk a
 *   million bars, one after the other: 110 cycles a bar, and 500 more for each line of four bars, which is
 *   asked for one bar ahead: 0.14 s a symbol, 1.2 s. That misses the goal of 50 ms by far: it needs all
 *   symbols in one launch, signs by all processors, and no step where signs and position stay as they are */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/cases.h"
#include "bench/line.h"
#include "bench/measure.h"
#include "bench/module.h"
#include "fixtures/screen_sets.h"

enum { TOP = 1000, SYMBOLS = 8, STRATEGIES = 8, ROUNDS = 3 };

static const double CASE_S = 60;
static const double GOAL_STEPS = 5e11, GOAL_WORKFLOW_S = 0.05;
static const char *const bench = "gpu_sweep";

enum kind { CROSS, BRACKET, COLUMNS, BEST, WORKFLOW, KINDS };

struct place {
    struct gpu_module *module;
    const char *module_path;
};

static size_t fasts(void)
{
    return bench_small() ? 16 : 256;
}

static size_t slows(void)
{
    return bench_small() ? 64 : 1024;
}

static size_t bars_of(enum kind kind)
{
    return bench_small() ? 3000 : kind == WORKFLOW ? 1000000 : 100000;
}

static void name_of(int i, char ret[static BENCH_CASE_MAX])
{
    const size_t sets = fasts() * slows(), bars = bars_of((enum kind)i);
    switch ((enum kind)i) {
    case CROSS:
        snprintf(ret, BENCH_CASE_MAX, "cross-%zux%zu", sets, bars);
        break;
    case BRACKET:
        snprintf(ret, BENCH_CASE_MAX, "bracket-%zux%zu", sets, bars);
        break;
    case COLUMNS:
        snprintf(ret, BENCH_CASE_MAX, "columns-%zux%zu", fasts() + slows(), bars);
        break;
    case BEST:
        snprintf(ret, BENCH_CASE_MAX, "best-%zu", sets);
        break;
    default:
        snprintf(ret, BENCH_CASE_MAX, "workflow-%dx%zux%d", SYMBOLS, bars, STRATEGIES);
        break;
    }
}

/* The median of the device's times; the first warms up. */
static int time_walks(struct screen_sets *sets, size_t n, double *ret_s)
{
    char reason[GPU_REASON_MAX];
    double ms[ROUNDS];
    float once = 0;
    for (int i = -1; i < ROUNDS; i++) {
        if (sets->api->walk(sets->screen, &sets->launch, sets->cases, n, &once, reason, sizeof reason) < 0)
            return bench_because("%s", reason);
        if (i >= 0)
            ms[i] = once;
    }
    qsort(ms, ROUNDS, sizeof *ms, bench_by_value);
    *ret_s = ms[ROUNDS / 2] * 1e-3;
    return 0;
}

/* Trades of 1,000 bars of a set, on average; NAN: rows that no screen has. */
static double trades_of(struct screen_sets *sets, size_t n)
{
    struct screen_row *rows = bench_room(n, sizeof *rows);
    char reason[GPU_REASON_MAX];
    double trades = 0;
    if (sets->api->rows(sets->screen, 0, n, rows, reason, sizeof reason) < 0)
        trades = NAN;
    for (size_t i = 0; i < n; i++)
        trades += rows[i].fills > 0 && isfinite(rows[i].metrics[SWEEP_SHARPE]) ? rows[i].trades : NAN;
    free(rows);
    return trades / (double)n / (double)sets->n_bars * 1000;
}

static int run_walk(struct screen_sets *sets, const char *name, enum screen_rule rule)
{
    const size_t n = sets->n_fast * sets->n_slow;
    double s = 0;
    screen_sets_launch(sets, rule, 0);
    if (time_walks(sets, n, &s) < 0)
        return -1;
    double steps = (double)n * (double)sets->n_bars, trades = trades_of(sets, n);
    if (!isfinite(trades))
        return bench_because("a set has no Sharpe ratio");
    bench_line_value(bench, name, steps / s, "bar-steps/s");
    bench_line_number("goal", GOAL_STEPS);
    bench_line_number("seconds", s);
    bench_line_number("trades", trades);
    bench_line_end();
    return 0;
}

static struct screen_ranking ranking(const struct screen_sets *sets)
{
    return (struct screen_ranking){
        .metric = SWEEP_DSR, .rows = (double)sets->n_bars, .year = sqrt(365.0 * 288), .expected = 0.005};
}

static int rank(const struct screen_sets *sets, size_t top, float *ret_ms)
{
    const struct screen_ranking by = ranking(sets);
    struct screen_ranked *ranked = bench_room(top, sizeof *ranked);
    struct screen_luck luck;
    char reason[GPU_REASON_MAX];
    size_t n = 0;
    float ms[2] = {0, 0};
    int r = sets->api->rank(sets->screen, &by, top, NULL, NULL, &luck, &ms[0], reason, sizeof reason);
    if (r == 0)
        r = sets->api->rank(sets->screen, &by, top, ranked, &n, &luck, &ms[1], reason, sizeof reason);
    free(ranked);
    *ret_ms = ms[0] + ms[1];
    return r < 0 ? bench_because("%s", reason) : 0;
}

static int run_best(struct screen_sets *sets, const char *name)
{
    const size_t n = sets->n_fast * sets->n_slow;
    char reason[GPU_REASON_MAX];
    double best = INFINITY;
    float ms = 0;
    screen_sets_launch(sets, SCREEN_CROSS, 0);
    if (sets->api->walk(sets->screen, &sets->launch, sets->cases, n, &ms, reason, sizeof reason) < 0)
        return bench_because("%s", reason);
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = bench_seconds();
        if (rank(sets, TOP, &ms) < 0)
            return -1;
        best = fmin(best, bench_seconds() - begin);
    }
    bench_line_value(bench, name, best, "s");
    bench_line_number("device_s", ms * 1e-3);
    bench_line_end();
    return 0;
}

static int run_columns(struct screen_sets *sets, const char *name)
{
    char reason[GPU_REASON_MAX];
    double best = INFINITY;
    float ms = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = bench_seconds();
        if (screen_sets_columns(sets, &ms, reason, sizeof reason) < 0)
            return bench_because("%s", reason);
        best = fmin(best, bench_seconds() - begin);
    }
    bench_line_value(bench, name, (double)sets->n_bars * (double)(sets->n_fast + sets->n_slow) / best,
                     "values/s");
    bench_line_number("seconds", best);
    bench_line_number("indicators_s", ms * 1e-3);
    bench_line_end();
    return 0;
}

/* A symbol's part: columns, walk, the best; its bars are loaded before. The module has one load at a time. */
static int workflow_symbol(struct place *p, size_t symbol, double *ret_s)
{
    struct screen_sets sets;
    char reason[GPU_REASON_MAX];
    float ms;
    int r = screen_sets_open(&sets, p->module, bars_of(WORKFLOW), 2, STRATEGIES / 2, symbol, reason,
                             sizeof reason);
    const double begin = bench_seconds();
    if (r == 0)
        r = screen_sets_columns(&sets, &ms, reason, sizeof reason);
    if (r == 0) {
        screen_sets_launch(&sets, SCREEN_CROSS_RISK, 0);
        r = sets.api->walk(sets.screen, &sets.launch, sets.cases, STRATEGIES, &ms, reason, sizeof reason);
    }
    if (r < 0)
        bench_because("%s", reason);
    else
        r = rank(&sets, STRATEGIES, &ms);
    *ret_s += bench_seconds() - begin;
    screen_sets_close(&sets);
    return r;
}

static int run_workflow(struct place *p, const char *name)
{
    double best = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        double s = 0;
        for (size_t symbol = 0; symbol < SYMBOLS; symbol++)
            if (workflow_symbol(p, symbol, &s) < 0)
                return -1;
        best = fmin(best, s);
    }
    bench_line_value(bench, name, best, "s");
    bench_line_number("goal", GOAL_WORKFLOW_S);
    bench_line_end();
    return 0;
}

static int run_sets(struct place *p, enum kind kind, const char *name)
{
    struct screen_sets sets;
    char reason[GPU_REASON_MAX];
    float ms;
    int r = screen_sets_open(&sets, p->module, bars_of(kind), fasts(), slows(), 32, reason, sizeof reason);
    if (r == 0 && kind != COLUMNS)
        r = screen_sets_columns(&sets, &ms, reason, sizeof reason);
    if (r < 0)
        bench_because("%s", reason);
    else if (kind == COLUMNS)
        r = run_columns(&sets, name);
    else if (kind == BEST)
        r = run_best(&sets, name);
    else
        r = run_walk(&sets, name, kind == CROSS ? SCREEN_CROSS : SCREEN_CROSS_RISK);
    screen_sets_close(&sets);
    return r < 0 ? -1 : 0;
}

static int run_case(void *ctx, int i)
{
    char name[BENCH_CASE_MAX];
    name_of(i, name);
    return i == WORKFLOW ? run_workflow(ctx, name) : run_sets(ctx, (enum kind)i, name);
}

static int open_place(void *ctx)
{
    struct place *p = ctx;
    return bench_module_open(p->module_path, &p->module);
}

static void close_place(void *ctx)
{
    struct place *p = ctx;
    gpu_module_close(p->module);
}

int main(int argc, char **argv)
{
    struct place place = {.module_path = argc > 1 ? argv[1] : NULL};
    const struct bench_cases all = {bench,      KINDS,    CASE_S,      false, name_of,
                                    open_place, run_case, close_place, &place};
    return bench_cases_run(&all, argc, argv);
}
