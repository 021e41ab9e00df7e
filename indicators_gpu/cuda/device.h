/* Inside the module: the device, its memory and how its errors become reasons. Only for .cu files. */
#ifndef INDICATORS_GPU_CUDA_DEVICE_H
#define INDICATORS_GPU_CUDA_DEVICE_H

#include <cuda_runtime.h>

#include "indicators_gpu/cuda/abi.h"

/* A piece of device memory, counted against the limit. */
struct device_memory {
    void *at;
    size_t bytes;
};

/* What this process holds of the device: what it has allocated, and what the driver took for its context and
 * (trainer/ppo/cuda/graphs.cu: an estimate, once a graph was made) for learners' code and graphs. */
struct process_memory {
    size_t held, context, code;
};

/* A batch's memory; kept from run to run, so that a repeated one allocates nothing. */
enum device_use {
    DEVICE_OUT,
    DEVICE_WALKS,
    DEVICE_MEMORY,
    DEVICE_MARKS,
    DEVICE_FUSED,
    DEVICE_GROUPS,
    DEVICE_RULES,
    DEVICE_CARRY,
    DEVICE_FLAGS, /* the ticket, then the flags */
    DEVICE_USES,
};

struct gpu_indicators {
    char name[256];
    cudaStream_t stream;
    cudaEvent_t begin, end;
    size_t held, limit; /* bytes; limit 0: none */
    bool lost;          /* after an error from which the device does not recover */

    struct device_memory columns[INDICATOR_COLUMNS];
    enum indicator_precision precision;
    size_t n_series, n_bars, stride, n_columns;
    struct device_memory memory[DEVICE_USES];
};

extern "C" {

/* Turns CUDA's error into an errno and a sentence, and marks a lost device. `g` may be NULL. */
int gpu_device_check(struct gpu_indicators *g, cudaError_t error, const char *what, char *reason, size_t cap);

/* For clean-up, where no caller could handle a failure: only clears CUDA's error. */
void gpu_device_let_go(cudaError_t error);

/* 0, or -EIO with a sentence when the device is lost. */
int gpu_device_alive(const struct gpu_indicators *g, char *reason, size_t cap);

/* Makes `memory` at least n values of `each` bytes (one, where there is none: a valid pointer); its content
 * is lost when it grows. -ENOMEM leaves it empty. */
int gpu_device_reserve(struct gpu_indicators *g, struct device_memory *memory, size_t n, size_t each,
                       const char *what, char *reason, size_t cap);
void gpu_device_release(struct gpu_indicators *g, struct device_memory *memory);

struct process_memory *gpu_process_memory(void);

/* driver_memory.cu: how much of the device all processes hold; false: unknown. And what the driver has taken
 * since it was `before`, if that is `known`, else an estimate. */
bool gpu_driver_memory_used(const cudaUUID_t *uuid, size_t *ret);
size_t gpu_driver_memory_taken(const cudaUUID_t *uuid, bool known, size_t before);

/* batch.cu */
void gpu_batch_release(struct gpu_indicators *g);
int gpu_batch_load(struct gpu_indicators *g, enum indicator_precision precision,
                   const double *const columns[], size_t n_series, size_t n_bars, char *reason, size_t cap);
int gpu_batch_compute(struct gpu_indicators *g, enum gpu_method method, const struct gpu_job jobs[],
                      size_t n_jobs, size_t n_columns, float *ret_ms, char *reason, size_t cap);
int gpu_batch_fetch(struct gpu_indicators *g, size_t column, double *out, char *reason, size_t cap);

/* streams.cu */
int gpu_device_streams_create(struct gpu_indicators *g, size_t n_symbols, size_t symbol_bytes,
                              const struct gpu_stream_spec specs[], size_t n_specs,
                              struct gpu_device_streams **ret, char *reason, size_t cap);
void gpu_device_streams_destroy(struct gpu_device_streams *s);
int gpu_device_streams_write(struct gpu_device_streams *s, size_t first, size_t n, const void *memory,
                             char *reason, size_t cap);
int gpu_device_streams_read(struct gpu_device_streams *s, size_t first, size_t n, void *memory, char *reason,
                            size_t cap);
int gpu_device_streams_step(struct gpu_device_streams *s, const struct gpu_stream_bar bars[], size_t n,
                            bool commit, double out[], uint8_t ready[], char *reason, size_t cap);
}

#endif
