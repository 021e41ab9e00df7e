/* What the GPU module gives to whoever loads it: plain C on both sides, no CUDA header. The loader is
 * indicators_gpu/module.h; nothing else includes this page but the module, its tests and the block functions.
 *
 * Every call returns 0 or a negative errno and then leaves a sentence in `reason`: -ENODEV no driver or no
 * device to work with, -ENOMEM out of device memory, -EINVAL sizes that cannot be, -EIO anything else that
 * CUDA reports. */
#ifndef INDICATORS_GPU_CUDA_ABI_H
#define INDICATORS_GPU_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "indicators_gpu/indicators.h"

/* Raised whenever anything on this page changes; a module of another number is refused. */
enum { GPU_INDICATORS_ABI = 2 };

/* The module's one exported symbol, a struct gpu_indicators_api. */
#define GPU_INDICATORS_SYMBOL "papertape_gpu_indicators"

/* One indicator of one series. */
struct gpu_job {
    uint32_t kernel; /* enum indicator_id */
    uint32_t series; /* its row in the loaded columns */
    uint32_t out;    /* its first output column; the others follow */
    uint32_t prefix; /* its row of prefix sums: set by gpu_plan() */
    uint64_t start;  /* first complete bar, n_bars if there is none */
    double options[INDICATOR_OPTIONS_MAX];
};

enum gpu_method {
    GPU_EXACT,    /* the reference's bits: one thread walks a series */
    GPU_PARALLEL, /* many blocks a series, reproducible; tolerances in cuda/parallel.h */
};

struct gpu_indicators; /* a device with its loaded columns */

struct gpu_indicators_api {
    uint32_t abi;
    int (*open)(struct gpu_indicators **ret, char *reason, size_t cap);
    void (*close)(struct gpu_indicators *g);
    const char *(*device)(const struct gpu_indicators *g);

    /* Copies columns to the device: columns[series * INDICATOR_COLUMNS + c] holds n_bars values, in the order
     * of enum indicator_input's bits, or is NULL when no job of that series reads it. Replaces what was
     * loaded. */
    int (*load)(struct gpu_indicators *g, const double *const columns[], size_t n_series, size_t n_bars,
                char *reason, size_t cap);

    /* Computes all jobs into output columns 0..n_columns-1 on the device, NaN before the first output, and
     * waits. *ret_ms is the device's time for it. The outputs stay until the next load or compute. */
    int (*compute)(struct gpu_indicators *g, enum gpu_method method, const struct gpu_job jobs[],
                   size_t n_jobs, size_t n_columns, float *ret_ms, char *reason, size_t cap);

    /* Copies one output column (n_bars values) to the host. */
    int (*fetch)(struct gpu_indicators *g, size_t column, double *out, char *reason, size_t cap);

    /* Bytes per second, read and written ones added, of a copy of `bytes` within the device's memory: the
     * limit that benchmarks are held against. */
    int (*copy_rate)(struct gpu_indicators *g, size_t bytes, double *ret_bytes_per_s, char *reason,
                     size_t cap);
};

#endif
