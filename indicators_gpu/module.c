#include "indicators_gpu/module_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* dlerror() begins with the path, which the sentence has already. */
static const char *why_not(const char *path)
{
    const char *why = dlerror();
    size_t len = strlen(path);
    if (!why)
        return "unknown error";
    return strncmp(why, path, len) == 0 && why[len] == ':' ? why + len + 2 : why;
}

static int open_path(const char *path, struct gpu_module **ret, char *reason, size_t cap)
{
    if (access(path, F_OK) != 0) {
        snprintf(reason, cap, "no GPU module: %s: %s", path, strerror(errno));
        return -ENOENT;
    }
    struct gpu_module *m = calloc(1, sizeof(*m));
    if (!m) {
        snprintf(reason, cap, "out of memory");
        return -ENOMEM;
    }
    int r = -ENOEXEC;
    m->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!m->handle) {
        snprintf(reason, cap, "GPU module %s: %s", path, why_not(path));
        goto fail;
    }
    m->api = dlsym(m->handle, GPU_INDICATORS_SYMBOL);
    if (!m->api) {
        snprintf(reason, cap, "GPU module %s: it has no %s: not this program's module", path,
                 GPU_INDICATORS_SYMBOL);
        goto fail;
    }
    if (m->api->abi != GPU_INDICATORS_ABI) {
        snprintf(reason, cap, "GPU module %s: its version is %u, this program's %d: install both together",
                 path, m->api->abi, GPU_INDICATORS_ABI);
        goto fail;
    }
    r = m->api->open(&m->device, reason, cap);
    if (r < 0)
        goto fail;
    *ret = m;
    return 0;
fail:
    gpu_module_close(m);
    return r;
}

int gpu_module_open(const char *path, struct gpu_module **ret, char *reason, size_t cap)
{
    const char *named = path ? path : getenv("PAPERTAPE_GPU_MODULE");
    if (named && *named)
        return open_path(named, ret, reason, cap);

    static const char *const places[] = {GPU_MODULE_BUILT, GPU_MODULE_INSTALLED};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (access(places[i], F_OK) == 0)
            return open_path(places[i], ret, reason, cap);
    snprintf(reason, cap, "no GPU module: neither %s nor $PAPERTAPE_GPU_MODULE is there",
             GPU_MODULE_INSTALLED);
    return -ENOENT;
}

void gpu_module_close(struct gpu_module *m)
{
    if (!m)
        return;
    if (m->device)
        m->api->close(m->device);
    if (m->handle)
        dlclose(m->handle);
    free(m);
}

const char *gpu_module_device(const struct gpu_module *m)
{
    return m->api->device(m->device);
}

void gpu_module_limit(struct gpu_module *m, size_t bytes)
{
    m->api->limit(m->device, bytes);
}

size_t gpu_batch_columns(const struct gpu_batch *batch)
{
    size_t n = 0;
    for (size_t i = 0; i < batch->n_specs; i++)
        n += batch->specs[i].row->n_outputs;
    return n;
}

int gpu_module_load(struct gpu_module *m, const struct gpu_batch *batch, char *reason, size_t cap)
{
    const double **columns = calloc(batch->n_series * INDICATOR_COLUMNS + 1, sizeof(*columns));
    if (!columns) {
        snprintf(reason, cap, "out of memory");
        return -ENOMEM;
    }
    for (size_t s = 0; s < batch->n_series; s++) {
        const struct indicator_columns *in = &batch->series[s];
        const double *const all[INDICATOR_COLUMNS] = {in->open,  in->high,   in->low,
                                                      in->close, in->volume, in->time};
        memcpy(columns + s * INDICATOR_COLUMNS, all, sizeof(all));
    }
    int r = m->api->load(m->device, batch->precision, columns, batch->n_series, batch->n_bars, reason, cap);
    free(columns);
    return r;
}

static int make_job(const struct gpu_batch *batch, size_t series, size_t spec, size_t column,
                    struct gpu_job *ret, char *reason, size_t cap)
{
    const struct indicator *row = batch->specs[spec].row;
    const struct indicator_columns *in = &batch->series[series];
    const double *const all[INDICATOR_COLUMNS] = {in->open,  in->high,   in->low,
                                                  in->close, in->volume, in->time};
    size_t start, bad;

    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        if ((row->inputs & 1u << c) && !all[c] && batch->n_bars > 0) {
            snprintf(reason, cap, "%s: a column that it reads is missing in series %zu", row->name, series);
            return -EINVAL;
        }
    if (indicator_check(row, in, batch->n_bars, &start, &bad) < 0) {
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
    if (batch->n_series > UINT32_MAX / (columns ? columns : 1)) {
        snprintf(reason, cap, "%zu series of %zu outputs are too many for one batch", batch->n_series,
                 columns);
        return -EINVAL;
    }
    struct gpu_job *jobs = calloc(batch->n_series * batch->n_specs + 1, sizeof(*jobs));
    if (!jobs) {
        snprintf(reason, cap, "out of memory");
        return -ENOMEM;
    }
    int r = 0;
    /* Spec by spec, so that neighbouring threads do the same work. */
    for (size_t i = 0; i < batch->n_specs && r == 0; column += batch->specs[i++].row->n_outputs)
        for (size_t s = 0; s < batch->n_series && r == 0; s++)
            r = make_job(batch, s, i, s * columns + column, &jobs[n_jobs++], reason, cap);
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

int gpu_module_copy_rate(struct gpu_module *m, size_t bytes, double *ret_bytes_per_s, char *reason,
                         size_t cap)
{
    return m->api->copy_rate(m->device, bytes, ret_bytes_per_s, reason, cap);
}
