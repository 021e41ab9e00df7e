/* The indicators on the GPU, one JSON line a figure (see bench/run for the keys). Exit 77 without a device.
 *
 * Cases, all in float64 with the data on the device, over sma:20, ema:14, rsi:14, macd:12,26,9 and atr:14
 * (3 columns in, 7 out):
 * - copy: within the device's memory, 1 GiB: the limit of the others
 * - five-256x100000-parallel: 256 symbols of 100,000 bars, the parallel kernels
 * - five-256x100000-exact: the same by the exact kernels, which walk a series with one thread
 * - five-1x1000000-parallel, five-1x1000000-exact: one series of 1,000,000 bars
 *
 * `value` is bars a second (a bar: all five indicators of it), `limit` what the measured copy rate allows at
 * 80 bytes a bar, the peer indicator_reference() on one core of the same machine.
 *
 * Prediction, in bytes a bar: each column once, (3 + 7) * 8 = 80. As the kernels go:
 * - SMA 16 (in, out); EMA and RSI 24 each (in twice, out)
 * - ATR 56 (three in twice, out)
 * - MACD 72: 24 for the line, 24 for reading it three times more, 24 out
 *
 * Together 192, so at most 80/192 = 42 % of the limit where the data exceed the L2 cache. At 4.3 TB/s:
 * - 256x100000 parallel: 2.2e10 bars/s, 1.14 ms a batch
 * - 1x1000000 parallel: 80 MB partly stay in a 50 MB L2; 18.6 us for the bytes, but nine launches of a few us
 *   each: about 60 us, 1.7e10 bars/s
 * - exact: a step of the slowest rows is a chain of some 150 cycles at 1.8 GHz (Wilder's smoothing divides):
 *   about 1.2e7 bars/s a series whatever runs beside it, 3e9 for 256 series */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "indicators_gpu/module.h"

enum { EXIT_SKIP = 77, ROUNDS = 15, SPECS = 5, SPEC_OUTPUTS = 7 };

#define BYTES_PER_BAR 80.0
#define COPY_BYTES    ((size_t)1 << 30)

static const char *const texts[SPECS] = {"sma:20", "ema:14", "rsi:14", "macd:12,26,9", "atr:14"};

struct data {
    size_t n_series, n_bars;
    double *values; /* high, low, close of each series */
    struct indicator_columns *series;
};

static double uniform(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u); /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static struct data make_data(size_t n_series, size_t n_bars)
{
    struct data d = {n_series, n_bars, malloc(n_series * n_bars * 3 * sizeof(double)),
                     calloc(n_series, sizeof(struct indicator_columns))};
    uint64_t seed = 20240808;
    if (!d.values || !d.series) {
        fputs("gpu_indicators: out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    for (size_t s = 0; s < n_series; s++) {
        double *high = d.values + s * 3 * n_bars, *low = high + n_bars, *close = low + n_bars,
               price = 50000.0;
        for (size_t i = 0; i < n_bars; i++) {
            double open = price;
            price *= 1.0 + 0.002 * (uniform(&seed) - 0.5);
            close[i] = price;
            high[i] = (open > price ? open : price) * 1.0005;
            low[i] = (open < price ? open : price) * 0.9995;
        }
        d.series[s] = (struct indicator_columns){.high = high, .low = low, .close = close};
    }
    return d;
}

static void free_data(struct data *d)
{
    free(d->values);
    free(d->series);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Bars a second of the reference on one core, from the first series, best of three. */
static double reference_rate(const struct indicator_spec specs[SPECS], const struct data *d)
{
    double *columns = calloc(d->n_bars * SPEC_OUTPUTS, sizeof(double)), best = 0;
    if (!columns)
        return 0;
    for (int round = 0; round < 3; round++) {
        double begin = seconds(), *out[SPEC_OUTPUTS];
        for (size_t k = 0; k < SPEC_OUTPUTS; k++)
            out[k] = columns + k * d->n_bars;
        double **next = out;
        for (size_t i = 0; i < SPECS; next += specs[i++].row->n_outputs)
            if (indicator_reference(&specs[i], &d->series[0], d->n_bars, next) < 0)
                best = -1;
        double rate = (double)d->n_bars / (seconds() - begin);
        if (best >= 0 && rate > best)
            best = rate;
    }
    free(columns);
    return best;
}

static int run_case(struct gpu_module *module, enum gpu_method method,
                    const struct indicator_spec specs[SPECS], const struct data *d, double copy_rate)
{
    struct gpu_batch batch = {method, d->n_series, d->n_bars, d->series, SPECS, specs, NULL};
    char reason[GPU_REASON_MAX];
    double ms[ROUNDS];
    float once;
    int r = gpu_module_load(module, &batch, reason, sizeof(reason));
    for (int i = -1; i < ROUNDS && r == 0; i++) { /* the first warms up */
        r = gpu_module_run(module, &batch, &once, reason, sizeof(reason));
        if (i >= 0)
            ms[i] = once;
    }
    if (r < 0) {
        fprintf(stderr, "gpu_indicators: %zux%zu: %s\n", d->n_series, d->n_bars, reason);
        return r;
    }
    qsort(ms, ROUNDS, sizeof(ms[0]), by_value);
    double rate = (double)d->n_series * (double)d->n_bars / (ms[ROUNDS / 2] * 1e-3),
           limit = copy_rate / BYTES_PER_BAR;
    double peer = reference_rate(specs, d);
    printf("{\"bench\":\"gpu_indicators\",\"case\":\"five-%zux%zu-%s\",\"value\":%.6g,\"unit\":\"bars/s\","
           "\"peer\":\"indicator_reference, one core\",\"peer_value\":%.6g,\"ratio\":%.4g,\"limit\":%.6g,"
           "\"of_limit\":%.4g,\"device_ms\":%.6g}\n",
           d->n_series, d->n_bars, method == GPU_EXACT ? "exact" : "parallel", rate, peer, rate / peer, limit,
           rate / limit, ms[ROUNDS / 2]);
    return 0;
}

int main(int argc, char **argv)
{
    struct gpu_module *module;
    struct indicator_spec specs[SPECS];
    char reason[GPU_REASON_MAX];
    if (gpu_module_open(argc > 1 ? argv[1] : NULL, &module, reason, sizeof(reason)) < 0) {
        fprintf(stderr, "gpu_indicators: skipped: %s\n", reason);
        return EXIT_SKIP;
    }
    for (size_t i = 0; i < SPECS; i++)
        if (indicator_spec_parse(texts[i], &specs[i], reason, sizeof(reason)) < 0) {
            fprintf(stderr, "gpu_indicators: %s\n", reason);
            return EXIT_FAILURE;
        }
    double copy_rate;
    int r = gpu_module_copy_rate(module, COPY_BYTES, &copy_rate, reason, sizeof(reason));
    if (r < 0) {
        fprintf(stderr, "gpu_indicators: %s\n", reason);
        return EXIT_FAILURE;
    }
    printf("{\"bench\":\"gpu_indicators\",\"case\":\"copy\",\"value\":%.6g,\"unit\":\"B/"
           "s\",\"device\":\"%s\"}\n",
           copy_rate, gpu_module_device(module));

    const size_t shapes[][2] = {{256, 100000}, {1, 1000000}};
    for (size_t i = 0; i < 2 && r == 0; i++) {
        struct data d = make_data(shapes[i][0], shapes[i][1]);
        r = run_case(module, GPU_PARALLEL, specs, &d, copy_rate);
        if (r == 0)
            r = run_case(module, GPU_EXACT, specs, &d, copy_rate);
        free_data(&d);
    }
    gpu_module_close(module);
    return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
