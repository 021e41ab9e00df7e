/* Streams whose memory is on the device, and pinned buffers for uploads and downloads. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "indicators_gpu/cuda/device.h"
#include "indicators_gpu/cuda/streams.h"

struct gpu_device_streams {
    struct gpu_indicators *g;
    struct streams_view view;
    struct device_memory memory, ahead, specs, bars, results;
    void *up, *down; /* pinned: bars for every symbol; their outputs, then what is ready */
};

static __global__ void start_kernel(struct streams_view v)
{
    block_streams_start(&v, blockIdx.x);
}

static __global__ void step_kernel(struct streams_view v)
{
    block_streams_step(&v, blockIdx.x);
}

/* Bytes of n bars' outputs and ready marks. */
static size_t result_bytes(const struct streams_view *v, size_t n)
{
    return n * v->n_outputs * sizeof(double) + n * v->n_specs;
}

static int allocate(struct gpu_device_streams *s, size_t n_symbols, size_t n_specs, char *reason, size_t cap)
{
    struct gpu_indicators *g = s->g;
    size_t symbol_bytes = s->view.symbol_bytes, n_bars = n_symbols * sizeof(struct gpu_stream_bar);
    int r =
        gpu_device_reserve(g, &s->memory, n_symbols, symbol_bytes, "device memory for streams", reason, cap);
    if (r == 0)
        r = gpu_device_reserve(g, &s->ahead, n_symbols, symbol_bytes, "device memory for streams", reason,
                               cap);
    if (r == 0)
        r = gpu_device_reserve(g, &s->specs, n_specs, sizeof(struct gpu_stream_spec),
                               "device memory for streams", reason, cap);
    if (r == 0)
        r = gpu_device_reserve(g, &s->bars, n_bars, 1, "device memory for bars", reason, cap);
    if (r == 0)
        r = gpu_device_reserve(g, &s->results, result_bytes(&s->view, n_symbols), 1,
                               "device memory for outputs", reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaHostAlloc(&s->up, n_bars, cudaHostAllocDefault), "pinned memory", reason,
                             cap);
    if (r == 0)
        r = gpu_device_check(g,
                             cudaHostAlloc(&s->down, result_bytes(&s->view, n_symbols), cudaHostAllocDefault),
                             "pinned memory", reason, cap);
    return r;
}

static int start(struct gpu_device_streams *s, const struct gpu_stream_spec specs[], size_t n_specs,
                 unsigned blocks, char *reason, size_t cap)
{
    struct gpu_indicators *g = s->g;
    int r = gpu_device_check(g, cudaMemsetAsync(s->memory.at, 0, s->memory.bytes, g->stream), "memset",
                             reason, cap);
    if (r == 0)
        r = gpu_device_check(
            g,
            cudaMemcpyAsync(s->specs.at, specs, n_specs * sizeof(*specs), cudaMemcpyHostToDevice, g->stream),
            "copy to the device", reason, cap);
    if (r == 0) {
        start_kernel<<<blocks, STREAM_THREADS, 0, g->stream>>>(s->view);
        r = gpu_device_check(g, cudaGetLastError(), "kernel launch", reason, cap);
    }
    if (r == 0)
        r = gpu_device_check(g, cudaStreamSynchronize(g->stream), "kernel", reason, cap);
    return r;
}

int gpu_device_streams_create(struct gpu_indicators *g, size_t n_symbols, size_t symbol_bytes,
                              const struct gpu_stream_spec specs[], size_t n_specs,
                              struct gpu_device_streams **ret, char *reason, size_t cap)
{
    unsigned blocks = streams_blocks(n_symbols, n_specs);
    int r = gpu_device_alive(g, reason, cap);
    if (r < 0)
        return r;
    if (blocks == 0) {
        snprintf(reason, cap, "%zu symbols of %zu streams are too many", n_symbols, n_specs);
        return -EINVAL;
    }
    struct gpu_device_streams *s = (struct gpu_device_streams *)calloc(1, sizeof(*s));
    if (!s) {
        snprintf(reason, cap, "out of memory");
        return -ENOMEM;
    }
    s->g = g;
    s->view.symbol_bytes = symbol_bytes;
    s->view.n_symbols = (unsigned)n_symbols;
    s->view.n_specs = (unsigned)n_specs;
    for (size_t k = 0; k < n_specs; k++)
        s->view.n_outputs += specs[k].outputs;
    r = allocate(s, n_symbols, n_specs, reason, cap);
    if (r == 0) {
        s->view.memory = (unsigned char *)s->memory.at;
        s->view.ahead = (unsigned char *)s->ahead.at;
        s->view.specs = (const struct gpu_stream_spec *)s->specs.at;
        s->view.bars = (const struct gpu_stream_bar *)s->bars.at;
        r = start(s, specs, n_specs, blocks, reason, cap);
    }
    if (r < 0) {
        gpu_device_streams_destroy(s);
        return r;
    }
    *ret = s;
    return 0;
}

void gpu_device_streams_destroy(struct gpu_device_streams *s)
{
    gpu_device_release(s->g, &s->memory);
    gpu_device_release(s->g, &s->ahead);
    gpu_device_release(s->g, &s->specs);
    gpu_device_release(s->g, &s->bars);
    gpu_device_release(s->g, &s->results);
    if (s->up)
        gpu_device_let_go(cudaFreeHost(s->up));
    if (s->down)
        gpu_device_let_go(cudaFreeHost(s->down));
    free(s);
}

int gpu_device_streams_write(struct gpu_device_streams *s, size_t first, size_t n, const void *memory,
                             char *reason, size_t cap)
{
    size_t each = s->view.symbol_bytes;
    int r = gpu_device_alive(s->g, reason, cap);
    if (r == 0)
        r = gpu_device_check(s->g,
                             cudaMemcpyAsync(s->view.memory + first * each, memory, n * each,
                                             cudaMemcpyHostToDevice, s->g->stream),
                             "copy to the device", reason, cap);
    if (r == 0)
        r = gpu_device_check(s->g, cudaStreamSynchronize(s->g->stream), "copy to the device", reason, cap);
    return r;
}

int gpu_device_streams_read(struct gpu_device_streams *s, size_t first, size_t n, void *memory, char *reason,
                            size_t cap)
{
    size_t each = s->view.symbol_bytes;
    int r = gpu_device_alive(s->g, reason, cap);
    if (r == 0)
        r = gpu_device_check(s->g,
                             cudaMemcpyAsync(memory, s->view.memory + first * each, n * each,
                                             cudaMemcpyDeviceToHost, s->g->stream),
                             "copy from the device", reason, cap);
    if (r == 0)
        r = gpu_device_check(s->g, cudaStreamSynchronize(s->g->stream), "copy from the device", reason, cap);
    return r;
}

int gpu_device_streams_step(struct gpu_device_streams *s, const struct gpu_stream_bar bars[], size_t n,
                            bool commit, double out[], uint8_t ready[], char *reason, size_t cap)
{
    cudaStream_t stream = s->g->stream;
    struct streams_view v = s->view;
    size_t out_bytes = n * v.n_outputs * sizeof(double);
    int r = gpu_device_alive(s->g, reason, cap);
    if (r < 0)
        return r;

    v.n_bars = (unsigned)n;
    v.commit = commit;
    v.out = (double *)s->results.at;
    v.ready = (uint8_t *)s->results.at + out_bytes;
    memcpy(s->up, bars, n * sizeof(*bars));
    r = gpu_device_check(
        s->g, cudaMemcpyAsync(s->bars.at, s->up, n * sizeof(*bars), cudaMemcpyHostToDevice, stream),
        "copy to the device", reason, cap);
    if (r == 0) {
        step_kernel<<<streams_blocks(n, v.n_specs), STREAM_THREADS, 0, stream>>>(v);
        r = gpu_device_check(s->g, cudaGetLastError(), "kernel launch", reason, cap);
    }
    if (r == 0)
        r = gpu_device_check(
            s->g,
            cudaMemcpyAsync(s->down, s->results.at, result_bytes(&v, n), cudaMemcpyDeviceToHost, stream),
            "copy from the device", reason, cap);
    if (r == 0)
        r = gpu_device_check(s->g, cudaStreamSynchronize(stream), "kernel", reason, cap);
    if (r == 0) {
        memcpy(out, s->down, out_bytes);
        memcpy(ready, (const uint8_t *)s->down + out_bytes, n * v.n_specs);
    }
    return r;
}
