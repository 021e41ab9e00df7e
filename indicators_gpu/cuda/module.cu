/* papertape-gpu.so: launches the block functions of exact.h and parallel.h on the device, and owns its
 * memory.
 *
 * For nvcc 12.0 or later: sm_80 and sm_90 as machine code, compute_90 as PTX for what comes after.
 * -fmad=false: the float64 results are the reference's to the bit. The runtime is linked statically and finds
 * the driver itself.
 *
 * Copies are row by row (the host's columns lie where they like); rows on the device start on 256 bytes. */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "indicators_gpu/cuda/plan.h"

enum {
    ROW_ALIGN = 32,          /* doubles: 256 bytes, CUDA's own alignment */
    COPY_ROUNDS = 20,        /* copies timed together by copy_rate */
    OLDEST_DEVICE_MAJOR = 8, /* compute capability of sm_80 */
};

struct gpu_indicators {
    char name[256];
    cudaStream_t stream;
    cudaEvent_t begin, end;
    double *columns[INDICATOR_COLUMNS];
    size_t n_series, n_bars, stride;
    double *out;
    size_t n_columns;
    struct gpu_job *jobs;
    double *seeds, *prefix;
    struct affine *carry;
};

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

/* Turns what CUDA returned into an errno and a sentence. */
static int check(cudaError_t error, const char *what, char *reason, size_t cap)
{
    if (error == cudaSuccess)
        return 0;
    snprintf(reason, cap, "%s: %s", what, cudaGetErrorString(error));
    switch (error) {
    case cudaErrorMemoryAllocation:
        cudaGetLastError(); /* not sticky: clear it, the device stays usable */
        return -ENOMEM;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorDevicesUnavailable:
        return -ENODEV;
    default:
        return -EIO;
    }
}

/* For clean-up, where nobody is left to tell: a failure there only clears the error that it leaves. */
static void let_go(cudaError_t error)
{
    if (error != cudaSuccess)
        cudaGetLastError();
}

static void release_outputs(struct gpu_indicators *g)
{
    let_go(cudaFree(g->out));
    let_go(cudaFree(g->jobs));
    let_go(cudaFree(g->seeds));
    let_go(cudaFree(g->prefix));
    let_go(cudaFree(g->carry));
    g->out = g->seeds = g->prefix = NULL;
    g->jobs = NULL;
    g->carry = NULL;
    g->n_columns = 0;
}

static void release_columns(struct gpu_indicators *g)
{
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        let_go(cudaFree(g->columns[c]));
        g->columns[c] = NULL;
    }
    g->n_series = g->n_bars = g->stride = 0;
}

static void gpu_close(struct gpu_indicators *g)
{
    release_outputs(g);
    release_columns(g);
    if (g->begin)
        let_go(cudaEventDestroy(g->begin));
    if (g->end)
        let_go(cudaEventDestroy(g->end));
    if (g->stream)
        let_go(cudaStreamDestroy(g->stream));
    free(g);
}

static int gpu_open(struct gpu_indicators **ret, char *reason, size_t cap)
{
    /* The runtime would report a missing driver as an old one. */
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!driver) {
        snprintf(reason, cap, "no CUDA driver: %s", dlerror());
        return -ENODEV;
    }
    dlclose(driver);

    int n_devices = 0;
    cudaDeviceProp device;
    int r = check(cudaGetDeviceCount(&n_devices), "no CUDA device", reason, cap);
    if (r < 0)
        return -ENODEV;
    if (n_devices == 0) {
        snprintf(reason, cap, "no CUDA device: the driver lists none");
        return -ENODEV;
    }
    r = check(cudaGetDeviceProperties(&device, 0), "CUDA device 0", reason, cap);
    if (r < 0)
        return r;
    if (device.major < OLDEST_DEVICE_MAJOR) {
        snprintf(reason, cap, "%s: compute capability %d.%d: %d.0 or later is needed", device.name,
                 device.major, device.minor, OLDEST_DEVICE_MAJOR);
        return -ENODEV;
    }
    struct gpu_indicators *g = (struct gpu_indicators *)calloc(1, sizeof(*g));
    if (!g) {
        snprintf(reason, cap, "out of memory");
        return -ENOMEM;
    }
    snprintf(g->name, sizeof(g->name), "%s", device.name);
    r = check(cudaSetDevice(0), "CUDA device 0", reason, cap);
    if (r == 0)
        r = check(cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking), "CUDA stream", reason, cap);
    if (r == 0)
        r = check(cudaEventCreate(&g->begin), "CUDA event", reason, cap);
    if (r == 0)
        r = check(cudaEventCreate(&g->end), "CUDA event", reason, cap);
    if (r < 0) {
        gpu_close(g);
        return r;
    }
    *ret = g;
    return 0;
}

static const char *gpu_device(const struct gpu_indicators *g)
{
    return g->name;
}

/* Device memory of n values (one, where there is none: a valid pointer). */
template <typename T> static int allocate(T **ret, size_t n, const char *what, char *reason, size_t cap)
{
    if (n > SIZE_MAX / sizeof(T)) {
        snprintf(reason, cap, "%s: %zu values are more than memory can address", what, n);
        return -EINVAL;
    }
    return check(cudaMalloc((void **)ret, (n ? n : 1) * sizeof(T)), what, reason, cap);
}

static int gpu_load(struct gpu_indicators *g, const double *const columns[], size_t n_series, size_t n_bars,
                    char *reason, size_t cap)
{
    release_outputs(g);
    release_columns(g);
    size_t stride = (n_bars + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
    if (n_series > UINT32_MAX || (n_series > 0 && stride > SIZE_MAX / sizeof(double) / n_series)) {
        snprintf(reason, cap, "%zu series of %zu bars are too many for one batch", n_series, n_bars);
        return -EINVAL;
    }
    g->n_series = n_series;
    g->n_bars = n_bars;
    g->stride = stride;

    int r = 0;
    for (size_t c = 0; c < INDICATOR_COLUMNS && r == 0; c++)
        for (size_t s = 0; s < n_series && r == 0; s++) {
            const double *from = columns[s * INDICATOR_COLUMNS + c];
            if (!from)
                continue;
            if (!g->columns[c])
                r = allocate(&g->columns[c], n_series * stride, "device memory for bars", reason, cap);
            if (r == 0)
                r = check(cudaMemcpyAsync(g->columns[c] + s * stride, from, n_bars * sizeof(double),
                                          cudaMemcpyHostToDevice, g->stream),
                          "copy to the device", reason, cap);
        }
    if (r == 0)
        r = check(cudaStreamSynchronize(g->stream), "copy to the device", reason, cap);
    if (r < 0)
        release_columns(g);
    return r;
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

/* Output columns are kept from run to run while their number stays, so that a repeated run allocates only
 * scratch. */
static int prepare(struct gpu_indicators *g, size_t n_columns, size_t n_jobs, size_t n_prefix, size_t n_tiles,
                   char *reason, size_t cap)
{
    if (g->n_columns != n_columns)
        release_outputs(g);
    int r = 0;
    if (!g->out)
        r = allocate(&g->out, n_columns * g->stride, "device memory for outputs", reason, cap);
    g->n_columns = r == 0 ? n_columns : 0;
    if (r == 0)
        r = allocate(&g->jobs, n_jobs, "device memory for jobs", reason, cap);
    if (r == 0 && n_tiles > 0) {
        r = allocate(&g->seeds, n_jobs * SCAN_LANES, "device memory for seeds", reason, cap);
        if (r == 0)
            r = allocate(&g->carry, n_jobs * SCAN_LANES * n_tiles, "device memory for carries", reason, cap);
        if (r == 0)
            r = allocate(&g->prefix, n_prefix * g->stride, "device memory for prefix sums", reason, cap);
    }
    return r;
}

static void release_scratch(struct gpu_indicators *g)
{
    let_go(cudaFree(g->jobs));
    let_go(cudaFree(g->seeds));
    let_go(cudaFree(g->prefix));
    let_go(cudaFree(g->carry));
    g->jobs = NULL;
    g->seeds = g->prefix = NULL;
    g->carry = NULL;
}

static int run_jobs(struct gpu_indicators *g, enum gpu_method method, struct gpu_job jobs[], size_t n_jobs,
                    size_t n_columns, float *ret_ms, char *reason, size_t cap)
{
    size_t n_prefix = gpu_plan(method, jobs, n_jobs),
           n_tiles = method == GPU_PARALLEL ? gpu_tiles(g->n_bars) : 0;
    int r = prepare(g, n_columns, n_jobs, n_prefix, n_tiles, reason, cap);
    if (r < 0)
        return r;
    r = check(cudaMemcpyAsync(g->jobs, jobs, n_jobs * sizeof(*jobs), cudaMemcpyHostToDevice, g->stream),
              "copy to the device", reason, cap);
    if (r < 0)
        return r;

    struct gpu_view v;
    memset(&v, 0, sizeof(v));
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        v.columns[c] = g->columns[c];
    v.jobs = g->jobs;
    v.out = g->out;
    v.n_bars = g->n_bars;
    v.stride = g->stride;
    v.n_jobs = (unsigned)n_jobs;
    v.n_tiles = (unsigned)n_tiles;
    v.seeds = g->seeds;
    v.carry = g->carry;
    v.prefix = g->prefix;

    r = check(cudaEventRecord(g->begin, g->stream), "CUDA event", reason, cap);
    if (r == 0) {
        r = gpu_run(method, jobs, &v, launch, g);
        if (r == -EINVAL)
            snprintf(reason, cap, "%zu jobs over %zu bars are too many for one batch", n_jobs, g->n_bars);
        else if (r < 0)
            r = check(cudaGetLastError(), "kernel launch", reason, cap);
    }
    if (r == 0)
        r = check(cudaEventRecord(g->end, g->stream), "CUDA event", reason, cap);
    if (r == 0)
        r = check(cudaEventSynchronize(g->end), "kernel", reason, cap);
    if (r == 0)
        r = check(cudaEventElapsedTime(ret_ms, g->begin, g->end), "CUDA event", reason, cap);
    return r;
}

static int gpu_compute(struct gpu_indicators *g, enum gpu_method method, const struct gpu_job jobs[],
                       size_t n_jobs, size_t n_columns, float *ret_ms, char *reason, size_t cap)
{
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
    int r = run_jobs(g, method, planned, n_jobs, n_columns, ret_ms, reason, cap);
    release_scratch(g);
    free(planned);
    return r;
}

static int gpu_fetch(struct gpu_indicators *g, size_t column, double *out, char *reason, size_t cap)
{
    if (column >= g->n_columns) {
        snprintf(reason, cap, "output column %zu was not computed", column);
        return -EINVAL;
    }
    int r = check(cudaMemcpyAsync(out, g->out + column * g->stride, g->n_bars * sizeof(double),
                                  cudaMemcpyDeviceToHost, g->stream),
                  "copy from the device", reason, cap);
    if (r == 0)
        r = check(cudaStreamSynchronize(g->stream), "copy from the device", reason, cap);
    return r;
}

static int gpu_copy_rate(struct gpu_indicators *g, size_t bytes, double *ret_bytes_per_s, char *reason,
                         size_t cap)
{
    char *from = NULL, *to = NULL;
    float ms = 0;
    int r = allocate(&from, bytes, "device memory for a copy", reason, cap);
    if (r == 0)
        r = allocate(&to, bytes, "device memory for a copy", reason, cap);
    if (r == 0)
        r = check(cudaMemsetAsync(from, 1, bytes, g->stream), "memset", reason, cap);
    for (int i = 0; i <= COPY_ROUNDS && r == 0; i++) { /* the first one warms up */
        if (i == 1)
            r = check(cudaEventRecord(g->begin, g->stream), "CUDA event", reason, cap);
        if (r == 0)
            r = check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, g->stream), "copy", reason,
                      cap);
    }
    if (r == 0)
        r = check(cudaEventRecord(g->end, g->stream), "CUDA event", reason, cap);
    if (r == 0)
        r = check(cudaEventSynchronize(g->end), "copy", reason, cap);
    if (r == 0)
        r = check(cudaEventElapsedTime(&ms, g->begin, g->end), "CUDA event", reason, cap);
    let_go(cudaFree(from));
    let_go(cudaFree(to));
    if (r == 0)
        *ret_bytes_per_s = 2.0 * (double)bytes * COPY_ROUNDS / (ms * 1e-3);
    return r;
}

extern "C" {
extern const struct gpu_indicators_api papertape_gpu_indicators __attribute__((visibility("default")));
const struct gpu_indicators_api papertape_gpu_indicators = {
    GPU_INDICATORS_ABI, gpu_open, gpu_close, gpu_device, gpu_load, gpu_compute, gpu_fetch, gpu_copy_rate,
};
}
