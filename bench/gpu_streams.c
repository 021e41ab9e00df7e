/* How long a closed bar of n symbols takes through their streams, on the CPU and on the GPU; one JSON line a
 * figure (see bench/run for the keys), each number of symbols apart (bench/cases.h). Without a device the
 * CPU's figures alone, and exit 77. Arguments: the module's path; the name of one case (SET-N), or all.
 *
 * Cases, for 1, 50 and 500 symbols (and others, to find where the GPU overtakes):
 * - cpu-SET-N-p50, -p99: seconds for a bar of each of N symbols through indicator_stream_update(), one core
 * - gpu-SET-N-p50, -p99: the same through gpu_streams_update(): upload, launch, download
 * - crossover-SET: the least N of the ladder from which on the GPU's p50 is below the CPU's
 * SET is `five` (sma:20 ema:14 rsi:14 macd:12,26,9 atr:14) or `all` (every row with its defaults).
 *
 * Prediction for an H100 beside the CPU figures of docs/gpu-results.md: a call is two copies of a few
 * kilobytes and a launch, 4 us each, and the longest row's step. `five` steps SMA's 20 cells: 14 us at 1 and
 * 50 symbols, 16 at 500. `all` runs rows of 30 cells and sorted windows from L2: 25 us, and 35 at 500, where
 * 200 KB come down as well. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/cases.h"
#include "bench/line.h"
#include "bench/measure.h"
#include "bench/module.h"
#include "indicators_gpu/indicator_rows.h"
#include "indicators_gpu/module.h"

enum { SPECS_MAX = INDICATOR_IDS };

static const double CASE_S = 15;
static const char *const bench = "gpu_streams";

static const size_t ladder[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000};
enum { LADDER = sizeof(ladder) / sizeof(ladder[0]) };

struct set {
    const char *name;
    size_t n;
    struct indicator_spec specs[SPECS_MAX];
};

struct latency {
    double p50, p99;
};

/* n symbols and what a call of all of them needs. */
struct market {
    size_t n;
    uint32_t *symbols;
    struct indicator_bar *bars;
    uint64_t seed;
};

static struct market market_make(size_t n)
{
    struct market m = {n, bench_room(n, sizeof(uint32_t)), bench_room(n, sizeof(struct indicator_bar)),
                       20240808};
    for (size_t s = 0; s < n; s++) {
        m.symbols[s] = (uint32_t)s;
        m.bars[s].close = 50000.0;
        m.bars[s].time = 1.7e9;
    }
    return m;
}

static void market_next(struct market *m)
{
    for (size_t s = 0; s < m->n; s++) {
        struct indicator_bar *b = &m->bars[s];
        double close = b->close * (1.0 + 0.002 * (bench_uniform(&m->seed) - 0.5));
        *b = (struct indicator_bar){
            .open = b->close,
            .high = fmax(b->close, close) * 1.0005,
            .low = fmin(b->close, close) * 0.9995,
            .close = close,
            .volume = 10.0 * bench_uniform(&m->seed),
            .time = b->time + 60.0,
        };
    }
}

static void market_free(struct market *m)
{
    free(m->symbols);
    free(m->bars);
}

/* Sorts and takes the median and the 99th percentile. */
static struct latency latency_of(double times[], size_t n)
{
    qsort(times, n, sizeof(*times), bench_by_value);
    return (struct latency){times[n / 2], times[n * 99 / 100]};
}

/* Bars before the first that is timed. */
static size_t warm_bars(void)
{
    return bench_small() ? 5 : 300;
}

/* Fewer rounds for what takes long. */
static size_t rounds_of(size_t symbols)
{
    return bench_small() ? 5 : symbols > 500 ? 300 : 1000;
}

static struct latency cpu_latency(const struct set *set, size_t n)
{
    struct market m = market_make(n);
    size_t n_streams = n * set->n, rounds = rounds_of(n), warm = warm_bars();
    struct indicator_stream **streams = bench_room(n_streams, sizeof(struct indicator_stream *));
    double *times = bench_room(rounds, sizeof(double)), out[INDICATOR_OUTPUTS_MAX];
    for (size_t i = 0; i < n_streams; i++)
        if (indicator_stream_open(&set->specs[i % set->n], &streams[i]) < 0)
            exit(EXIT_FAILURE);
    for (size_t round = 0; round < warm + rounds; round++) {
        market_next(&m);
        double begin = bench_seconds();
        for (size_t i = 0; i < n_streams; i++)
            indicator_stream_update(streams[i], &m.bars[i / set->n], out);
        if (round >= warm)
            times[round - warm] = bench_seconds() - begin;
    }
    struct latency l = latency_of(times, rounds);
    for (size_t i = 0; i < n_streams; i++)
        indicator_stream_close(streams[i]);
    free(streams);
    free(times);
    market_free(&m);
    return l;
}

static int gpu_latency(struct gpu_module *module, const struct set *set, size_t n, struct latency *ret)
{
    struct market m = market_make(n);
    size_t rounds = rounds_of(n), warm = warm_bars();
    struct gpu_streams *streams = NULL;
    double *times = bench_room(rounds, sizeof(double)), *out = NULL;
    uint8_t *ready = bench_room(n, set->n);
    char reason[GPU_REASON_MAX];
    int r = gpu_streams_create(module, n, set->specs, set->n, &streams, reason, sizeof(reason));
    if (r == 0)
        out = bench_room(n * gpu_streams_outputs(streams), sizeof(double));
    for (size_t round = 0; round < warm + rounds && r == 0; round++) {
        market_next(&m);
        double begin = bench_seconds();
        r = gpu_streams_update(streams, m.symbols, m.bars, n, out, ready, reason, sizeof(reason));
        if (round >= warm)
            times[round - warm] = bench_seconds() - begin;
    }
    if (r < 0)
        r = bench_because("%s", reason);
    else
        *ret = latency_of(times, rounds);
    gpu_streams_destroy(streams);
    free(times);
    free(out);
    free(ready);
    market_free(&m);
    return r;
}

static void print_latency(const char *where, const char *name, struct latency l, const struct latency *peer)
{
    const double values[] = {l.p50, l.p99}, peers[] = {peer ? peer->p50 : 0, peer ? peer->p99 : 0};
    for (int k = 0; k < 2; k++) {
        char whole[BENCH_CASE_MAX + 20];
        snprintf(whole, sizeof(whole), "%s-%s-%s", where, name, k == 0 ? "p50" : "p99");
        bench_line_value(bench, whole, values[k], "s");
        if (peer)
            bench_line_peer("CPU, one core", peers[k], peers[k] / values[k]);
        bench_line_end();
    }
}

/* ---- cases ---- */

enum { SETS = 2 };
static struct set sets[SETS] = {{.name = "five"}, {.name = "all"}};

/* What is known of a number of symbols: shared with the parent, who looks for the crossover. */
enum known { NOTHING, SLOWER, FASTER };
struct results {
    enum known known[SETS][LADDER];
    bool no_device;
};

struct place {
    const char *path;
    struct gpu_module *module; /* NULL: the CPU alone */
    struct results *results;
};

static void name_of(int i, char ret[static BENCH_CASE_MAX])
{
    snprintf(ret, BENCH_CASE_MAX, "%s-%zu", sets[i / LADDER].name, ladder[i % LADDER]);
}

static int open_place(void *ctx)
{
    struct place *p = ctx;
    const int r = bench_module_open(p->path, &p->module);
    p->results->no_device = r == BENCH_SKIP;
    return r == BENCH_SKIP ? 0 : r;
}

static void close_place(void *ctx)
{
    struct place *p = ctx;
    gpu_module_close(p->module);
}

static int run_case(void *ctx, int i)
{
    struct place *p = ctx;
    const struct set *set = &sets[i / LADDER];
    const size_t n = ladder[i % LADDER];
    struct latency cpu = cpu_latency(set, n), gpu = {0, 0};
    char name[BENCH_CASE_MAX];
    name_of(i, name);
    print_latency("cpu", name, cpu, NULL);
    if (!p->module)
        return 0;
    if (gpu_latency(p->module, set, n, &gpu) < 0)
        return -1;
    print_latency("gpu", name, gpu, &cpu);
    p->results->known[i / LADDER][i % LADDER] = gpu.p50 < cpu.p50 ? FASTER : SLOWER;
    return 0;
}

/* The least number from which on the GPU was faster; 0: none. Unknown, and no line, where one is missing. */
static void print_crossover(const struct results *results, int set)
{
    size_t crossover = 0;
    char name[BENCH_CASE_MAX];
    for (size_t i = 0; i < LADDER; i++) {
        if (results->known[set][i] == NOTHING)
            return;
        if (results->known[set][i] == SLOWER)
            crossover = 0;
        else if (crossover == 0)
            crossover = ladder[i];
    }
    snprintf(name, sizeof(name), "crossover-%s", sets[set].name);
    bench_line_figure(bench, name, (double)crossover, "symbols");
}

int main(int argc, char **argv)
{
    static const char *const five[] = {"sma:20", "ema:14", "rsi:14", "macd:12,26,9", "atr:14"};
    char reason[GPU_REASON_MAX];
    size_t n_rows;
    const struct indicator *const *rows = indicator_rows(&n_rows);
    for (size_t i = 0; i < sizeof(five) / sizeof(five[0]); i++)
        if (indicator_spec_parse(five[i], &sets[0].specs[sets[0].n++], reason, sizeof(reason)) < 0)
            return EXIT_FAILURE;
    for (size_t i = 0; i < n_rows; i++)
        if (indicator_spec_parse(rows[i]->name, &sets[1].specs[sets[1].n++], reason, sizeof(reason)) < 0)
            return EXIT_FAILURE;
    struct place place = {.path = argc > 1 ? argv[1] : NULL, .results = bench_shared(sizeof(*place.results))};
    const struct bench_cases all = {bench,      SETS * LADDER, CASE_S,      false, name_of,
                                    open_place, run_case,      close_place, &place};
    int status = bench_cases_run(&all, argc, argv);
    for (int set = 0; set < SETS; set++)
        print_crossover(place.results, set);
    return status == EXIT_SUCCESS && place.results->no_device ? BENCH_SKIP : status;
}
