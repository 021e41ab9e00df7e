/* Batches, from the host's side: checks, and the jobs of every spec and series. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "indicators_gpu/module_internal.h"

size_t gpu_batch_columns(const struct gpu_batch *batch)
{
    size_t n = 0;
    for (size_t i = 0; i < batch->n_specs; i++)
        n += batch->specs[i].row->n_outputs;
    return n;
}

static int out_of_memory(char *reason, size_t cap)
{
    snprintf(reason, cap, "out of memory");
    return -ENOMEM;
}

static void columns_of(const struct indicator_columns *in, const double *ret[INDICATOR_COLUMNS])
{
    const double *const all[INDICATOR_COLUMNS] = {in->open,  in->high,   in->low,
                                                  in->close, in->volume, in->time};
    memcpy(ret, all, sizeof(all));
}

/* Finite after the device's rounding? */
static bool is_finite(enum indicator_precision precision, size_t column, double value)
{
    bool narrow = precision == INDICATOR_F32 && 1u << column != INDICATOR_TIME;
    return narrow ? isfinite((float)value) : isfinite(value);
}

static struct module_column look_at(const struct gpu_batch *batch, size_t column, const double *values)
{
    struct module_column seen = {0, true};
    size_t i = 0;
    while (values && i < batch->n_bars && isnan(values[i]))
        i++;
    seen.leading = i;
    for (; values && i < batch->n_bars; i++)
        seen.clean &= is_finite(batch->precision, column, values[i]);
    return seen;
}

int gpu_module_load(struct gpu_module *m, const struct gpu_batch *batch, char *reason, size_t cap)
{
    size_t n = batch->n_series * INDICATOR_COLUMNS;
    const double **columns = calloc(n + 1, sizeof(*columns));
    struct module_column *seen = calloc(n + 1, sizeof(*seen));
    free(m->columns);
    m->columns = NULL;
    m->n_series = 0;
    if (!columns || !seen) {
        free(columns);
        free(seen);
        return out_of_memory(reason, cap);
    }
    for (size_t s = 0; s < batch->n_series; s++)
        columns_of(&batch->series[s], columns + s * INDICATOR_COLUMNS);
    for (size_t i = 0; i < n; i++)
        seen[i] = look_at(batch, i % INDICATOR_COLUMNS, columns[i]);
    m->columns = seen;
    m->n_series = batch->n_series;
    int r = m->api->load(m->device, batch->precision, columns, batch->n_series, batch->n_bars, reason, cap);
    free(columns);
    return r;
}

/* The first complete bar of a row's columns. -EINVAL and *ret_bad for a later one that is not finite. */
static int find_start(const struct gpu_module *m, const struct gpu_batch *batch, const struct indicator *row,
                      size_t series, size_t *ret_start, size_t *ret_bad)
{
    const struct module_column *seen = m->columns + series * INDICATOR_COLUMNS;
    const double *columns[INDICATOR_COLUMNS];
    bool clean = true;
    size_t start = 0, bad = batch->n_bars;
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        if (row->inputs & 1u << c) {
            clean &= seen[c].clean;
            start = seen[c].leading > start ? seen[c].leading : start;
        }
    if (clean) {
        *ret_start = start;
        return 0;
    }
    int r = indicator_check(row, &batch->series[series], batch->n_bars, ret_start, ret_bad);
    columns_of(&batch->series[series], columns);
    for (size_t c = 0; c < INDICATOR_COLUMNS && r == 0; c++)
        for (size_t i = 0; (row->inputs & 1u << c) && i < bad; i++)
            if (!isnan(columns[c][i]) && !is_finite(batch->precision, c, columns[c][i]))
                bad = i;
    if (r == 0 && bad < batch->n_bars) {
        *ret_bad = bad;
        r = -EINVAL;
    }
    return r;
}

static int make_job(const struct gpu_module *m, const struct gpu_batch *batch, size_t series, size_t spec,
                    size_t column, struct gpu_job *ret, char *reason, size_t cap)
{
    const struct indicator *row = batch->specs[spec].row;
    const double *columns[INDICATOR_COLUMNS];
    size_t start, bad;

    columns_of(&batch->series[series], columns);
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        if ((row->inputs & 1u << c) && !columns[c] && batch->n_bars > 0) {
            snprintf(reason, cap, "%s: a column that it reads is missing in series %zu", row->name, series);
            return -EINVAL;
        }
    if (find_start(m, batch, row, series, &start, &bad) < 0) {
        snprintf(reason, cap, "%s: bar %zu of series %zu is not finite", row->name, bad, series);
        return -EINVAL;
    }
    struct gpu_job job = {
        .kernel = (uint32_t)row->id,
        .inputs = row->inputs,
        .outputs = (uint32_t)row->n_outputs,
        .series = (uint32_t)series,
        .out = (uint32_t)column,
        .start = start,
        .lookback = indicator_lookback(&batch->specs[spec]),
        .warmup = indicator_warmup(&batch->specs[spec], INDICATOR_F64),
    };
    memcpy(job.options, batch->specs[spec].options, sizeof(job.options));
    *ret = job;
    return 0;
}

int gpu_module_run(struct gpu_module *m, const struct gpu_batch *batch, float *ret_ms, char *reason,
                   size_t cap)
{
    size_t columns = gpu_batch_columns(batch), n_jobs = 0, column = 0;
    if (batch->n_series != m->n_series) {
        snprintf(reason, cap, "%zu series were loaded, not %zu", m->n_series, batch->n_series);
        return -EINVAL;
    }
    if (batch->n_series > UINT32_MAX / (columns ? columns : 1)) {
        snprintf(reason, cap, "%zu series of %zu outputs are too many for one batch", batch->n_series,
                 columns);
        return -EINVAL;
    }
    for (size_t i = 0; i < batch->n_specs; i++)
        if (!indicator_spec_valid(&batch->specs[i])) {
            snprintf(reason, cap, "%s: an option is out of its range", batch->specs[i].row->name);
            return -EINVAL;
        }
    for (size_t i = 0; i < batch->n_specs; i++)
        if (batch->specs[i].row->plugin) {
            snprintf(reason, cap, "%s is of a shared object, which has no kernels",
                     batch->specs[i].row->name);
            return -ENOTSUP;
        }
    struct gpu_job *jobs = calloc(batch->n_series * batch->n_specs + 1, sizeof(*jobs));
    if (!jobs)
        return out_of_memory(reason, cap);
    int r = 0;
    for (size_t i = 0; i < batch->n_specs && r == 0; column += batch->specs[i++].row->n_outputs)
        for (size_t s = 0; s < batch->n_series && r == 0; s++)
            r = make_job(m, batch, s, i, s * columns + column, &jobs[n_jobs++], reason, cap);
    if (r == 0)
        r = m->api->compute(m->device, batch->method, jobs, n_jobs, batch->n_series * columns, ret_ms, reason,
                            cap);
    free(jobs);
    return r;
}

int gpu_module_fetch(struct gpu_module *m, const struct gpu_batch *batch, char *reason, size_t cap)
{
    size_t n = batch->n_series * gpu_batch_columns(batch);
    int r = 0;
    for (size_t i = 0; i < n && r == 0; i++)
        r = m->api->fetch(m->device, i, batch->out[i], reason, cap);
    return r;
}

int gpu_module_compute(struct gpu_module *m, const struct gpu_batch *batch, char *reason, size_t cap)
{
    float ms;
    int r = gpu_module_load(m, batch, reason, cap);
    if (r == 0)
        r = gpu_module_run(m, batch, &ms, reason, cap);
    if (r == 0)
        r = gpu_module_fetch(m, batch, reason, cap);
    return r;
}
