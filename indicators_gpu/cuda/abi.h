/* The GPU module's interface for its loader: plain C on both sides, no CUDA header. The loader is
 * indicators_gpu/module.h; nothing else includes this file except the module, its tests and the block
 * functions.
 *
 * Every call returns 0 or a negative errno and then leaves a sentence in `reason`: -ENODEV no driver or no
 * device to work with, -ENOMEM out of device memory (or above the limit), -EINVAL invalid sizes, -EIO
 * anything else that CUDA reports. After -ENOMEM and -EINVAL the device still works. After -EIO it may be
 * lost: then every later call returns -EIO, and it can only be closed. One thread at a time. */
#ifndef INDICATORS_GPU_CUDA_ABI_H
#define INDICATORS_GPU_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "indicators_gpu/indicators.h"

/* Raised whenever anything in this file, or what a row computes or remembers, changes, and with every new
 * row: a module of another number is refused, since it would give other bits, or none. */
enum { GPU_INDICATORS_ABI = 8 };

enum {
    GPU_DEVICE_ID_MAX = 64,
    GPU_CONTEXT = 512 << 20, /* bytes of a process's context with the module's code, where nothing says it:
                                0.4 to 0.7 GiB by public figures */
};

/* The module's one exported symbol, a struct gpu_indicators_api. */
#define GPU_INDICATORS_SYMBOL "papertape_gpu_indicators"

/* One indicator of one series. */
struct gpu_job {
    uint32_t kernel;           /* enum indicator_id */
    uint32_t inputs;           /* enum indicator_input */
    uint32_t outputs;          /* how many */
    uint32_t series;           /* its row in the loaded columns */
    uint32_t out;              /* its first output column; the others follow */
    uint64_t start;            /* first complete bar, n_bars if there is none */
    uint64_t lookback, warmup; /* as indicator_lookback() and indicator_warmup() for float64 */
    double options[INDICATOR_OPTIONS_MAX];
};

enum gpu_method {
    GPU_EXACT,    /* the reference's bits */
    GPU_PARALLEL, /* reproducible and faster; cuda/fused.h states tolerances */
};

/* One specification among the streams of a symbol. A symbol's memory holds a record for each: its head, then
 * step/'s memory, as a host stream has them. */
struct gpu_stream_spec {
    uint32_t kernel, inputs, outputs;
    uint32_t out;    /* its first among a symbol's outputs */
    uint64_t record; /* where its record begins in a symbol's memory; a multiple of 8 */
    uint64_t bytes;  /* of step/'s memory */
    double options[INDICATOR_OPTIONS_MAX];
};

struct gpu_stream_head {
    uint64_t bars, refused;
};

struct gpu_stream_bar {
    uint64_t symbol;
    struct indicator_bar bar;
};

struct gpu_indicators;     /* a device with its loaded columns */
struct gpu_device_streams; /* streams whose memory is on the device */

struct gpu_indicators_api {
    uint32_t abi;

    /* The device that open() takes, without opening it, the same in every process (its UUID), as
     * indicators_gpu/share.h takes it; "" for one whose memory no other process can hold. -ENODEV. */
    int (*identify)(char ret[GPU_DEVICE_ID_MAX]);
    int (*open)(struct gpu_indicators **ret, char *reason, size_t cap);
    void (*close)(struct gpu_indicators *g);
    const char *(*device)(const struct gpu_indicators *g);

    /* The most device memory that may be held from now on, 0 for all that there is: beyond it is -ENOMEM. */
    void (*limit)(struct gpu_indicators *g, size_t bytes);

    /* Copies columns to the device: columns[series * INDICATOR_COLUMNS + c] holds n_bars values, in the order
     * of enum indicator_input's bits, or is NULL when no job of that series reads it. With INDICATOR_F32 the
     * device keeps them, except the time, rounded to float32, and outputs as well. Replaces what was
     * loaded. */
    int (*load)(struct gpu_indicators *g, enum indicator_precision precision, const double *const columns[],
                size_t n_series, size_t n_bars, char *reason, size_t cap);

    /* Computes all jobs into output columns 0..n_columns-1 on the device, NaN before the first output, and
     * waits. *ret_ms is the device's time. The outputs stay until the next load or compute. */
    int (*compute)(struct gpu_indicators *g, enum gpu_method method, const struct gpu_job jobs[],
                   size_t n_jobs, size_t n_columns, float *ret_ms, char *reason, size_t cap);

    /* Copies one output column (n_bars values) to the host. */
    int (*fetch)(struct gpu_indicators *g, size_t column, double *out, char *reason, size_t cap);

    /* Bytes per second, reads plus writes, of a copy of `bytes` within the device's memory: the limit that
     * benchmarks are compared with. */
    int (*copy_rate)(struct gpu_indicators *g, size_t bytes, double *ret_bytes_per_s, char *reason,
                     size_t cap);

    /* Streams that have seen no bar; destroyed before the device is closed. */
    int (*streams_create)(struct gpu_indicators *g, size_t n_symbols, size_t symbol_bytes,
                          const struct gpu_stream_spec specs[], size_t n_specs,
                          struct gpu_device_streams **ret, char *reason, size_t cap);
    void (*streams_destroy)(struct gpu_device_streams *s);

    /* The memories of `n` symbols from `first` on, one after the other: to the device, and back. */
    int (*streams_write)(struct gpu_device_streams *s, size_t first, size_t n, const void *memory,
                         char *reason, size_t cap);
    int (*streams_read)(struct gpu_device_streams *s, size_t first, size_t n, void *memory, char *reason,
                        size_t cap);

    /* Gives each bar to all streams of its symbol; no two bars have the same one. out[i * outputs of a
     * symbol] are bar i's outputs, NaN where there are none, ready[i * n_specs + k] whether spec k gave some.
     * Without `commit` the streams stay as they are. */
    int (*streams_step)(struct gpu_device_streams *s, const struct gpu_stream_bar bars[], size_t n,
                        bool commit, double out[], uint8_t ready[], char *reason, size_t cap);
};

#endif
