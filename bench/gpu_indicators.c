/* The indicators on the GPU, one JSON line a figure (see bench/run for the keys). Exit 77 without a device.
 *
 * Cases over sma:20, ema:14, rsi:14, macd:12,26,9 and atr:14 (3 columns in, 7 out), f64 or f32 by what the
 * device's columns hold; data and results stay on the device, except for "trip":
 * - copy: within the device's memory, 1 GiB: the limit of the others
 * - five-256x100000-PRECISION-METHOD: 256 symbols of 100,000 bars
 * - five-1x1000000-PRECISION-METHOD: one series of 1,000,000 bars
 * - five-1x1000000-PRECISION-trip: the same from pageable host memory and back, parallel
 * - out-of-memory: until the CPU has the results of 1,000,000 bars after the device has refused them
 * - row-1x1000000-NAME: each row with its defaults, exact
 *
 * `value` is bars a second (a bar: all indicators of it), `limit` what the measured copy rate allows for each
 * byte in and out once, the peer indicator_compute() with the same precision on one core of this machine.
 *
 * Predictions for an H100 (3.0 TB/s by copy, 132 processors at 1.7 GHz); bytes and operations are counted in
 * cuda/fused.h:
 * - 256x100000 parallel f64: 80 bytes a bar, 0.68 ms of copying. Four blocks a processor keep 1.5 tiles of 24
 *   KB in flight where 18 KB suffice, and their other phases overlap: 65 to 75 %, 2.6e10 bars/s
 * - 256x100000 parallel f32: half the bytes and the same work, which then takes about as long: 60 %, 4.5e10
 * - 1x1000000 parallel: 977 tiles on 528 places are two rounds of some 12 us (a tile's chain: load 2, join
 * and publish 2, look back ten tiles 2, run and write 4), the launch and a memset 8: 30 us in either
 * precision
 * - 1x1000000 exact: segments as long as their run-ins, so each bar is stepped twice. MACD's 954 bars twice
 * at 0.25 us are the longest chain: 0.5 ms, 2e9 bars/s
 * - 256x100000 exact: 1280 jobs in 32,768 walks of about 4,700 bars: 2 ms, 1.2e10 bars/s
 * - trips: 24 MB up and 56 MB down (12 and 28 in f32) at 10 GB/s pageable: 8 and 5 ms (f32 is converted on
 *   the host) */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "indicators_gpu/indicator_rows.h"
#include "indicators_gpu/module.h"

enum { EXIT_SKIP = 77, ROUNDS = 15, SPECS = 5, SPEC_OUTPUTS = 7 };

#define COPY_BYTES ((size_t)1 << 30)

static const char *const texts[SPECS] = {"sma:20", "ema:14", "rsi:14", "macd:12,26,9", "atr:14"};

struct data {
    size_t n_series, n_bars;
    double *values; /* six columns of each series */
    struct indicator_columns *series;
};

static struct data make_data(size_t n_series, size_t n_bars)
{
    struct data d = {n_series, n_bars, bench_room(n_series * n_bars * INDICATOR_COLUMNS, sizeof(double)),
                     bench_room(n_series, sizeof(struct indicator_columns))};
    uint64_t seed = 20240808;
    for (size_t s = 0; s < n_series; s++) {
        double *c = d.values + s * INDICATOR_COLUMNS * n_bars, price = 50000.0;
        double *open = c, *high = c + n_bars, *low = c + 2 * n_bars, *close = c + 3 * n_bars;
        double *volume = c + 4 * n_bars, *stamp = c + 5 * n_bars;
        for (size_t i = 0; i < n_bars; i++) {
            open[i] = price;
            price *= 1.0 + 0.002 * (bench_uniform(&seed) - 0.5);
            close[i] = price;
            high[i] = fmax(open[i], price) * 1.0005;
            low[i] = fmin(open[i], price) * 0.9995;
            volume[i] = 10.0 * bench_uniform(&seed);
            stamp[i] = 1.7e9 + 60.0 * (double)i;
        }
        d.series[s] = (struct indicator_columns){open, high, low, close, volume, stamp};
    }
    return d;
}

static void free_data(struct data *d)
{
    free(d->values);
    free(d->series);
}

/* The first series by indicator_compute(): seconds, best of three, or NaN. */
static double cpu_seconds(const struct indicator_spec specs[], size_t n_specs,
                          enum indicator_precision precision, const struct data *d)
{
    size_t each = precision == INDICATOR_F32 ? sizeof(float) : sizeof(double), n = d->n_bars, n_out = 0;
    const double *const in[INDICATOR_COLUMNS] = {d->series->open,  d->series->high,   d->series->low,
                                                 d->series->close, d->series->volume, d->series->time};
    struct indicator_request request = {.precision = precision, .n_specs = n_specs, .specs = specs};
    void *columns[INDICATOR_COLUMNS], *out[INDICATOR_IDS * INDICATOR_OUTPUTS_MAX];
    double best = INFINITY;
    char err[200];
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        bool narrow = precision == INDICATOR_F32 && 1u << c != INDICATOR_TIME;
        columns[c] = aligned_alloc(64, (n * sizeof(double) + 63) / 64 * 64);
        for (size_t i = 0; i < n && columns[c]; i++)
            if (narrow)
                ((float *)columns[c])[i] = (float)in[c][i];
            else
                ((double *)columns[c])[i] = in[c][i];
        request.columns[c] = (struct indicator_column){columns[c], n};
    }
    for (size_t i = 0; i < n_specs; i++)
        for (size_t k = 0; k < specs[i].row->n_outputs; k++)
            out[n_out++] = aligned_alloc(64, (n * each + 63) / 64 * 64);
    request.out = out;
    for (int round = 0; round < 3; round++) {
        double begin = bench_seconds();
        if (indicator_compute(&request, err, sizeof(err)) < 0)
            best = NAN;
        best = fmin(best, bench_seconds() - begin);
    }
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        free(columns[c]);
    for (size_t k = 0; k < n_out; k++)
        free(out[k]);
    return best;
}

static void print_rate(const char *name, const struct gpu_batch *batch, const struct data *d, double device_s,
                       double copy_rate)
{
    size_t cell = batch->precision == INDICATOR_F32 ? sizeof(float) : sizeof(double), bytes = 0;
    unsigned inputs = 0;
    for (size_t i = 0; i < batch->n_specs; i++) {
        inputs |= batch->specs[i].row->inputs;
        bytes += batch->specs[i].row->n_outputs * cell;
    }
    for (unsigned c = 0; c < INDICATOR_COLUMNS; c++)
        if (inputs & 1u << c)
            bytes += 1u << c == INDICATOR_TIME ? sizeof(double) : cell;
    double rate = (double)d->n_series * (double)d->n_bars / device_s, limit = copy_rate / (double)bytes;
    double peer = (double)d->n_bars / cpu_seconds(batch->specs, batch->n_specs, batch->precision, d);
    printf("{\"bench\":\"gpu_indicators\",\"case\":\"%s\",\"value\":%.6g,\"unit\":\"bars/s\","
           "\"peer\":\"indicator_compute, one core\",\"peer_value\":%.6g,\"ratio\":%.4g,\"limit\":%.6g,"
           "\"of_limit\":%.4g,\"seconds\":%.6g}\n",
           name, rate, peer, rate / peer, limit, rate / limit, device_s);
    fflush(stdout);
}

static const char *precision_name(enum indicator_precision precision)
{
    return precision == INDICATOR_F32 ? "f32" : "f64";
}

/* Loads the batch and runs it again and again; *ret_s is the median of the device's times. */
static int time_runs(struct gpu_module *module, const struct gpu_batch *batch, int rounds, double *ret_s)
{
    char reason[GPU_REASON_MAX];
    double ms[ROUNDS];
    float once = 0;
    int r = 0;
    for (int i = -1; i < rounds && r == 0; i++) { /* the first warms up */
        r = gpu_module_run(module, batch, &once, reason, sizeof(reason));
        if (i >= 0)
            ms[i] = once;
    }
    if (r < 0) {
        fprintf(stderr, "gpu_indicators: %zux%zu: %s\n", batch->n_series, batch->n_bars, reason);
        return r;
    }
    qsort(ms, (size_t)rounds, sizeof(ms[0]), bench_by_value);
    *ret_s = ms[rounds / 2] * 1e-3;
    return 0;
}

static int run_shape(struct gpu_module *module, const struct indicator_spec specs[SPECS],
                     enum indicator_precision precision, const struct data *d, double copy_rate)
{
    struct gpu_batch batch = {GPU_PARALLEL, d->n_series, d->n_bars, d->series, SPECS, specs, NULL, precision};
    char name[100], reason[GPU_REASON_MAX];
    double s = 0;
    int r = gpu_module_load(module, &batch, reason, sizeof(reason));
    if (r < 0) {
        fprintf(stderr, "gpu_indicators: %s\n", reason);
        return r;
    }
    for (int exact = 0; exact < 2 && r == 0; exact++) {
        batch.method = exact ? GPU_EXACT : GPU_PARALLEL;
        r = time_runs(module, &batch, ROUNDS, &s);
        snprintf(name, sizeof(name), "five-%zux%zu-%s-%s", d->n_series, d->n_bars, precision_name(precision),
                 exact ? "exact" : "parallel");
        if (r == 0)
            print_rate(name, &batch, d, s, copy_rate);
    }
    return r;
}

/* The five there and back, and without memory. */
static int run_trips(struct gpu_module *module, const struct indicator_spec specs[SPECS],
                     const struct data *d, double copy_rate)
{
    double *values = bench_room(SPEC_OUTPUTS * d->n_bars, sizeof(double)), *out[SPEC_OUTPUTS];
    struct gpu_batch batch = {GPU_PARALLEL, 1, d->n_bars, d->series, SPECS, specs, out, INDICATOR_F64};
    char reason[GPU_REASON_MAX] = "", name[100];
    int r = 0;
    for (size_t k = 0; k < SPEC_OUTPUTS; k++)
        out[k] = values + k * d->n_bars;
    for (enum indicator_precision p = INDICATOR_F64; p <= INDICATOR_F32 && r == 0; p++) {
        double best = INFINITY;
        batch.precision = p;
        for (int round = 0; round < 5 && r == 0; round++) {
            double begin = bench_seconds();
            r = gpu_module_compute(module, &batch, reason, sizeof(reason));
            best = fmin(best, bench_seconds() - begin);
        }
        snprintf(name, sizeof(name), "five-1x%zu-%s-trip", d->n_bars, precision_name(p));
        if (r == 0)
            print_rate(name, &batch, d, best, copy_rate);
    }
    batch.precision = INDICATOR_F64;
    if (r == 0) {
        gpu_module_limit(module, (size_t)1 << 20);
        double begin = bench_seconds();
        int refused = gpu_module_compute(module, &batch, reason, sizeof(reason));
        double refusal = bench_seconds() - begin, cpu = cpu_seconds(specs, SPECS, INDICATOR_F64, d);
        gpu_module_limit(module, 0);
        printf("{\"bench\":\"gpu_indicators\",\"case\":\"out-of-memory\",\"value\":%.6g,\"unit\":\"s\","
               "\"peer\":\"indicator_compute alone\",\"peer_value\":%.6g,\"ratio\":%.4g,\"errno\":%d,"
               "\"refused_after\":%.6g,\"reason\":\"%s\"}\n",
               refusal + cpu, cpu, cpu / (refusal + cpu), -refused, refusal, reason);
        r = refused == -ENOMEM ? gpu_module_compute(module, &batch, reason, sizeof(reason)) : -EIO;
    }
    if (r < 0)
        fprintf(stderr, "gpu_indicators: %s\n", reason);
    free(values);
    return r;
}

static int run_rows(struct gpu_module *module, const struct data *d, double copy_rate)
{
    size_t n_rows;
    const struct indicator *const *rows = indicator_rows(&n_rows);
    char name[100], reason[GPU_REASON_MAX];
    struct indicator_spec spec;
    struct gpu_batch batch = {GPU_EXACT, 1, d->n_bars, d->series, 1, &spec, NULL, INDICATOR_F64};
    double s = 0;
    int r = gpu_module_load(module, &batch, reason, sizeof(reason));
    for (size_t i = 0; i < n_rows && r == 0; i++) {
        r = indicator_spec_parse(rows[i]->name, &spec, reason, sizeof(reason));
        if (r == 0)
            r = time_runs(module, &batch, 1, &s);
        snprintf(name, sizeof(name), "row-1x%zu-%s", d->n_bars, rows[i]->name);
        if (r == 0)
            print_rate(name, &batch, d, s, copy_rate);
    }
    return r;
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
    printf("{\"bench\":\"gpu_indicators\",\"case\":\"copy\",\"value\":%.6g,\"unit\":\"B/s\","
           "\"device\":\"%s\"}\n",
           copy_rate, gpu_module_device(module));

    const size_t shapes[][2] = {{256, 100000}, {1, 1000000}};
    for (size_t i = 0; i < 2 && r == 0; i++) {
        struct data d = make_data(shapes[i][0], shapes[i][1]);
        for (enum indicator_precision p = INDICATOR_F64; p <= INDICATOR_F32 && r == 0; p++)
            r = run_shape(module, specs, p, &d, copy_rate);
        if (r == 0 && d.n_series == 1)
            r = run_trips(module, specs, &d, copy_rate);
        if (r == 0 && d.n_series == 1)
            r = run_rows(module, &d, copy_rate);
        free_data(&d);
    }
    gpu_module_close(module);
    return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
