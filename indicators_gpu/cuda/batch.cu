/* Batches: columns that stay on the device, the jobs over them, their outputs.
 *
 * Copies are row by row (the host's columns lie where they like); rows on the device start on 256 bytes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "indicators_gpu/cuda/device.h"
#include "indicators_gpu/cuda/plan.h"

enum { ROW_ALIGN = 64 }; /* values: 256 bytes or more, CUDA's own alignment */

void batch_release(struct gpu_indicators *g)
{
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        device_release(g, &g->columns[c]);
    for (size_t i = 0; i < DEVICE_USES; i++)
        device_release(g, &g->memory[i]);
    g->n_series = g->n_bars = g->stride = g->n_columns = 0;
}

/* Bytes of a value in input column c, or of an output where c is none. */
static size_t cell_bytes(const struct gpu_indicators *g, size_t c)
{
    return g->precision == INDICATOR_F32 && 1u << c != INDICATOR_TIME ? sizeof(float) : sizeof(double);
}

/* Copies one row up, rounded on the way where the device keeps float32; `rounded` has room for a row. */
static int load_row(struct gpu_indicators *g, size_t c, size_t series, const double *from, float *rounded,
                    char *reason, size_t cap)
{
    size_t each = cell_bytes(g, c);
    char *to = (char *)g->columns[c].at + series * g->stride * each;
    const void *source = from;
    if (each == sizeof(float)) {
        for (size_t i = 0; i < g->n_bars; i++)
            rounded[i] = (float)from[i];
        source = rounded;
    }
    int r = device_check(g, cudaMemcpyAsync(to, source, g->n_bars * each, cudaMemcpyHostToDevice, g->stream),
                         "copy to the device", reason, cap);
    if (r == 0 && source == rounded) /* which the next row overwrites */
        r = device_check(g, cudaStreamSynchronize(g->stream), "copy to the device", reason, cap);
    return r;
}

int batch_load(struct gpu_indicators *g, enum indicator_precision precision, const double *const columns[],
               size_t n_series, size_t n_bars, char *reason, size_t cap)
{
    int r = device_alive(g, reason, cap);
    if (r < 0)
        return r;
    batch_release(g);
    size_t stride = (n_bars + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
    if (n_series > UINT32_MAX || (n_series > 0 && stride > SIZE_MAX / sizeof(double) / n_series)) {
        snprintf(reason, cap, "%zu series of %zu bars are too many for one batch", n_series, n_bars);
        return -EINVAL;
    }
    float *rounded = precision == INDICATOR_F32 ? (float *)malloc(n_bars * sizeof(float) + 1) : NULL;
    if (precision == INDICATOR_F32 && !rounded) {
        snprintf(reason, cap, "out of memory");
        return -ENOMEM;
    }
    g->precision = precision;
    g->n_series = n_series;
    g->n_bars = n_bars;
    g->stride = stride;
    for (size_t c = 0; c < INDICATOR_COLUMNS && r == 0; c++)
        for (size_t s = 0; s < n_series && r == 0; s++) {
            const double *from = columns[s * INDICATOR_COLUMNS + c];
            if (!from)
                continue;
            r = device_reserve(g, &g->columns[c], n_series * stride, cell_bytes(g, c),
                               "device memory for bars", reason, cap);
            if (r == 0)
                r = load_row(g, c, s, from, rounded, reason, cap);
        }
    if (r == 0)
        r = device_check(g, cudaStreamSynchronize(g->stream), "copy to the device", reason, cap);
    free(rounded);
    if (r < 0)
        batch_release(g);
    return r;
}

int batch_fetch(struct gpu_indicators *g, size_t column, double *out, char *reason, size_t cap)
{
    size_t each = g->precision == INDICATOR_F32 ? sizeof(float) : sizeof(double);
    int r = device_alive(g, reason, cap);
    if (r < 0)
        return r;
    if (column >= g->n_columns) {
        snprintf(reason, cap, "output column %zu was not computed", column);
        return -EINVAL;
    }
    /* float32 comes down into the second half of the row, and is widened from the front on. */
    char *to = (char *)out + g->n_bars * (sizeof(double) - each);
    r = device_check(g,
                     cudaMemcpyAsync(to, (const char *)g->memory[DEVICE_OUT].at + column * g->stride * each,
                                     g->n_bars * each, cudaMemcpyDeviceToHost, g->stream),
                     "copy from the device", reason, cap);
    if (r == 0)
        r = device_check(g, cudaStreamSynchronize(g->stream), "copy from the device", reason, cap);
    for (size_t i = 0; i < g->n_bars && each == sizeof(float) && r == 0; i++) {
        float value;
        memcpy(&value, to + i * sizeof(float), sizeof(value));
        out[i] = value;
    }
    return r;
}

static __global__ void exact_kernel(struct gpu_view v)
{
    __shared__ struct exact_shared sh;
    block_exact(&v, blockIdx.x, &sh);
}

static __global__ void window_kernel(struct gpu_view v)
{
    block_window(&v, blockIdx.x);
}

static __global__ void seed_kernel(struct gpu_view v, unsigned round)
{
    block_seed(&v, blockIdx.x, round);
}

static __global__ void __launch_bounds__(TILE_THREADS) reduce_kernel(struct gpu_view v, unsigned round)
{
    __shared__ struct tile_shared sh;
    block_reduce(&v, blockIdx.x, &sh, round);
}

static __global__ void __launch_bounds__(TILE_THREADS) carry_kernel(struct gpu_view v, unsigned round)
{
    __shared__ struct tile_shared sh;
    block_carry(&v, blockIdx.x, &sh, round);
}

static __global__ void __launch_bounds__(TILE_THREADS) apply_kernel(struct gpu_view v, unsigned round)
{
    __shared__ struct tile_shared sh;
    block_apply(&v, blockIdx.x, &sh, round);
}

static __global__ void difference_kernel(struct gpu_view v)
{
    block_difference(&v, blockIdx.x);
}

static int launch(void *context, enum gpu_kernel kernel, unsigned blocks, const struct gpu_view *v,
                  unsigned round)
{
    cudaStream_t stream = ((struct gpu_indicators *)context)->stream;
    switch (kernel) {
    case GPU_KERNEL_EXACT:
        exact_kernel<<<blocks, EXACT_THREADS, 0, stream>>>(*v);
        break;
    case GPU_KERNEL_WINDOW:
        window_kernel<<<blocks, WINDOW_THREADS, 0, stream>>>(*v);
        break;
    case GPU_KERNEL_SEED:
        seed_kernel<<<blocks, SEED_THREADS, 0, stream>>>(*v, round);
        break;
    case GPU_KERNEL_REDUCE:
        reduce_kernel<<<blocks, TILE_THREADS, 0, stream>>>(*v, round);
        break;
    case GPU_KERNEL_CARRY:
        carry_kernel<<<blocks, TILE_THREADS, 0, stream>>>(*v, round);
        break;
    case GPU_KERNEL_APPLY:
        apply_kernel<<<blocks, TILE_THREADS, 0, stream>>>(*v, round);
        break;
    case GPU_KERNEL_DIFFERENCE:
        difference_kernel<<<blocks, TILE_THREADS, 0, stream>>>(*v);
        break;
    }
    return cudaPeekAtLastError() == cudaSuccess ? 0 : -EIO;
}

static int prepare(struct gpu_indicators *g, size_t n_columns, size_t n_jobs, size_t n_prefix, size_t n_tiles,
                   char *reason, size_t cap)
{
    int r = device_reserve(g, &g->memory[DEVICE_OUT], n_columns * g->stride, sizeof(double),
                           "device memory for outputs", reason, cap);
    g->n_columns = r == 0 ? n_columns : 0;
    if (r == 0)
        r = device_reserve(g, &g->memory[DEVICE_JOBS], n_jobs, sizeof(struct gpu_job),
                           "device memory for jobs", reason, cap);
    if (r == 0)
        r = device_reserve(g, &g->memory[DEVICE_SEEDS], n_jobs * SCAN_LANES, sizeof(double),
                           "device memory for seeds", reason, cap);
    if (r == 0)
        r = device_reserve(g, &g->memory[DEVICE_CARRY], n_jobs * SCAN_LANES * n_tiles, sizeof(struct affine),
                           "device memory for carries", reason, cap);
    if (r == 0)
        r = device_reserve(g, &g->memory[DEVICE_PREFIX], n_prefix * g->stride, sizeof(double),
                           "device memory for prefix sums", reason, cap);
    return r;
}

static int run_jobs(struct gpu_indicators *g, enum gpu_method method, struct gpu_job jobs[], size_t n_jobs,
                    size_t n_columns, float *ret_ms, char *reason, size_t cap)
{
    size_t n_prefix = gpu_plan(method, jobs, n_jobs),
           n_tiles = method == GPU_PARALLEL ? gpu_tiles(g->n_bars) : 0;
    int r = prepare(g, n_columns, n_jobs, n_prefix, n_tiles, reason, cap);
    if (r < 0)
        return r;
    r = device_check(g,
                     cudaMemcpyAsync(g->memory[DEVICE_JOBS].at, jobs, n_jobs * sizeof(*jobs),
                                     cudaMemcpyHostToDevice, g->stream),
                     "copy to the device", reason, cap);
    if (r < 0)
        return r;

    struct gpu_view v;
    memset(&v, 0, sizeof(v));
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        v.columns[c] = (const double *)g->columns[c].at;
    v.jobs = (const struct gpu_job *)g->memory[DEVICE_JOBS].at;
    v.out = (double *)g->memory[DEVICE_OUT].at;
    v.n_bars = g->n_bars;
    v.stride = g->stride;
    v.n_jobs = (unsigned)n_jobs;
    v.n_tiles = (unsigned)n_tiles;
    v.seeds = (double *)g->memory[DEVICE_SEEDS].at;
    v.carry = (struct affine *)g->memory[DEVICE_CARRY].at;
    v.prefix = (double *)g->memory[DEVICE_PREFIX].at;

    r = device_check(g, cudaEventRecord(g->begin, g->stream), "CUDA event", reason, cap);
    if (r == 0) {
        r = gpu_run(method, jobs, &v, launch, g);
        if (r == -EINVAL)
            snprintf(reason, cap, "%zu jobs over %zu bars are too many for one batch", n_jobs, g->n_bars);
        else if (r < 0)
            r = device_check(g, cudaGetLastError(), "kernel launch", reason, cap);
    }
    if (r == 0)
        r = device_check(g, cudaEventRecord(g->end, g->stream), "CUDA event", reason, cap);
    if (r == 0)
        r = device_check(g, cudaEventSynchronize(g->end), "kernel", reason, cap);
    if (r == 0)
        r = device_check(g, cudaEventElapsedTime(ret_ms, g->begin, g->end), "CUDA event", reason, cap);
    return r;
}

int batch_compute(struct gpu_indicators *g, enum gpu_method method, const struct gpu_job jobs[],
                  size_t n_jobs, size_t n_columns, float *ret_ms, char *reason, size_t cap)
{
    int r = device_alive(g, reason, cap);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n_jobs; i++)
        if (jobs[i].kernel > INDICATOR_ATR || g->precision != INDICATOR_F64) {
            snprintf(reason, cap, "no kernel for this batch");
            return -EINVAL;
        }
    if (n_jobs > UINT32_MAX || n_columns > UINT32_MAX) {
        snprintf(reason, cap, "%zu jobs are too many for one batch", n_jobs);
        return -EINVAL;
    }
    struct gpu_job *planned = (struct gpu_job *)malloc(n_jobs * sizeof(*planned) + 1);
    if (!planned) {
        snprintf(reason, cap, "out of memory");
        return -ENOMEM;
    }
    memcpy(planned, jobs, n_jobs * sizeof(*planned));
    r = run_jobs(g, method, planned, n_jobs, n_columns, ret_ms, reason, cap);
    free(planned);
    return r;
}
