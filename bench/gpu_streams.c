/* How long a closed bar of n symbols takes through their streams, on the CPU and on the GPU; one JSON line a
 * figure (see bench/run for the keys). Without a device the CPU's figures alone, and exit 77.
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

#include "bench/measure.h"
#include "indicators_gpu/indicator_rows.h"
#include "indicators_gpu/module.h"

enum { EXIT_SKIP = 77, WARM_BARS = 300, SPECS_MAX = INDICATOR_IDS };

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

/* Fewer rounds for what takes long. */
static size_t rounds_of(size_t symbols)
{
    return symbols > 500 ? 300 : 1000;
}

static struct latency cpu_latency(const struct set *set, size_t n)
{
    struct market m = market_make(n);
    size_t n_streams = n * set->n, rounds = rounds_of(n);
    struct indicator_stream **streams = bench_room(n_streams, sizeof(struct indicator_stream *));
    double *times = bench_room(rounds, sizeof(double)), out[INDICATOR_OUTPUTS_MAX];
    for (size_t i = 0; i < n_streams; i++)
        if (indicator_stream_open(&set->specs[i % set->n], &streams[i]) < 0)
            exit(EXIT_FAILURE);
    for (size_t round = 0; round < WARM_BARS + rounds; round++) {
        market_next(&m);
        double begin = bench_seconds();
        for (size_t i = 0; i < n_streams; i++)
            indicator_stream_update(streams[i], &m.bars[i / set->n], out);
        if (round >= WARM_BARS)
            times[round - WARM_BARS] = bench_seconds() - begin;
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
    size_t rounds = rounds_of(n);
    struct gpu_streams *streams = NULL;
    double *times = bench_room(rounds, sizeof(double)), *out = NULL;
    uint8_t *ready = bench_room(n, set->n);
    char reason[GPU_REASON_MAX];
    int r = gpu_streams_create(module, n, set->specs, set->n, &streams, reason, sizeof(reason));
    if (r == 0)
        out = bench_room(n * gpu_streams_outputs(streams), sizeof(double));
    for (size_t round = 0; round < WARM_BARS + rounds && r == 0; round++) {
        market_next(&m);
        double begin = bench_seconds();
        r = gpu_streams_update(streams, m.symbols, m.bars, n, out, ready, reason, sizeof(reason));
        if (round >= WARM_BARS)
            times[round - WARM_BARS] = bench_seconds() - begin;
    }
    if (r < 0)
        fprintf(stderr, "gpu_streams: %s of %zu symbols: %s\n", set->name, n, reason);
    else
        *ret = latency_of(times, rounds);
    gpu_streams_destroy(streams);
    free(times);
    free(out);
    free(ready);
    market_free(&m);
    return r;
}

static void print_latency(const char *where, const struct set *set, size_t n, const char *what, double value,
                          double peer)
{
    printf("{\"bench\":\"gpu_streams\",\"case\":\"%s-%s-%zu-%s\",\"value\":%.6g,\"unit\":\"s\"", where,
           set->name, n, what, value);
    if (peer > 0)
        printf(",\"peer\":\"CPU, one core\",\"peer_value\":%.6g,\"ratio\":%.4g", peer, peer / value);
    printf("}\n");
    fflush(stdout);
}

static int run_set(struct gpu_module *module, const struct set *set)
{
    size_t crossover = 0;
    int r = 0;
    for (size_t i = 0; i < LADDER && r == 0; i++) {
        size_t n = ladder[i];
        struct latency cpu = cpu_latency(set, n), gpu = {0, 0};
        print_latency("cpu", set, n, "p50", cpu.p50, 0);
        print_latency("cpu", set, n, "p99", cpu.p99, 0);
        if (!module)
            continue;
        r = gpu_latency(module, set, n, &gpu);
        if (r < 0)
            break;
        print_latency("gpu", set, n, "p50", gpu.p50, cpu.p50);
        print_latency("gpu", set, n, "p99", gpu.p99, cpu.p99);
        if (gpu.p50 >= cpu.p50)
            crossover = 0;
        else if (crossover == 0)
            crossover = n;
    }
    if (module && r == 0)
        printf("{\"bench\":\"gpu_streams\",\"case\":\"crossover-%s\",\"value\":%zu,\"unit\":\"symbols\"}\n",
               set->name, crossover);
    return r;
}

int main(int argc, char **argv)
{
    static const char *const five[] = {"sma:20", "ema:14", "rsi:14", "macd:12,26,9", "atr:14"};
    static struct set sets[2] = {{.name = "five"}, {.name = "all"}};
    struct gpu_module *module = NULL;
    char reason[GPU_REASON_MAX];
    size_t n_rows;
    const struct indicator *const *rows = indicator_rows(&n_rows);
    for (size_t i = 0; i < sizeof(five) / sizeof(five[0]); i++)
        if (indicator_spec_parse(five[i], &sets[0].specs[sets[0].n++], reason, sizeof(reason)) < 0)
            return EXIT_FAILURE;
    for (size_t i = 0; i < n_rows; i++)
        if (indicator_spec_parse(rows[i]->name, &sets[1].specs[sets[1].n++], reason, sizeof(reason)) < 0)
            return EXIT_FAILURE;
    if (gpu_module_open(argc > 1 ? argv[1] : NULL, &module, reason, sizeof(reason)) < 0) {
        fprintf(stderr, "gpu_streams: the CPU alone: %s\n", reason);
        module = NULL;
    }
    int r = run_set(module, &sets[0]);
    if (r == 0)
        r = run_set(module, &sets[1]);
    if (r < 0)
        return EXIT_FAILURE;
    if (!module)
        return EXIT_SKIP;
    gpu_module_close(module);
    return EXIT_SUCCESS;
}
