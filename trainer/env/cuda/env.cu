/* The environment in the module: memory, copies to and from the host, and the launches. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "indicators_gpu/cuda/device.h"
#include "trainer/env/cuda/abi.h"
#include "trainer/env/cuda/blocks.h"
#include "trainer/env/cuda/layout.h"

/* Blocks resident on a processor: they mostly wait for memory. */
enum { STEP_BLOCKS_HELD = 8, DAY_BLOCKS_HELD = 7, MARKET_BLOCKS_HELD = 5, OBSERVE_BLOCKS_HELD = 6 };

/* Rows of ended copies are copied through pinned memory, so many bytes at a time. */
static const size_t FINAL_BYTES = (size_t)32 << 20;

struct gpu_env_market {
    struct gpu_indicators *g;
    struct device_memory memory;
    struct env_market_view view; /* on the device */
};

struct gpu_env {
    struct gpu_indicators *g;
    struct device_memory columns, windows, actions, results, kept, final_obs, obs, mask, masks, fault;
    struct device_memory packed; /* gather_rows() of final_obs, then whose they are; `pinned` has the same */
    void *pinned;
    struct env_launch launch;
    size_t memory_bytes, loaded_steps;
    bool by_column;

    /* Where the last steps left their results, how many of them; step()s since results(). */
    struct env_device_io last;
    size_t held, queued;

    /* Where work was queued last; `order` comes after it unless that is the module's stream. */
    cudaStream_t stream;
    cudaEvent_t order;
};

/* 64 registers a thread; a day's trade needs 72, the paper exchange 96. */
template <enum env_kernel KERNEL>
constexpr int blocks_held = KERNEL >= ENV_KERNEL_MARKET          ? MARKET_BLOCKS_HELD
                            : KERNEL == ENV_KERNEL_DAY_REFERENCE ? DAY_BLOCKS_HELD
                                                                 : STEP_BLOCKS_HELD;

template <enum env_kernel KERNEL>
static __global__ void __launch_bounds__(STEP_THREADS, blocks_held<KERNEL>)
    step_kernel(const __grid_constant__ struct env_launch l)
{
    block_env_steps(&l, KERNEL, blockIdx.x);
}

template <enum env_kernel KERNEL>
static __global__ void __launch_bounds__(STEP_THREADS, blocks_held<KERNEL>)
    step_observe_kernel(const __grid_constant__ struct env_launch l)
{
    extern __shared__ __align__(16) unsigned char shared[];
    block_env_step_observe(&l, KERNEL, blockIdx.x, shared);
}

template <enum env_kernel KERNEL> static void launch_kernel(const struct env_launch *l, cudaStream_t stream)
{
    unsigned blocks = step_blocks(l->view.state.copies);
    size_t shared = observe_shared_bytes(l->view.state.n);
    if (l->obs)
        step_observe_kernel<KERNEL><<<blocks, STEP_THREADS, shared, stream>>>(*l);
    else
        step_kernel<KERNEL><<<blocks, STEP_THREADS, 0, stream>>>(*l);
}

static __global__ void __launch_bounds__(STEP_THREADS)
    reset_kernel(const __grid_constant__ struct env_launch l)
{
    block_env_reset(&l, blockIdx.x);
}

static __global__ void __launch_bounds__(STEP_THREADS)
    masks_kernel(const __grid_constant__ struct env_launch l)
{
    block_env_masks(&l, blockIdx.x);
}

static __global__ void __launch_bounds__(OBSERVE_THREADS)
    gather_kernel(const __grid_constant__ struct env_gather g)
{
    block_env_gather(&g, blockIdx.x);
}

static __global__ void __launch_bounds__(OBSERVE_THREADS, OBSERVE_BLOCKS_HELD)
    observe_kernel(const __grid_constant__ struct env_launch l)
{
    extern __shared__ __align__(16) unsigned char shared[];
    block_env_observe(&l, blockIdx.x, shared);
}

static int copy_in(struct gpu_indicators *g, void *to, const void *from, size_t bytes, char *reason,
                   size_t cap)
{
    return gpu_device_check(g, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, g->stream),
                            "copy to the device", reason, cap);
}

static int copy_out(struct gpu_indicators *g, void *to, const void *from, size_t bytes, char *reason,
                    size_t cap)
{
    return gpu_device_check(g, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, g->stream),
                            "copy from the device", reason, cap);
}

static int wait_for(struct gpu_indicators *g, char *reason, size_t cap)
{
    return gpu_device_check(g, cudaStreamSynchronize(g->stream), "kernel", reason, cap);
}

static int launched(struct gpu_indicators *g, char *reason, size_t cap)
{
    return gpu_device_check(g, cudaGetLastError(), "kernel launch", reason, cap);
}

/* Orders `stream` after all that was queued for these copies, on any stream. */
static int turn_to(struct gpu_env *e, cudaStream_t stream, char *reason, size_t cap)
{
    int r = gpu_device_alive(e->g, reason, cap);
    if (r < 0 || e->stream == stream)
        return r;
    if (e->stream == e->g->stream)
        r = gpu_device_check(e->g, cudaEventRecord(e->order, e->stream), "CUDA event", reason, cap);
    if (r == 0)
        r = gpu_device_check(e->g, cudaStreamWaitEvent(stream, e->order, 0), "CUDA stream", reason, cap);
    if (r == 0)
        e->stream = stream;
    return r;
}

/* To the module's own stream. */
static int ready(struct gpu_env *e, char *reason, size_t cap)
{
    return turn_to(e, e->g->stream, reason, cap);
}

static void market_destroy(struct gpu_env_market *m)
{
    gpu_device_release(m->g, &m->memory);
    free(m);
}

static int market_create(struct gpu_indicators *g, const struct env_market_view *market,
                         struct gpu_env_market **ret, char *reason, size_t cap)
{
    struct layout_piece pieces[LAYOUT_ARRAYS];
    int r = gpu_device_alive(g, reason, cap);
    if (r < 0)
        return r;
    struct gpu_env_market *m = (struct gpu_env_market *)calloc(1, sizeof(*m));
    if (!m) {
        snprintf(reason, cap, "out of memory");
        return -ENOMEM;
    }
    m->g = g;
    m->view = *market;
    r = gpu_device_reserve(g, &m->memory, layout_market(market, pieces), 1, "device memory for a market",
                           reason, cap);
    for (int i = 0; i < LAYOUT_ARRAYS && r == 0; i++)
        if (pieces[i].bytes > 0)
            r = copy_in(g, (unsigned char *)m->memory.at + pieces[i].at, pieces[i].from, pieces[i].bytes,
                        reason, cap);
    if (r == 0)
        r = wait_for(g, reason, cap);
    if (r < 0) {
        market_destroy(m);
        return r;
    }
    layout_place_market(&m->view, pieces, (const unsigned char *)m->memory.at);
    *ret = m;
    return 0;
}

static void env_destroy(struct gpu_env *e)
{
    struct device_memory *all[] = {&e->columns, &e->windows,   &e->actions, &e->results,
                                   &e->kept,    &e->final_obs, &e->obs,     &e->mask,
                                   &e->masks,   &e->fault,     &e->packed};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        gpu_device_release(e->g, all[i]);
    if (e->pinned)
        gpu_device_let_go(cudaFreeHost(e->pinned));
    if (e->order)
        gpu_device_let_go(cudaEventDestroy(e->order));
    free(e);
}

static int clear_fault(struct gpu_env *e, char *reason, size_t cap)
{
    return gpu_device_check(e->g, cudaMemsetAsync(e->fault.at, 0xff, sizeof(uint64_t), e->g->stream),
                            "memset", reason, cap);
}

/* What every environment needs; observations and actions are allocated on demand. */
static int reserve(struct gpu_env *e, char *reason, size_t cap)
{
    struct gpu_indicators *g = e->g;
    struct env_launch *l = &e->launch;
    size_t copies = l->view.state.copies;
    int r = gpu_device_reserve(g, &e->columns, e->memory_bytes, 1, "device memory for copies", reason, cap);
    if (r == 0)
        r = gpu_device_reserve(g, &e->windows, copies, 2 * sizeof(int32_t), "device memory for copies",
                               reason, cap);
    if (r == 0)
        r = gpu_device_reserve(g, &e->results, copies, sizeof(float) + 2, "device memory for rewards", reason,
                               cap);
    if (r == 0)
        r = gpu_device_reserve(g, &e->mask, copies, 1, "device memory for a mask", reason, cap);
    if (r == 0)
        r = gpu_device_reserve(g, &e->fault, 1, sizeof(uint64_t), "device memory for a fault", reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaEventCreateWithFlags(&e->order, cudaEventDisableTiming), "CUDA event",
                             reason, cap);
    if (r < 0)
        return r;
    e->stream = g->stream;
    l->fault = (uint64_t *)e->fault.at;
    return clear_fault(e, reason, cap);
}

static int env_create(struct gpu_env_market *m, const struct env_view *view, const void *memory,
                      size_t memory_bytes, struct gpu_env **ret, char *reason, size_t cap)
{
    int r = gpu_device_alive(m->g, reason, cap);
    if (r < 0)
        return r;
    if (view->state.copies > LAUNCH_COPIES_MAX) {
        snprintf(reason, cap, "%zu copies are more than a launch can have: %zu", view->state.copies,
                 (size_t)LAUNCH_COPIES_MAX);
        return -EINVAL;
    }
    struct gpu_env *e = (struct gpu_env *)calloc(1, sizeof(*e));
    if (!e) {
        snprintf(reason, cap, "out of memory");
        return -ENOMEM;
    }
    e->g = m->g;
    e->memory_bytes = memory_bytes;
    e->launch.view = *view;
    e->launch.view.market = m->view;
    e->launch.view.starts = e->launch.view.lengths = NULL;
    r = reserve(e, reason, cap);
    if (r < 0) {
        env_destroy(e);
        return r;
    }
    layout_place_columns(&e->launch.view, memory, e->columns.at);
    *ret = e;
    return 0;
}

static int env_write(struct gpu_env *e, const void *memory, char *reason, size_t cap)
{
    int r = ready(e, reason, cap);
    if (r == 0)
        r = copy_in(e->g, e->columns.at, memory, e->memory_bytes, reason, cap);
    return r == 0 ? wait_for(e->g, reason, cap) : r;
}

static int env_draws(struct gpu_env *e, uint64_t seed, const int32_t *starts, const int32_t *lengths,
                     char *reason, size_t cap)
{
    size_t copies = e->launch.view.state.copies, bytes = copies * sizeof(int32_t);
    int32_t *at = (int32_t *)e->windows.at;
    int r = ready(e, reason, cap);
    if (r == 0 && starts)
        r = copy_in(e->g, at, starts, bytes, reason, cap);
    if (r == 0 && lengths)
        r = copy_in(e->g, at + copies, lengths, bytes, reason, cap);
    if (r == 0)
        r = wait_for(e->g, reason, cap);
    if (r == 0) {
        e->launch.view.seed = seed;
        e->launch.view.starts = starts ? at : NULL;
        e->launch.view.lengths = lengths ? at + copies : NULL;
    }
    return r;
}

static int env_read(struct gpu_env *e, void *memory, char *reason, size_t cap)
{
    int r = ready(e, reason, cap);
    if (r == 0)
        r = copy_out(e->g, memory, e->columns.at, e->memory_bytes, reason, cap);
    return r == 0 ? wait_for(e->g, reason, cap) : r;
}

static int env_reset(struct gpu_env *e, const uint8_t *mask, char *reason, size_t cap)
{
    size_t copies = e->launch.view.state.copies;
    struct env_launch l = e->launch;
    int r = ready(e, reason, cap);
    if (r == 0 && mask) {
        r = copy_in(e->g, e->mask.at, mask, copies, reason, cap);
        l.mask = (const uint8_t *)e->mask.at;
    }
    if (r < 0)
        return r;
    reset_kernel<<<step_blocks(copies), STEP_THREADS, 0, e->g->stream>>>(l);
    return launched(e->g, reason, cap);
}

static int env_actions(struct gpu_env *e, const float *actions, size_t n_steps, bool by_column, char *reason,
                       size_t cap)
{
    const struct env_view *v = &e->launch.view;
    size_t each = v->state.copies * (size_t)v->action_size;
    e->loaded_steps = 0;
    int r = ready(e, reason, cap);
    if (r == 0 && (n_steps > LAUNCH_STEPS_MAX || n_steps > SIZE_MAX / sizeof(float) / each)) {
        snprintf(reason, cap, "%zu steps of actions are too many for one call", n_steps);
        return -EINVAL;
    }
    if (r == 0)
        r = gpu_device_reserve(e->g, &e->actions, n_steps * each, sizeof(float), "device memory for actions",
                               reason, cap);
    if (r == 0)
        r = copy_in(e->g, e->actions.at, actions, n_steps * each * sizeof(float), reason, cap);
    if (r == 0)
        r = wait_for(e->g, reason, cap);
    if (r == 0) {
        e->loaded_steps = n_steps;
        e->by_column = by_column;
    }
    return r;
}

static void launch_steps(const struct env_launch *l, cudaStream_t stream)
{
    switch (env_kernel_of(&l->view)) {
    case ENV_KERNEL_REFERENCE_F64:
        launch_kernel<ENV_KERNEL_REFERENCE_F64>(l, stream);
        break;
    case ENV_KERNEL_REFERENCE_F32:
        launch_kernel<ENV_KERNEL_REFERENCE_F32>(l, stream);
        break;
    case ENV_KERNEL_MARKET:
        launch_kernel<ENV_KERNEL_MARKET>(l, stream);
        break;
    case ENV_KERNEL_MARKET_LIMITED:
        launch_kernel<ENV_KERNEL_MARKET_LIMITED>(l, stream);
        break;
    case ENV_KERNEL_DAY_REFERENCE:
        launch_kernel<ENV_KERNEL_DAY_REFERENCE>(l, stream);
        break;
    case ENV_KERNEL_DAY_MARKET:
        launch_kernel<ENV_KERNEL_DAY_MARKET>(l, stream);
        break;
    }
}

static void launch_observe(const struct env_launch *l, cudaStream_t stream)
{
    observe_kernel<<<observe_blocks(l->view.state.copies), OBSERVE_THREADS,
                     observe_shared_bytes(l->view.state.n), stream>>>(*l);
}

static void launch_masks(const struct env_launch *l, cudaStream_t stream)
{
    masks_kernel<<<step_blocks(l->view.state.copies), STEP_THREADS, 0, stream>>>(*l);
}

static int reserve_observations(struct gpu_env *e, struct device_memory *memory, char *reason, size_t cap)
{
    const struct env_view *v = &e->launch.view;
    return gpu_device_reserve(e->g, memory, v->state.copies * (size_t)v->observation_size, sizeof(float),
                              "device memory for observations", reason, cap);
}

static int reserve_masks(struct gpu_env *e, char *reason, size_t cap)
{
    const struct env_view *v = &e->launch.view;
    return gpu_device_reserve(e->g, &e->masks, v->state.copies, env_masks_size(v), "device memory for masks",
                              reason, cap);
}

/* Places for the results of n_steps steps in `memory`. */
static void place_results(const struct gpu_env *e, const struct device_memory *memory, size_t n_steps,
                          struct env_device_io *ret)
{
    size_t n = n_steps * e->launch.view.state.copies;
    float *rewards = (float *)memory->at;
    uint8_t *terminated = (uint8_t *)(rewards + n);
    ret->rewards = rewards;
    ret->terminated = terminated;
    ret->truncated = terminated + n;
}

static int env_run(struct gpu_env *e, size_t n_steps, bool observe, bool keep, float *ret_ms, char *reason,
                   size_t cap)
{
    struct gpu_indicators *g = e->g;
    struct env_launch l = e->launch;
    size_t copies = l.view.state.copies;
    int r = ready(e, reason, cap);
    if (r == 0 && n_steps > e->loaded_steps) {
        snprintf(reason, cap, "actions of %zu steps are loaded, not of %zu", e->loaded_steps, n_steps);
        return -EINVAL;
    }
    if (r < 0)
        return r;
    e->held = 0;
    if (l.view.params.autoreset == ENV_SAME_STEP)
        r = reserve_observations(e, &e->final_obs, reason, cap);
    if (r == 0 && observe)
        r = reserve_observations(e, &e->obs, reason, cap);
    if (r == 0 && keep)
        r = gpu_device_reserve(g, &e->kept, n_steps * copies, sizeof(float) + 2, "device memory for rewards",
                               reason, cap);
    if (r == 0 && ret_ms)
        r = gpu_device_check(g, cudaEventRecord(g->begin, g->stream), "CUDA event", reason, cap);
    if (r < 0)
        return r;
    e->last = (struct env_device_io){e->actions.at, e->by_column};
    place_results(e, keep ? &e->kept : &e->results, keep ? n_steps : 1, &e->last);
    e->last.final_obs = e->final_obs.at;
    e->last.observations = observe ? e->obs.at : NULL;
    e->held = keep ? n_steps : 1;
    launch_place(&l, &e->last);
    l.result_step = keep ? copies : 0;
    l.n_steps = observe ? 1 : n_steps;
    for (size_t i = 0; i < n_steps && r == 0; i += l.n_steps) {
        launch_steps(&l, g->stream);
        r = launched(g, reason, cap);
        launch_move(&l, l.n_steps);
    }
    if (r == 0 && ret_ms)
        r = gpu_device_check(g, cudaEventRecord(g->end, g->stream), "CUDA event", reason, cap);
    if (r == 0 && ret_ms)
        r = gpu_device_check(g, cudaEventSynchronize(g->end), "kernel", reason, cap);
    if (r == 0 && ret_ms)
        r = gpu_device_check(g, cudaEventElapsedTime(ret_ms, g->begin, g->end), "CUDA event", reason, cap);
    return r;
}

static int env_buffers(struct gpu_env *e, struct env_device_io *ret, void **ret_stream, char *reason,
                       size_t cap)
{
    const struct env_view *v = &e->launch.view;
    bool same_step = v->params.autoreset == ENV_SAME_STEP;
    int r = ready(e, reason, cap);
    if (r == 0)
        r = gpu_device_reserve(e->g, &e->actions, v->state.copies * (size_t)v->action_size, sizeof(float),
                               "device memory for actions", reason, cap);
    if (r == 0 && same_step)
        r = reserve_observations(e, &e->final_obs, reason, cap);
    if (r == 0)
        r = reserve_observations(e, &e->obs, reason, cap);
    if (r == 0)
        r = reserve_masks(e, reason, cap);
    if (r < 0)
        return r;
    *ret = (struct env_device_io){e->actions.at, e->by_column};
    place_results(e, &e->results, 1, ret);
    ret->final_obs = e->final_obs.at;
    ret->observations = e->obs.at;
    ret->masks = e->masks.at;
    *ret_stream = e->g->stream;
    return 0;
}

static int env_step(struct gpu_env *e, const struct env_device_io *io, void *on, char *reason, size_t cap)
{
    struct gpu_indicators *g = e->g;
    struct env_launch l = e->launch;
    cudaStream_t stream = on ? (cudaStream_t)on : g->stream;
    int r = turn_to(e, stream, reason, cap);
    if (r < 0)
        return r;
    launch_place(&l, io);
    l.first_step = e->queued;
    l.n_steps = 1;
    if (io->actions) {
        launch_steps(&l, stream);
        e->last = *io;
        e->last.final_obs = l.final_obs;
        e->held = 1;
        e->queued += e->queued < LAUNCH_STEPS_MAX;
    } else if (io->observations) {
        launch_observe(&l, stream);
    }
    if (io->masks)
        launch_masks(&l, stream);
    r = launched(g, reason, cap);
    if (r == 0 && stream != g->stream)
        r = gpu_device_check(g, cudaEventRecord(e->order, stream), "CUDA event", reason, cap);
    return r;
}

/* The caller sees only rows that were written: a kernel packs them, so that few copies bring them. */
static int copy_final(struct gpu_env *e, const uint8_t *terminated, const uint8_t *truncated,
                      float *final_obs, char *reason, size_t cap)
{
    struct gpu_indicators *g = e->g;
    const struct env_view *v = &e->launch.view;
    size_t size = (size_t)v->observation_size, copies = v->state.copies;
    size_t rows = gather_rows(copies, size, FINAL_BYTES);
    size_t row_bytes = size * sizeof(float), bytes = rows * (row_bytes + sizeof(uint32_t));
    int r = gpu_device_reserve(g, &e->packed, bytes, 1, "device memory for observations", reason, cap);
    if (r == 0 && !e->pinned)
        r = gpu_device_check(g, cudaMallocHost(&e->pinned, bytes), "pinned memory", reason, cap);
    if (r < 0)
        return r;
    const float *packed = (const float *)e->pinned;
    uint32_t *whose = (uint32_t *)((float *)e->pinned + rows * size);
    struct env_gather gather = {(const float *)e->last.final_obs, NULL, 0, size, (float *)e->packed.at};
    uint32_t *on_device = (uint32_t *)(gather.ret + rows * size);
    gather.copies = on_device;
    for (size_t copy = 0; copy < copies && r == 0;) {
        for (gather.n = 0; copy < copies && gather.n < rows; copy++)
            if (terminated[copy] || truncated[copy])
                whose[gather.n++] = (uint32_t)copy;
        if (gather.n == 0)
            break;
        r = copy_in(g, on_device, whose, gather.n * sizeof(*whose), reason, cap);
        if (r == 0) {
            gather_kernel<<<observe_blocks(gather.n), OBSERVE_THREADS, 0, g->stream>>>(gather);
            r = launched(g, reason, cap);
        }
        if (r == 0)
            r = copy_out(g, e->pinned, gather.ret, gather.n * row_bytes, reason, cap);
        if (r == 0)
            r = wait_for(g, reason, cap);
        for (size_t i = 0; i < gather.n && r == 0; i++)
            memcpy(final_obs + whose[i] * size, packed + i * size, row_bytes);
    }
    return r;
}

static int env_results(struct gpu_env *e, size_t n_steps, float *rewards, uint8_t *terminated,
                       uint8_t *truncated, float *final_obs, struct gpu_env_fault *ret_fault, char *reason,
                       size_t cap)
{
    size_t copies = e->launch.view.state.copies, n = n_steps * copies;
    uint64_t fault;
    int r = ready(e, reason, cap);
    if (r == 0 && n_steps > e->held) {
        snprintf(reason, cap, "results of %zu steps are there, not of %zu", e->held, n_steps);
        return -EINVAL;
    }
    size_t skipped = (e->held - n_steps) * copies;
    if (r == 0 && n > 0)
        r = copy_out(e->g, rewards, (const float *)e->last.rewards + skipped, n * sizeof(float), reason, cap);
    if (r == 0 && n > 0)
        r = copy_out(e->g, terminated, (const uint8_t *)e->last.terminated + skipped, n, reason, cap);
    if (r == 0 && n > 0)
        r = copy_out(e->g, truncated, (const uint8_t *)e->last.truncated + skipped, n, reason, cap);
    if (r == 0)
        r = copy_out(e->g, &fault, e->fault.at, sizeof(fault), reason, cap);
    if (r == 0)
        r = clear_fault(e, reason, cap);
    if (r == 0)
        r = wait_for(e->g, reason, cap);
    if (r == 0 && n > 0 && final_obs && e->last.final_obs)
        r = copy_final(e, terminated + n - copies, truncated + n - copies, final_obs, reason, cap);
    if (r < 0)
        return r;
    e->queued = 0;
    *ret_fault = launch_fault(fault);
    return 0;
}

static int env_observed(struct gpu_env *e, float *ret, char *reason, size_t cap)
{
    const struct env_view *v = &e->launch.view;
    int r = ready(e, reason, cap);
    if (r == 0 && !e->obs.at) {
        snprintf(reason, cap, "nothing was observed yet");
        return -EINVAL;
    }
    if (r == 0)
        r = copy_out(e->g, ret, e->obs.at, v->state.copies * (size_t)v->observation_size * sizeof(float),
                     reason, cap);
    return r == 0 ? wait_for(e->g, reason, cap) : r;
}

static int env_observe(struct gpu_env *e, float *ret, char *reason, size_t cap)
{
    struct env_launch l = e->launch;
    int r = ready(e, reason, cap);
    if (r == 0)
        r = reserve_observations(e, &e->obs, reason, cap);
    if (r < 0)
        return r;
    l.obs = (float *)e->obs.at;
    launch_observe(&l, e->g->stream);
    r = launched(e->g, reason, cap);
    return r == 0 ? env_observed(e, ret, reason, cap) : r;
}

static int env_masks(struct gpu_env *e, uint8_t *ret, char *reason, size_t cap)
{
    struct env_launch l = e->launch;
    size_t bytes = l.view.state.copies * env_masks_size(&l.view);
    int r = ready(e, reason, cap);
    if (r == 0)
        r = reserve_masks(e, reason, cap);
    if (r < 0)
        return r;
    l.masks = (uint8_t *)e->masks.at;
    launch_masks(&l, e->g->stream);
    r = launched(e->g, reason, cap);
    if (r == 0)
        r = copy_out(e->g, ret, e->masks.at, bytes, reason, cap);
    return r == 0 ? wait_for(e->g, reason, cap) : r;
}

extern "C" {
extern const struct gpu_env_api papertape_gpu_env __attribute__((visibility("default")));
const struct gpu_env_api papertape_gpu_env = {
    GPU_ENV_ABI, market_create, market_destroy, env_create,  env_destroy, env_write,
    env_draws,   env_read,      env_reset,      env_actions, env_run,     env_buffers,
    env_step,    env_results,   env_observed,   env_observe, env_masks,
};
}
