/* Batches: columns that stay on the device, the jobs over them, their outputs.
 *
 * Copies are row by row (the host's columns may be anywhere); rows on the device start on 256 bytes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "indicators_gpu/cuda/device.h"
#include "indicators_gpu/cuda/plan.h"

enum { ROW_ALIGN = 64 }; /* values: 256 bytes or more, CUDA's own alignment */

void gpu_batch_release(struct gpu_indicators *g)
{
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        gpu_device_release(g, &g->columns[c]);
    for (size_t i = 0; i < DEVICE_USES; i++)
        gpu_device_release(g, &g->memory[i]);
    g->n_series = g->n_bars = g->stride = g->n_columns = 0;
}

/* Bytes of a value in input column c, or of an output where c is no input. */
static size_t cell_bytes(const struct gpu_indicators *g, size_t c)
{
    return g->precision == INDICATOR_F32 && 1u << c != INDICATOR_TIME ? sizeof(float) : sizeof(double);
}

/* Uploads one row, rounded first where the device keeps float32; `rounded` has room for a row. */
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
    int r =
        gpu_device_check(g, cudaMemcpyAsync(to, source, g->n_bars * each, cudaMemcpyHostToDevice, g->stream),
                         "copy to the device", reason, cap);
    if (r == 0 && source == rounded) /* which the next row overwrites */
        r = gpu_device_check(g, cudaStreamSynchronize(g->stream), "copy to the device", reason, cap);
    return r;
}

int gpu_batch_load(struct gpu_indicators *g, enum indicator_precision precision,
                   const double *const columns[], size_t n_series, size_t n_bars, char *reason, size_t cap)
{
    int r = gpu_device_alive(g, reason, cap);
    if (r < 0)
        return r;
    gpu_batch_release(g);
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
            r = gpu_device_reserve(g, &g->columns[c], n_series * stride, cell_bytes(g, c),
                                   "device memory for bars", reason, cap);
            if (r == 0)
                r = load_row(g, c, s, from, rounded, reason, cap);
        }
    if (r == 0)
        r = gpu_device_check(g, cudaStreamSynchronize(g->stream), "copy to the device", reason, cap);
    free(rounded);
    if (r < 0)
        gpu_batch_release(g);
    return r;
}

int gpu_batch_fetch(struct gpu_indicators *g, size_t column, double *out, char *reason, size_t cap)
{
    size_t each = g->precision == INDICATOR_F32 ? sizeof(float) : sizeof(double);
    int r = gpu_device_alive(g, reason, cap);
    if (r < 0)
        return r;
    if (column >= g->n_columns) {
        snprintf(reason, cap, "output column %zu was not computed", column);
        return -EINVAL;
    }
    /* float32 is downloaded into the second half of the row, and widened from the front on. */
    char *to = (char *)out + g->n_bars * (sizeof(double) - each);
    r = gpu_device_check(g,
                         cudaMemcpyAsync(to,
                                         (const char *)g->memory[DEVICE_OUT].at + column * g->stride * each,
                                         g->n_bars * each, cudaMemcpyDeviceToHost, g->stream),
                         "copy from the device", reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaStreamSynchronize(g->stream), "copy from the device", reason, cap);
    for (size_t i = 0; i < g->n_bars && each == sizeof(float) && r == 0; i++) {
        float value;
        memcpy(&value, to + i * sizeof(float), sizeof(value));
        out[i] = value;
    }
    return r;
}

template <bool F32>
static __global__ void __launch_bounds__(FUSED_THREADS, 4)
    fused_kernel(const __grid_constant__ struct gpu_view v)
{
    __shared__ struct fused_shared sh;
    block_fused(&v, F32, &sh);
}

static __global__ void __launch_bounds__(WALK_THREADS) walk_kernel(struct gpu_view v)
{
    __shared__ struct walk_shared sh;
    block_walk(&v, blockIdx.x, &sh);
}

static __global__ void __launch_bounds__(WALK_THREADS) verify_kernel(struct gpu_view v)
{
    block_verify(&v, blockIdx.x);
}

static int launch(void *context, enum gpu_kernel kernel, unsigned blocks, const struct gpu_view *v)
{
    cudaStream_t stream = ((struct gpu_indicators *)context)->stream;
    switch (kernel) {
    case GPU_KERNEL_FUSED:
        if (v->f32)
            fused_kernel<true><<<blocks, FUSED_THREADS, 0, stream>>>(*v);
        else
            fused_kernel<false><<<blocks, FUSED_THREADS, 0, stream>>>(*v);
        break;
    case GPU_KERNEL_WALK:
        walk_kernel<<<blocks, WALK_THREADS, 0, stream>>>(*v);
        break;
    case GPU_KERNEL_VERIFY:
        verify_kernel<<<blocks, WALK_THREADS, 0, stream>>>(*v);
        break;
    }
    return cudaPeekAtLastError() == cudaSuccess ? 0 : -EIO;
}

/* A part of the plan: reserves memory for it, and uploads it. */
static int up(struct gpu_indicators *g, enum device_use use, const void *from, size_t n, size_t each,
              char *reason, size_t cap)
{
    int r = gpu_device_reserve(g, &g->memory[use], n, each, "device memory for jobs", reason, cap);
    if (r == 0 && n > 0)
        r = gpu_device_check(
            g, cudaMemcpyAsync(g->memory[use].at, from, n * each, cudaMemcpyHostToDevice, g->stream),
            "copy to the device", reason, cap);
    return r;
}

static int prepare(struct gpu_indicators *g, const struct gpu_plan *p, size_t n_columns, char *reason,
                   size_t cap)
{
    const struct {
        enum device_use use;
        size_t n, each;
        const char *what;
    } rooms[] = {
        {DEVICE_OUT, n_columns * g->stride, cell_bytes(g, INDICATOR_COLUMNS), "device memory for outputs"},
        {DEVICE_MEMORY, p->memory, 1, "device memory for states"},
        {DEVICE_MARKS, p->n_marks, 1, "device memory for marks"},
        {DEVICE_CARRY, p->n_fused * p->n_tiles * FUSED_DIMS, sizeof(double), "device memory for carries"},
        {DEVICE_FLAGS, 1 + p->n_groups * p->n_tiles, sizeof(uint32_t), "device memory for flags"},
    };
    int r = 0;
    g->n_columns = 0;
    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]) && r == 0; i++)
        r = gpu_device_reserve(g, &g->memory[rooms[i].use], rooms[i].n, rooms[i].each, rooms[i].what, reason,
                               cap);
    if (r == 0)
        r = up(g, DEVICE_WALKS, p->walks, p->n_walk_jobs, sizeof(*p->walks), reason, cap);
    if (r == 0)
        r = up(g, DEVICE_FUSED, p->fused, p->n_fused, sizeof(*p->fused), reason, cap);
    if (r == 0)
        r = up(g, DEVICE_GROUPS, p->groups, p->n_groups, sizeof(*p->groups), reason, cap);
    if (r == 0)
        r = up(g, DEVICE_RULES, p->rules, p->n_rules, sizeof(*p->rules), reason, cap);
    return r;
}

static struct gpu_view view_of(const struct gpu_indicators *g)
{
    const struct device_memory *m = g->memory;
    struct gpu_view v;
    memset(&v, 0, sizeof(v));
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        v.columns[c] = g->columns[c].at;
    v.out = m[DEVICE_OUT].at;
    v.n_bars = g->n_bars;
    v.stride = g->stride;
    v.f32 = g->precision == INDICATOR_F32;
    v.walks = (const struct walk_job *)m[DEVICE_WALKS].at;
    v.memory = (unsigned char *)m[DEVICE_MEMORY].at;
    v.marks = (unsigned char *)m[DEVICE_MARKS].at;
    v.rules = (const struct fused_rule *)m[DEVICE_RULES].at;
    v.fused = (const struct fused_job *)m[DEVICE_FUSED].at;
    v.groups = (const struct fused_group *)m[DEVICE_GROUPS].at;
    v.carry = (double *)m[DEVICE_CARRY].at;
    v.ticket = (uint32_t *)m[DEVICE_FLAGS].at;
    v.flags = v.ticket + 1;
    return v;
}

static int run(struct gpu_indicators *g, const struct gpu_plan *p, float *ret_ms, char *reason, size_t cap)
{
    struct gpu_view v = view_of(g);
    int r = gpu_device_check(g, cudaEventRecord(g->begin, g->stream), "CUDA event", reason, cap);
    if (r == 0 && p->n_groups > 0)
        r = gpu_device_check(
            g, cudaMemsetAsync(v.ticket, 0, (1 + p->n_groups * p->n_tiles) * sizeof(uint32_t), g->stream),
            "memset", reason, cap);
    if (r == 0 && gpu_run(p, &v, launch, g) < 0)
        r = gpu_device_check(g, cudaGetLastError(), "kernel launch", reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaEventRecord(g->end, g->stream), "CUDA event", reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaEventSynchronize(g->end), "kernel", reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaEventElapsedTime(ret_ms, g->begin, g->end), "CUDA event", reason, cap);
    return r;
}

int gpu_batch_compute(struct gpu_indicators *g, enum gpu_method method, const struct gpu_job jobs[],
                      size_t n_jobs, size_t n_columns, float *ret_ms, char *reason, size_t cap)
{
    struct gpu_plan plan = {};
    int r = gpu_device_alive(g, reason, cap);
    if (r < 0)
        return r;
    if (n_jobs > UINT32_MAX || n_columns > UINT32_MAX ||
        (n_columns > 0 && g->stride > SIZE_MAX / n_columns / sizeof(double)))
        r = -EINVAL;
    if (r == 0)
        r = gpu_plan_make(&plan, method, jobs, n_jobs, g->n_bars);
    if (r < 0) {
        snprintf(reason, cap,
                 r == -ENOMEM ? "out of memory" : "%zu jobs over %zu bars are too many for one batch", n_jobs,
                 g->n_bars);
        return r;
    }
    r = prepare(g, &plan, n_columns, reason, cap);
    if (r == 0)
        r = run(g, &plan, ret_ms, reason, cap);
    if (r == 0)
        g->n_columns = n_columns;
    gpu_plan_free(&plan);
    return r;
}
