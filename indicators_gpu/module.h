/* The GPU as a plug-in: loads papertape-gpu.so at run time. Where there is no module, no driver or no device,
 * opening returns the reason, and the caller does the same work on the CPU. Only the module links CUDA.
 *
 * Calls return 0 or a negative errno and then leave a sentence for a status line in `reason`. After -ENOMEM
 * and -EINVAL the module still works; after -EIO the device may be lost, and it can only be closed. A module
 * and its objects belong to one thread at a time. */
#ifndef INDICATORS_GPU_MODULE_H
#define INDICATORS_GPU_MODULE_H

#include <stddef.h>

#include "indicators_gpu/cuda/abi.h"
#include "indicators_gpu/indicators.h"

struct gpu_module;
struct gpu_share;

enum { GPU_REASON_MAX = 256 };

/* Loads the module and takes its first device. `path` names the file; NULL searches $PAPERTAPE_GPU_MODULE,
 * which is the only place when it is set, then the build tree, then the installation's library folder. A
 * process's first handle waits for others that open the device or allocate there (indicators_gpu/share.h).
 * Returns 0 and a module for gpu_module_close(); -ENOENT when there is no module, -ENOEXEC when the file is
 * no module or of another version, -ENODEV without driver or device, or what the device reports. */
int gpu_module_open(const char *path, struct gpu_module **ret, char *reason, size_t cap);

/* NULL is fine. */
void gpu_module_close(struct gpu_module *m);

/* The device's name; valid until the module is closed. */
const char *gpu_module_device(const struct gpu_module *m);

/* How much device memory the module may hold from now on; 0 is the default, no limit. */
void gpu_module_limit(struct gpu_module *m, size_t bytes);

/* ---- Batches: every spec of every series. ---- */

/* Borrowed while a call lasts. */
struct gpu_batch {
    enum gpu_method method;
    size_t n_series, n_bars;
    const struct indicator_columns *series; /* [n_series], columns of n_bars each */
    size_t n_specs;
    const struct indicator_spec *specs; /* [n_specs] */
    double *const *out; /* [n_series * gpu_batch_columns()]: a series' outputs, spec by spec */

    /* How the device keeps columns: with INDICATOR_F32 inputs are rounded to float32 when they are loaded,
     * and outputs, computed in float64, once when they are stored. Half of the bytes move. */
    enum indicator_precision precision;
};

/* Output columns of one series: the sum of the specs' outputs. */
size_t gpu_batch_columns(const struct gpu_batch *batch);

/* Computes the batch: gpu_module_load(), _run() and _fetch() in one. Same contract as indicator_reference()
 * for columns and NaN, with the method's tolerance. Returns 0; -EINVAL for a bar that is not finite or a
 * column that is missing; -ENOMEM, -EIO from the device; `out` is then undefined. */
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

/* ---- Streams of many symbols, all with the same specs, whose memories stay on the device. Outputs have the
 * bits of indicator_stream_update() and _peek(). ---- */

struct gpu_streams;

/* Streams that have seen no bar. Returns 0 and streams for gpu_streams_destroy(), which comes before
 * gpu_module_close(); -EINVAL for an option out of its range, -ENOMEM, -EIO. */
int gpu_streams_create(struct gpu_module *m, size_t n_symbols, const struct indicator_spec specs[],
                       size_t n_specs, struct gpu_streams **ret, char *reason, size_t cap);

/* NULL is fine. */
void gpu_streams_destroy(struct gpu_streams *s);

/* Outputs of one symbol: the sum of the specs' outputs. */
size_t gpu_streams_outputs(const struct gpu_streams *s);

/* Takes over from host streams: streams[i * n_specs + k] is symbol first + i's of spec k. Where it is NULL
 * the device's stays as it is. The host's are only read. -EINVAL when a stream is of another spec. */
int gpu_streams_load(struct gpu_streams *s, size_t first, size_t n_symbols,
                     const struct indicator_stream *const streams[], char *reason, size_t cap);

/* Makes the host streams clones of the device's: the way back. NULL ones are left out. */
int gpu_streams_save(struct gpu_streams *s, size_t first, size_t n_symbols,
                     struct indicator_stream *const streams[], char *reason, size_t cap);

/* Gives closed bars, bars[i] of symbol symbols[i] (each symbol at most once), to all streams of their
 * symbols: one upload, one launch and one download, whose cost follows n. out[i * gpu_streams_outputs() ...]
 * become bar i's outputs spec by spec, NaN where ready[i * n_specs + k] is 0: no outputs yet, or a bar that
 * was refused. -EINVAL when a symbol is out of range or twice in the list; nothing is then taken. After any
 * other error the streams' memories are undefined. */
int gpu_streams_update(struct gpu_streams *s, const uint32_t symbols[], const struct indicator_bar bars[],
                       size_t n, double out[], uint8_t ready[], char *reason, size_t cap);

/* What update() would give for forming bars; the streams stay as they are. */
int gpu_streams_peek(struct gpu_streams *s, const uint32_t symbols[], const struct indicator_bar bars[],
                     size_t n, double out[], uint8_t ready[], char *reason, size_t cap);

/* ---- Other rooms' functions in the same module, on the same device. ---- */

/* The functions that the module exports as `symbol`: a struct that begins with its version, a uint32_t. Valid
 * until the module is closed. -ENOEXEC where it has none, or of another version. */
int gpu_module_table(const struct gpu_module *m, const char *symbol, uint32_t version, const void **ret,
                     char *reason, size_t cap);

/* The device, for such functions. */
struct gpu_indicators *gpu_module_handle(const struct gpu_module *m);

/* Where processes enter what they will allocate on the device (indicators_gpu/share.h); the module's. NULL
 * with a sentence in *ret_why: no folder can have its file; with "": other processes cannot use it. */
struct gpu_share *gpu_module_share(const struct gpu_module *m, const char **ret_why);

#endif
