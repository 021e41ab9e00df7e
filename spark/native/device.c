#include "spark/native/device.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/fail.h"
#include "indicators_gpu/module.h"
#include "spark/native/batch.h"
#include "spark/native/columns.h"
#include "spark/native/papertape_spark.h"

enum { SHOWN = 64 /* of a symbol in a sentence */ };

struct papertape_spark_device {
    struct gpu_module *module;
    struct papertape_spark *run; /* on the CPU, of the same specs: it names the columns */
    size_t n, width;
    struct indicator_spec *specs; /* [n] */
    const char **names;           /* [width], the run's */
};

void papertape_spark_device_close(struct papertape_spark_device *device)
{
    if (!device)
        return;
    gpu_module_close(device->module);
    papertape_spark_close(device->run);
    free(device->specs);
    free(device->names);
    free(device);
}

/* Specs that were read before. */
static int read_specs(struct papertape_spark_device *device, const char *specs)
{
    char wrong[300];
    size_t cap = 1;
    for (const char *c = specs; *c; c++)
        cap += *c == '\n';
    device->specs = calloc(cap, sizeof *device->specs);
    char *copy = strdup(specs), *next = copy;
    int r = device->specs && copy ? 0 : -ENOMEM;
    while (r == 0 && next) {
        char *line = strsep(&next, "\n");
        if (*line)
            r = indicator_spec_parse(line, &device->specs[device->n++], wrong, sizeof wrong);
    }
    free(copy);
    return r;
}

static int name_columns(struct papertape_spark_device *device)
{
    device->width = papertape_spark_width(device->run);
    device->names = calloc(device->width + 1, sizeof *device->names);
    for (size_t k = 0; device->names && k < device->width; k++)
        device->names[k] = papertape_spark_column(device->run, k);
    return device->names ? 0 : -ENOMEM;
}

static int open_module(struct papertape_spark_device *device, const char *module, char *err, size_t err_cap)
{
    char reason[GPU_REASON_MAX];
    int r = gpu_module_open(module, &device->module, reason, sizeof reason);
    return r < 0
               ? fail_with(r, err, err_cap,
                           "backend gpu: %s: an executor with a device and Papertape's GPU module is needed, "
                           "or backend cpu",
                           reason)
               : 0;
}

int papertape_spark_device_open(const char *module, const char *specs, struct papertape_spark_device **ret,
                                char *err, size_t err_cap)
{
    struct papertape_spark_device *device = calloc(1, sizeof *device);
    int r = device ? papertape_spark_indicators(specs, &device->run, err, err_cap) : -ENOMEM;
    if (r == 0)
        r = read_specs(device, specs);
    if (r == 0)
        r = name_columns(device);
    if (r == -ENOMEM)
        (void)fail_with(r, err, err_cap, "out of memory");
    if (r == 0)
        r = open_module(device, module, err, err_cap);
    if (r < 0) {
        papertape_spark_device_close(device);
        return r;
    }
    *ret = device;
    return 0;
}

const char *papertape_spark_device_name(const struct papertape_spark_device *device)
{
    return gpu_module_device(device->module);
}

static int fail_row(const struct spark_batch *bars, int64_t row, const char *what, char *err, size_t err_cap)
{
    char when[CLOCK_TEXT_MAX] = "no time";
    struct spark_text symbol = {"", 0};
    int64_t ns;
    if (!spark_child_null(&bars->symbol, row))
        symbol = spark_batch_symbol(bars, row);
    if (!spark_child_null(&bars->time, row) && spark_batch_time(bars, row, &ns))
        clock_utc_text(ns, when);
    return fail_with(-EINVAL, err, err_cap, "%.*s at %s: %s", (int)(symbol.n < SHOWN ? symbol.n : SHOWN),
                     symbol.data, when, what);
}

/* Reads the times in seconds, which must rise; prices must be there. */
static int read_times(const struct spark_batch *bars, double *times, char *err, size_t err_cap)
{
    int64_t before = 0, ns;
    for (int64_t row = 0; row < bars->n; row++) {
        if (spark_child_null(&bars->time, row) || !spark_batch_time(bars, row, &ns))
            return fail_row(bars, row, "its timestamp is null, or not from 1677 to 2262", err, err_cap);
        if (row > 0 && ns <= before)
            return fail_row(
                bars, row,
                "its time does not rise: one row a bar, in the order of their timestamp, is needed", err,
                err_cap);
        for (int c = 0; c < SPARK_PRICES; c++)
            if (spark_child_null(&bars->prices[c], row) || !isfinite(bars->values[c][row]))
                return fail_row(
                    bars, row,
                    "a price or its volume is null or not finite: a number is needed, or no such row", err,
                    err_cap);
        before = ns;
        times[row] = (double)ns / 1e9;
    }
    return 0;
}

/* All specs over the series. */
static int compute(struct papertape_spark_device *device, const struct spark_batch *bars, const double *times,
                   double *const *out, char *err, size_t err_cap)
{
    char reason[GPU_REASON_MAX];
    const struct indicator_columns series = {bars->values[SPARK_OPEN],   bars->values[SPARK_HIGH],
                                             bars->values[SPARK_LOW],    bars->values[SPARK_CLOSE],
                                             bars->values[SPARK_VOLUME], times};
    const struct gpu_batch batch = {.method = GPU_EXACT,
                                    .n_series = 1,
                                    .n_bars = (size_t)bars->n,
                                    .series = &series,
                                    .n_specs = device->n,
                                    .specs = device->specs,
                                    .out = out,
                                    .precision = INDICATOR_F64};
    int r = gpu_module_compute(device->module, &batch, reason, sizeof reason);
    return r < 0 ? fail_with(r, err, err_cap, "backend gpu: %s", reason) : 0;
}

static int give(const struct papertape_spark_device *device, int64_t n, double *const *out,
                struct ArrowArray *ret_batch, struct ArrowSchema *ret_schema)
{
    struct spark_columns columns;
    int r = spark_columns_init(&columns, device->width, n, true);
    if (r < 0)
        return r;
    for (size_t k = 0; k < device->width; k++)
        for (int64_t row = 0; row < n; row++)
            if (!isnan(out[k][row]))
                spark_columns_double(&columns, k, row, out[k][row]);
    r = spark_columns_export(&columns, device->names, ret_batch, ret_schema);
    spark_columns_finish(&columns);
    return r;
}

static int run_batch(struct papertape_spark_device *device, const struct ArrowArray *batch,
                     const struct ArrowSchema *schema, struct ArrowArray *ret_batch,
                     struct ArrowSchema *ret_schema, char *err, size_t err_cap)
{
    struct spark_batch bars;
    int r = spark_batch_read(SPARK_BARS, &bars, batch, schema, err, err_cap);
    if (r < 0)
        return r;
    size_t n = (size_t)bars.n;
    double *cells = calloc((device->width + 1) * (n + 1), sizeof *cells);
    double **out = calloc(device->width + 1, sizeof *out);
    if (!cells || !out)
        r = fail_with(-ENOMEM, err, err_cap, "out of memory");
    for (size_t k = 0; r == 0 && k < device->width; k++)
        out[k] = cells + (k + 1) * n;
    if (r == 0)
        r = read_times(&bars, cells, err, err_cap);
    if (r == 0 && n > 0)
        r = compute(device, &bars, cells, out, err, err_cap);
    if (r == 0 && (r = give(device, bars.n, out, ret_batch, ret_schema)) < 0)
        (void)fail_with(r, err, err_cap, "out of memory");
    free(cells);
    free(out);
    return r;
}

int papertape_spark_device_compute(struct papertape_spark_device *device, struct ArrowArray *batch,
                                   struct ArrowSchema *schema, struct ArrowArray *ret_batch,
                                   struct ArrowSchema *ret_schema, char *err, size_t err_cap)
{
    int r = run_batch(device, batch, schema, ret_batch, ret_schema, err, err_cap);
    spark_array_release(batch);
    spark_schema_release(schema);
    return r;
}
