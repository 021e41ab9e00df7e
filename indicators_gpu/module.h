/* The GPU as a plug-in: loads papertape-gpu.so at run time. Where there is no module, no driver or no device,
 * opening says why, and the caller does the same work with indicator_reference(). Nothing but the module
 * links CUDA. */
#ifndef INDICATORS_GPU_MODULE_H
#define INDICATORS_GPU_MODULE_H

#include <stddef.h>

#include "indicators_gpu/cuda/abi.h"
#include "indicators_gpu/indicators.h"

struct gpu_module;

enum { GPU_REASON_MAX = 256 };

/* Loads the module and takes its first device. `path` names the file; NULL searches $PAPERTAPE_GPU_MODULE,
 * which is the only place when it is set, then the build tree, then the installation's library folder.
 * Returns 0 and a module for gpu_module_close(); -ENOENT when there is no module, -ENOEXEC when the file is
 * none or of another version, -ENODEV without driver or device, or what the device reports; `reason` then is
 * a sentence for a status line. */
int gpu_module_open(const char *path, struct gpu_module **ret, char *reason, size_t cap);

/* NULL is fine. */
void gpu_module_close(struct gpu_module *m);

/* The device's name; valid until the module is closed. */
const char *gpu_module_device(const struct gpu_module *m);

/* Every spec of every series. Borrowed while a call lasts. */
struct gpu_batch {
    enum gpu_method method;
    size_t n_series, n_bars;
    const struct indicator_columns *series; /* [n_series], columns of n_bars each */
    size_t n_specs;
    const struct indicator_spec *specs; /* [n_specs] */
    double *const *out; /* [n_series * gpu_batch_columns()]: a series' outputs, spec by spec */
};

/* Output columns of one series: the sum of the specs' outputs. */
size_t gpu_batch_columns(const struct gpu_batch *batch);

/* Computes the batch: gpu_module_load(), _run() and _fetch() in one. Same contract as indicator_reference()
 * for columns and NaN, with the method's tolerance. Returns 0; -EINVAL for a bar that is not finite or a
 * column that is missing; -ENOMEM, -EIO from the device; `reason` says what, and `out` is then undefined. */
int gpu_module_compute(struct gpu_module *m, const struct gpu_batch *batch, char *reason, size_t cap);

/* The three steps, for data that stays on the device. run() may be repeated, with other specs of the same
 * series as well; *ret_ms is the device's time. fetch() takes the batch of the last run. */
int gpu_module_load(struct gpu_module *m, const struct gpu_batch *batch, char *reason, size_t cap);
int gpu_module_run(struct gpu_module *m, const struct gpu_batch *batch, float *ret_ms, char *reason,
                   size_t cap);
int gpu_module_fetch(struct gpu_module *m, const struct gpu_batch *batch, char *reason, size_t cap);

/* Measured bytes per second of a copy of `bytes` on the device, reads and writes added. */
int gpu_module_copy_rate(struct gpu_module *m, size_t bytes, double *ret_bytes_per_s, char *reason,
                         size_t cap);

#endif
