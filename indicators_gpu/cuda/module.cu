/* papertape-gpu.so: opens the device and owns its memory. batch.cu and streams.cu launch the block functions.
 *
 * For nvcc 12.0 or later: sm_80 and sm_90 as machine code, compute_90 as PTX for newer devices.
 * -fmad=false: the float64 results are the reference's to the bit. The runtime is linked statically and finds
 * the driver itself. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "indicators_gpu/cuda/device.h"

/* Of the whole process: a context serves all of its handles. */
static struct process_memory process;

enum {
    COPY_ROUNDS = 20,        /* copies timed together by copy_rate */
    OLDEST_DEVICE_MAJOR = 8, /* compute capability of sm_80 */
};

int gpu_device_check(struct gpu_indicators *g, cudaError_t error, const char *what, char *reason, size_t cap)
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
        if (g)
            g->lost = true;
        return -EIO;
    }
}

void gpu_device_let_go(cudaError_t error)
{
    if (error != cudaSuccess)
        cudaGetLastError();
}

int gpu_device_alive(const struct gpu_indicators *g, char *reason, size_t cap)
{
    if (!g->lost)
        return 0;
    snprintf(reason, cap, "%s was lost to an error before", g->name);
    return -EIO;
}

int gpu_device_reserve(struct gpu_indicators *g, struct device_memory *memory, size_t n, size_t each,
                       const char *what, char *reason, size_t cap)
{
    if (n > SIZE_MAX / each) {
        snprintf(reason, cap, "%s: %zu values are more than memory can address", what, n);
        return -EINVAL;
    }
    size_t bytes = n ? n * each : each;
    if (memory->bytes >= bytes)
        return 0;
    gpu_device_release(g, memory);
    if (g->limit > 0 && (g->held > g->limit || bytes > g->limit - g->held)) {
        snprintf(reason, cap, "%s: out of memory: %zu bytes beside %zu are above the limit of %zu", what,
                 bytes, g->held, g->limit);
        return -ENOMEM;
    }
    int r = gpu_device_check(g, cudaMalloc(&memory->at, bytes), what, reason, cap);
    if (r < 0) {
        memory->at = NULL;
        return r;
    }
    memory->bytes = bytes;
    g->held += bytes;
    process.held += bytes;
    return 0;
}

struct process_memory *gpu_process_memory(void)
{
    return &process;
}

void gpu_device_release(struct gpu_indicators *g, struct device_memory *memory)
{
    if (!memory->at)
        return;
    gpu_device_let_go(cudaFree(memory->at));
    g->held -= memory->bytes;
    process.held -= memory->bytes;
    memory->at = NULL;
    memory->bytes = 0;
}

/* After a sticky error the process's context only repeats it: the next open gets a new one. */
static void gpu_close(struct gpu_indicators *g)
{
    gpu_batch_release(g);
    if (g->begin)
        gpu_device_let_go(cudaEventDestroy(g->begin));
    if (g->end)
        gpu_device_let_go(cudaEventDestroy(g->end));
    if (g->stream)
        gpu_device_let_go(cudaStreamDestroy(g->stream));
    if (g->lost) {
        gpu_device_let_go(cudaDeviceReset());
        process.context = process.code = 0;
    }
    free(g);
}

static int gpu_identify(char ret[GPU_DEVICE_ID_MAX])
{
    cudaDeviceProp device;
    if (cudaGetDeviceProperties(&device, 0) != cudaSuccess) {
        gpu_device_let_go(cudaErrorNoDevice);
        return -ENODEV;
    }
    for (size_t i = 0; i < sizeof(device.uuid.bytes); i++)
        snprintf(ret + 2 * i, 3, "%02x", (unsigned char)device.uuid.bytes[i]);
    return 0;
}

/* Makes the context, if the process has none yet. */
static int open_context(struct gpu_indicators *g, const cudaUUID_t *uuid, char *reason, size_t cap)
{
    size_t before = 0;
    const bool known = process.context == 0 && gpu_driver_memory_used(uuid, &before);
    int r = gpu_device_check(g, cudaSetDevice(0), "CUDA device 0", reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking), "CUDA stream",
                             reason, cap);
    if (r == 0 && process.context == 0)
        process.context = gpu_driver_memory_taken(uuid, known, before);
    return r;
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
    int r = gpu_device_check(NULL, cudaGetDeviceCount(&n_devices), "no CUDA device", reason, cap);
    if (r < 0)
        return -ENODEV;
    if (n_devices == 0) {
        snprintf(reason, cap, "no CUDA device: the driver lists none");
        return -ENODEV;
    }
    r = gpu_device_check(NULL, cudaGetDeviceProperties(&device, 0), "CUDA device 0", reason, cap);
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
    r = open_context(g, &device.uuid, reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaEventCreate(&g->begin), "CUDA event", reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaEventCreate(&g->end), "CUDA event", reason, cap);
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

static void gpu_limit(struct gpu_indicators *g, size_t bytes)
{
    g->limit = bytes;
}

static int gpu_copy_rate(struct gpu_indicators *g, size_t bytes, double *ret_bytes_per_s, char *reason,
                         size_t cap)
{
    struct device_memory from = {NULL, 0}, to = {NULL, 0};
    float ms = 0;
    int r = gpu_device_alive(g, reason, cap);
    if (r == 0)
        r = gpu_device_reserve(g, &from, bytes, 1, "device memory for a copy", reason, cap);
    if (r == 0)
        r = gpu_device_reserve(g, &to, bytes, 1, "device memory for a copy", reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaMemsetAsync(from.at, 1, bytes, g->stream), "memset", reason, cap);
    for (int i = 0; i <= COPY_ROUNDS && r == 0; i++) { /* the first one warms up */
        if (i == 1)
            r = gpu_device_check(g, cudaEventRecord(g->begin, g->stream), "CUDA event", reason, cap);
        if (r == 0)
            r = gpu_device_check(g,
                                 cudaMemcpyAsync(to.at, from.at, bytes, cudaMemcpyDeviceToDevice, g->stream),
                                 "copy", reason, cap);
    }
    if (r == 0)
        r = gpu_device_check(g, cudaEventRecord(g->end, g->stream), "CUDA event", reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaEventSynchronize(g->end), "copy", reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaEventElapsedTime(&ms, g->begin, g->end), "CUDA event", reason, cap);
    gpu_device_release(g, &from);
    gpu_device_release(g, &to);
    if (r == 0)
        *ret_bytes_per_s = 2.0 * (double)bytes * COPY_ROUNDS / (ms * 1e-3);
    return r;
}

extern "C" {
extern const struct gpu_indicators_api papertape_gpu_indicators __attribute__((visibility("default")));
const struct gpu_indicators_api papertape_gpu_indicators = {
    GPU_INDICATORS_ABI,
    gpu_identify,
    gpu_open,
    gpu_close,
    gpu_device,
    gpu_limit,
    gpu_batch_load,
    gpu_batch_compute,
    gpu_batch_fetch,
    gpu_copy_rate,
    gpu_device_streams_create,
    gpu_device_streams_destroy,
    gpu_device_streams_write,
    gpu_device_streams_read,
    gpu_device_streams_step,
};
}
