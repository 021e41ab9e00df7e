#include "spark/native/device.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "exchange/fail.h"
#include "indicators_gpu/module.h"
#include "spark/native/batch.h"
#include "spark/native/columns.h"
#include "spark/native/run.h"

struct papertape_spark_device {
    struct gpu_module *module;
    struct papertape_spark *run; /* on the CPU, of the same specs: it names the columns and checks the bars */
    struct indicator_spec *specs;
    size_t n; /* specs */
};

void papertape_spark_device_close(struct papertape_spark_device *device)
{
    if (!device)
        return;
    gpu_module_close(device->module);
    papertape_spark_close(device->run);
    free(device->specs);
    free(device);
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
        r = spark_specs_parse(specs, &device->specs, &device->n, err, err_cap);
    (void)spark_run_memory(r, err, err_cap);
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

/* Reads the times in seconds; bars are refused as on the CPU. */
static int read_times(struct papertape_spark_device *device, const struct spark_batch *bars, double *times,
                      char *err, size_t err_cap)
{
    struct indicator_bar bar;
    int64_t ns;
    int r = 0;
    for (int64_t row = 0; row < bars->n && r == 0; row++) {
        r = spark_run_place(device->run, bars, row, err, err_cap);
        if (r == 0)
            r = spark_run_read_bar(device->run, bars, row, &bar, &ns, err, err_cap);
        if (r == 0)
            times[row] = bar.time;
    }
    return spark_run_memory(r, err, err_cap);
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
    int r = spark_columns_init(&columns, papertape_spark_width(device->run), n, true);
    if (r < 0)
        return r;
    for (size_t k = 0; k < papertape_spark_width(device->run); k++)
        for (int64_t row = 0; row < n; row++)
            if (!isnan(out[k][row]))
                spark_columns_double(&columns, k, row, out[k][row]);
    r = spark_columns_export(&columns, spark_run_names(device->run), ret_batch, ret_schema);
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
    double *cells = calloc((papertape_spark_width(device->run) + 1) * (n + 1), sizeof *cells);
    double **out = calloc(papertape_spark_width(device->run) + 1, sizeof *out);
    if (!cells || !out)
        r = fail_with(-ENOMEM, err, err_cap, "out of memory");
    for (size_t k = 0; r == 0 && k < papertape_spark_width(device->run); k++)
        out[k] = cells + (k + 1) * n;
    if (r == 0)
        r = read_times(device, &bars, cells, err, err_cap);
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
