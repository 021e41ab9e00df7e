/* The indicators on the GPU, one JSON line a figure (see bench/run for the keys), each case apart
 * (bench/cases.h). Exit 77 without a device. Arguments: the module's path; the name of one case, or all.
 *
 * Cases over sma:20, ema:14, rsi:14, macd:12,26,9 and atr:14 (3 columns in, 7 out), f64 or f32 by what the
 * device's columns hold; data and results stay on the device, except for "trip":
 * - copy: within the device's memory, 1 GiB: the limit of the others
 * - five-256x100000-PRECISION-METHOD: 256 symbols of 100,000 bars
 * - five-1x1000000-PRECISION-METHOD: one series of 1,000,000 bars
 * - five-1x1000000-PRECISION-trip: the same from pageable host memory and back, parallel
 * - out-of-memory: until the CPU has the results of 1,000,000 bars after the device has refused them
 * - row-1x1000000-NAME: each row with its defaults, exact, except the cycles: they never forget, and one
 *   thread would walk the bars for most of the bench's time
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

#include "bench/cases.h"
#include "bench/line.h"
#include "bench/measure.h"
#include "bench/module.h"
#include "indicators_gpu/indicator_rows.h"
#include "indicators_gpu/module.h"

enum { ROUNDS = 15, SPECS = 5, SPEC_OUTPUTS = 7, TRIPS = 5 };

#define COPY_BYTES ((size_t)1 << 30)

static const double CASE_S = 20; /* most of it the CPU's, which makes the data and is the peer */

static const char *const bench = "gpu_indicators";
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
    bench_line_value(bench, name, rate, "bars/s");
    bench_line_peer("indicator_compute, one core", peer, rate / peer);
    bench_line_number("limit", limit);
    bench_line_number("of_limit", rate / limit);
    bench_line_number("seconds", device_s);
    bench_line_end();
}

/* What a child keeps from one case to the next: the device, and the data that the last case had there. */
struct place {
    struct gpu_module *module;
    const char *module_path;
    struct indicator_spec specs[SPECS];
    double copy_rate;
    struct data data;
};

/* Runs a loaded batch again and again; *ret_s is the median of the device's times. */
static int time_runs(const struct place *p, const struct gpu_batch *batch, int rounds, double *ret_s)
{
    char reason[GPU_REASON_MAX];
    double ms[ROUNDS];
    float once = 0;
    for (int i = -1; i < rounds; i++) { /* the first warms up */
        if (gpu_module_run(p->module, batch, &once, reason, sizeof(reason)) < 0)
            return bench_because("%s", reason);
        if (i >= 0)
            ms[i] = once;
    }
    qsort(ms, (size_t)rounds, sizeof(ms[0]), bench_by_value);
    *ret_s = ms[rounds / 2] * 1e-3;
    return 0;
}

static void need_data(struct place *p, size_t n_series, size_t n_bars)
{
    if (p->data.n_series == n_series && p->data.n_bars == n_bars)
        return;
    free_data(&p->data);
    p->data = make_data(n_series, n_bars);
}

static int load(const struct place *p, const struct gpu_batch *batch)
{
    char reason[GPU_REASON_MAX];
    return gpu_module_load(p->module, batch, reason, sizeof(reason)) < 0 ? bench_because("%s", reason) : 0;
}

/* ---- cases ---- */

enum kind { COPY, DEVICE, TRIP, FULL, ROW };
struct bench_case {
    enum kind kind;
    bool many; /* series; else one */
    enum indicator_precision precision;
    enum gpu_method method;
};
static const struct bench_case cases[] = {
    {.kind = COPY},
    {DEVICE, true, INDICATOR_F64, GPU_PARALLEL},
    {DEVICE, true, INDICATOR_F64, GPU_EXACT},
    {DEVICE, true, INDICATOR_F32, GPU_PARALLEL},
    {DEVICE, true, INDICATOR_F32, GPU_EXACT},
    {DEVICE, false, INDICATOR_F64, GPU_PARALLEL},
    {DEVICE, false, INDICATOR_F64, GPU_EXACT},
    {DEVICE, false, INDICATOR_F32, GPU_PARALLEL},
    {DEVICE, false, INDICATOR_F32, GPU_EXACT},
    {TRIP, false, INDICATOR_F64, GPU_PARALLEL},
    {TRIP, false, INDICATOR_F32, GPU_PARALLEL},
    {FULL, false, INDICATOR_F64, GPU_PARALLEL},
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) }; /* the rows follow */

static size_t bars_of(bool many)
{
    return bench_small() ? 2000 : many ? 100000 : 1000000;
}

static size_t series_of(bool many)
{
    return !many ? 1 : bench_small() ? 4 : 256;
}

static const struct indicator *timed[INDICATOR_IDS];

static int find_timed(void)
{
    size_t n_rows;
    const struct indicator *const *rows = indicator_rows(&n_rows);
    int n = 0;
    for (size_t i = 0; i < n_rows; i++)
        if (strcmp(rows[i]->family, "cycles") != 0)
            timed[n++] = rows[i];
    return n;
}

static void name_of(int i, char ret[static BENCH_CASE_MAX])
{
    const struct bench_case *c = &cases[i < CASES ? i : 0];
    const char *precision = c->precision == INDICATOR_F32 ? "f32" : "f64";
    const size_t series = series_of(c->many), bars = bars_of(c->many);
    if (i >= CASES)
        snprintf(ret, BENCH_CASE_MAX, "row-1x%zu-%s", bars_of(false), timed[i - CASES]->name);
    else if (c->kind == COPY)
        snprintf(ret, BENCH_CASE_MAX, "copy");
    else if (c->kind == FULL)
        snprintf(ret, BENCH_CASE_MAX, "out-of-memory");
    else
        snprintf(ret, BENCH_CASE_MAX, "five-%zux%zu-%s-%s", series, bars, precision,
                 c->kind == TRIP             ? "trip"
                 : c->method == GPU_PARALLEL ? "parallel"
                                             : "exact");
}

static int run_copy(const struct place *p, const char *name)
{
    if (!isfinite(p->copy_rate))
        return bench_because("no copy rate");
    bench_line_value(bench, name, p->copy_rate, "B/s");
    bench_line_text("device", gpu_module_device(p->module));
    bench_line_end();
    return 0;
}

static int run_on_device(struct place *p, const char *name, struct gpu_batch *batch, int rounds)
{
    double s = 0;
    if (load(p, batch) < 0 || time_runs(p, batch, rounds, &s) < 0)
        return -1;
    print_rate(name, batch, &p->data, s, p->copy_rate);
    return 0;
}

static int run_trip(const struct place *p, const char *name, const struct gpu_batch *batch)
{
    char reason[GPU_REASON_MAX];
    double best = INFINITY;
    for (int round = 0; round < TRIPS; round++) {
        double begin = bench_seconds();
        if (gpu_module_compute(p->module, batch, reason, sizeof(reason)) < 0)
            return bench_because("%s", reason);
        best = fmin(best, bench_seconds() - begin);
    }
    print_rate(name, batch, &p->data, best, p->copy_rate);
    return 0;
}

/* Without memory: the CPU computes it, and the device still works. */
static int run_full(const struct place *p, const char *name, const struct gpu_batch *batch)
{
    char reason[GPU_REASON_MAX] = "", other[GPU_REASON_MAX] = "";
    gpu_module_limit(p->module, (size_t)1 << 16);
    double begin = bench_seconds();
    int refused = gpu_module_compute(p->module, batch, reason, sizeof(reason));
    double refusal = bench_seconds() - begin;
    double cpu = cpu_seconds(batch->specs, batch->n_specs, INDICATOR_F64, &p->data);
    gpu_module_limit(p->module, 0);
    bench_line_value(bench, name, refusal + cpu, "s");
    bench_line_peer("indicator_compute alone", cpu, cpu / (refusal + cpu));
    bench_line_number("errno", -refused);
    bench_line_number("refused_after", refusal);
    bench_line_text("reason", reason);
    bench_line_end();
    if (refused != -ENOMEM)
        return bench_because("a device without memory gave %d, %s", refused, reason);
    if (gpu_module_compute(p->module, batch, other, sizeof(other)) < 0)
        return bench_because("after a refusal: %s", other);
    return 0;
}

static int run_row(struct place *p, const char *name, const struct indicator *row)
{
    char reason[GPU_REASON_MAX];
    struct indicator_spec spec;
    need_data(p, 1, bars_of(false));
    struct gpu_batch batch = {GPU_EXACT, 1, p->data.n_bars, p->data.series, 1, &spec, NULL, INDICATOR_F64};
    if (indicator_spec_parse(row->name, &spec, reason, sizeof(reason)) < 0)
        return bench_because("%s", reason);
    return run_on_device(p, name, &batch, 1);
}

static int run_case(void *ctx, int i)
{
    struct place *p = ctx;
    char name[BENCH_CASE_MAX];
    name_of(i, name);
    if (i >= CASES)
        return run_row(p, name, timed[i - CASES]);
    const struct bench_case *c = &cases[i];
    if (c->kind == COPY)
        return run_copy(p, name);
    need_data(p, series_of(c->many), bars_of(c->many));
    double *out[SPEC_OUTPUTS];
    struct gpu_batch batch = {c->method, p->data.n_series, p->data.n_bars, p->data.series,
                              SPECS,     p->specs,         NULL,           c->precision};
    if (c->kind == DEVICE)
        return run_on_device(p, name, &batch, ROUNDS);
    double *values = bench_room(SPEC_OUTPUTS * p->data.n_bars, sizeof(double));
    for (size_t k = 0; k < SPEC_OUTPUTS; k++)
        out[k] = values + k * p->data.n_bars;
    batch.out = out;
    int r = c->kind == TRIP ? run_trip(p, name, &batch) : run_full(p, name, &batch);
    free(values);
    return r;
}

static int open_place(void *ctx)
{
    struct place *p = ctx;
    char reason[GPU_REASON_MAX];
    const int r = bench_module_open(p->module_path, &p->module);
    if (r != 0)
        return r;
    for (size_t i = 0; i < SPECS; i++)
        if (indicator_spec_parse(texts[i], &p->specs[i], reason, sizeof(reason)) < 0)
            return bench_because("%s", reason);
    if (gpu_module_copy_rate(p->module, COPY_BYTES, &p->copy_rate, reason, sizeof(reason)) < 0) {
        bench_because("copy rate: %s", reason);
        p->copy_rate = NAN; /* the limits are unknown then, and nothing else */
    }
    return 0;
}

static void close_place(void *ctx)
{
    struct place *p = ctx;
    free_data(&p->data);
    gpu_module_close(p->module);
}

int main(int argc, char **argv)
{
    struct place place = {.module_path = argc > 1 ? argv[1] : NULL};
    const struct bench_cases all = {bench,    CASES + find_timed(), CASE_S, false, name_of, open_place,
                                    run_case, close_place,          &place};
    return bench_cases_run(&all, argc, argv);
}
