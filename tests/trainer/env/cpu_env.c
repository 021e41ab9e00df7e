/* Of the module whose device is the CPU (tests/indicators_gpu/cpu_device.h): the environment. Behind the
 * columns, the observations and the results lie guard cells, which must keep their value (else it aborts). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/indicators_gpu/cpu_device.h"
#include "trainer/env/cuda/abi.h"
#include "trainer/env/cuda/blocks.h"
#include "trainer/env/cuda/layout.h"

enum { GUARD = 64, GUARD_BYTE = 0x5a, FINAL_BYTES = 16000 }; /* some rows at a time */

/* A piece of the device's memory. */
struct cpu_memory {
    unsigned char *at;
    size_t bytes; /* the guard's not counted */
};

struct gpu_env_market {
    struct gpu_indicators *g;
    struct cpu_memory memory;
    struct env_market_view view;
};

enum cpu_use {
    CPU_COLUMNS,
    CPU_WINDOWS,
    CPU_ACTIONS,
    CPU_REWARDS,
    CPU_ENDS,
    CPU_KEPT_REWARDS,
    CPU_KEPT_ENDS,
    CPU_FINAL,
    CPU_OBS,
    CPU_MASKS,
    CPU_USES
};

struct gpu_env {
    struct gpu_indicators *g;
    struct cpu_memory memory[CPU_USES];
    struct env_launch launch;
    uint64_t fault;
    size_t loaded_steps;
    bool by_column;
    struct env_device_io last;
    size_t held, queued;
};

extern const struct gpu_env_api papertape_gpu_env;

static void let_go(struct gpu_indicators *g, struct cpu_memory *memory)
{
    if (memory->at)
        cpu_release(g, memory->at, memory->bytes + GUARD);
    *memory = (struct cpu_memory){NULL, 0};
}

/* At least so many bytes, poisoned; what was there is lost when it grows. */
static bool has_room(struct gpu_indicators *g, struct cpu_memory *memory, size_t bytes)
{
    if (memory->at && memory->bytes >= bytes)
        return true;
    let_go(g, memory);
    memory->at = cpu_allocate(g, bytes + GUARD);
    if (!memory->at)
        return false;
    memory->bytes = bytes;
    memset(memory->at + bytes, GUARD_BYTE, GUARD);
    return true;
}

static void check_guards(const struct cpu_memory *memory, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; memory[i].at && k < GUARD; k++)
            if (memory[i].at[memory[i].bytes + k] != GUARD_BYTE)
                abort();
}

static void market_destroy(struct gpu_env_market *m)
{
    check_guards(&m->memory, 1);
    let_go(m->g, &m->memory);
    free(m);
}

static int market_create(struct gpu_indicators *g, const struct env_market_view *market,
                         struct gpu_env_market **ret, char *reason, size_t cap)
{
    struct layout_piece pieces[LAYOUT_ARRAYS];
    int r = cpu_alive(reason, cap);
    if (r < 0)
        return r;
    struct gpu_env_market *m = calloc(1, sizeof(*m));
    if (!m)
        return cpu_none_left(reason, cap);
    m->g = g;
    m->view = *market;
    if (!has_room(g, &m->memory, layout_market(market, pieces))) {
        market_destroy(m);
        return cpu_none_left(reason, cap);
    }
    for (int i = 0; i < LAYOUT_ARRAYS; i++)
        if (pieces[i].bytes > 0)
            memcpy(m->memory.at + pieces[i].at, pieces[i].from, pieces[i].bytes);
    layout_place_market(&m->view, pieces, m->memory.at);
    *ret = m;
    return 0;
}

static void device_destroy(struct gpu_env *e)
{
    check_guards(e->memory, CPU_USES);
    for (size_t i = 0; i < CPU_USES; i++)
        let_go(e->g, &e->memory[i]);
    free(e);
}

static int device_create(struct gpu_env_market *m, const struct env_view *view, const void *memory,
                         size_t memory_bytes, struct gpu_env **ret, char *reason, size_t cap)
{
    size_t copies = view->state.copies;
    int r = cpu_alive(reason, cap);
    if (r < 0)
        return r;
    struct gpu_env *e = calloc(1, sizeof(*e));
    if (!e)
        return cpu_none_left(reason, cap);
    e->g = m->g;
    e->fault = FAULT_NONE;
    if (!has_room(e->g, &e->memory[CPU_COLUMNS], memory_bytes) ||
        !has_room(e->g, &e->memory[CPU_WINDOWS], copies * 2 * sizeof(int32_t)) ||
        !has_room(e->g, &e->memory[CPU_REWARDS], copies * sizeof(float)) ||
        !has_room(e->g, &e->memory[CPU_ENDS], copies * 2)) {
        device_destroy(e);
        return cpu_none_left(reason, cap);
    }
    struct env_launch *l = &e->launch;
    l->view = *view;
    l->view.market = m->view;
    l->view.starts = l->view.lengths = NULL;
    layout_place_columns(&l->view, memory, e->memory[CPU_COLUMNS].at);
    l->fault = &e->fault;
    *ret = e;
    return 0;
}

static int device_write(struct gpu_env *e, const void *memory, char *reason, size_t cap)
{
    memcpy(e->memory[CPU_COLUMNS].at, memory, e->memory[CPU_COLUMNS].bytes);
    return cpu_wait(reason, cap);
}

static int device_draws(struct gpu_env *e, uint64_t seed, const int32_t *starts, const int32_t *lengths,
                        char *reason, size_t cap)
{
    size_t copies = e->launch.view.state.copies;
    int32_t *at = (int32_t *)e->memory[CPU_WINDOWS].at;
    if (starts)
        memcpy(at, starts, copies * sizeof(*at));
    if (lengths)
        memcpy(at + copies, lengths, copies * sizeof(*at));
    e->launch.view.seed = seed;
    e->launch.view.starts = starts ? at : NULL;
    e->launch.view.lengths = lengths ? at + copies : NULL;
    return cpu_wait(reason, cap);
}

static int device_read(struct gpu_env *e, void *memory, char *reason, size_t cap)
{
    check_guards(e->memory, CPU_USES);
    memcpy(memory, e->memory[CPU_COLUMNS].at, e->memory[CPU_COLUMNS].bytes);
    return cpu_wait(reason, cap);
}

typedef void block_fn(const struct env_launch *l, unsigned block);

/* Blocks may run in any order. */
static void run_blocks(block_fn *fn, const struct env_launch *l, unsigned blocks)
{
    cpu_launch();
    block_reversed = cpu_reversed();
    for (unsigned i = 0; i < blocks; i++)
        fn(l, block_reversed ? blocks - 1 - i : i);
    block_reversed = false;
}

static void steps(const struct env_launch *l, unsigned block)
{
    block_env_steps(l, env_kernel_of(&l->view), block);
}

static void step_observes(const struct env_launch *l, unsigned block)
{
    size_t bytes = observe_shared_bytes(l->view.state.n);
    unsigned char *shared = malloc(bytes);
    if (!shared)
        abort();
    memset(shared, 0xff, bytes);
    block_env_step_observe(l, env_kernel_of(&l->view), block, shared);
    free(shared);
}

static void resets(const struct env_launch *l, unsigned block)
{
    block_env_reset(l, block);
}

static void masks(const struct env_launch *l, unsigned block)
{
    block_env_masks(l, block);
}

static void observes(const struct env_launch *l, unsigned block)
{
    size_t bytes = observe_shared_bytes(l->view.state.n);
    unsigned char *shared = malloc(bytes);
    if (!shared)
        abort();
    memset(shared, 0xff, bytes);
    block_env_observe(l, block, shared);
    free(shared);
}

static int device_reset(struct gpu_env *e, const uint8_t *mask, char *reason, size_t cap)
{
    struct env_launch l = e->launch;
    l.mask = mask;
    run_blocks(resets, &l, step_blocks(l.view.state.copies));
    return cpu_alive(reason, cap);
}

static int device_actions(struct gpu_env *e, const float *actions, size_t n_steps, bool by_column,
                          char *reason, size_t cap)
{
    const struct env_view *v = &e->launch.view;
    size_t bytes = n_steps * v->state.copies * (size_t)v->action_size * sizeof(float);
    e->loaded_steps = 0;
    if (!has_room(e->g, &e->memory[CPU_ACTIONS], bytes))
        return cpu_none_left(reason, cap);
    memcpy(e->memory[CPU_ACTIONS].at, actions, bytes);
    e->loaded_steps = n_steps;
    e->by_column = by_column;
    return cpu_wait(reason, cap);
}

static bool has_rows(struct gpu_env *e, enum cpu_use use)
{
    const struct env_view *v = &e->launch.view;
    return has_room(e->g, &e->memory[use], v->state.copies * (size_t)v->observation_size * sizeof(float));
}

static void place_results(const struct gpu_env *e, enum cpu_use rewards, enum cpu_use ends, size_t n_steps,
                          struct env_device_io *ret)
{
    ret->rewards = e->memory[rewards].at;
    ret->terminated = e->memory[ends].at;
    ret->truncated = e->memory[ends].at + n_steps * e->launch.view.state.copies;
}

static int device_run(struct gpu_env *e, size_t n_steps, bool observe, bool keep, float *ret_ms, char *reason,
                      size_t cap)
{
    struct env_launch l = e->launch;
    size_t copies = l.view.state.copies;
    if (n_steps > e->loaded_steps) {
        snprintf(reason, cap, "actions of %zu steps are loaded, not of %zu", e->loaded_steps, n_steps);
        return -EINVAL;
    }
    e->held = 0;
    if ((l.view.params.autoreset == ENV_SAME_STEP && !has_rows(e, CPU_FINAL)) ||
        (observe && !has_rows(e, CPU_OBS)))
        return cpu_none_left(reason, cap);
    if (keep && (!has_room(e->g, &e->memory[CPU_KEPT_REWARDS], n_steps * copies * sizeof(float)) ||
                 !has_room(e->g, &e->memory[CPU_KEPT_ENDS], n_steps * copies * 2)))
        return cpu_none_left(reason, cap);
    e->last = (struct env_device_io){.actions = e->memory[CPU_ACTIONS].at,
                                     .actions_by_column = e->by_column,
                                     .final_obs = e->memory[CPU_FINAL].at,
                                     .observations = observe ? e->memory[CPU_OBS].at : NULL};
    e->held = keep ? n_steps : 1;
    if (keep)
        place_results(e, CPU_KEPT_REWARDS, CPU_KEPT_ENDS, n_steps, &e->last);
    else
        place_results(e, CPU_REWARDS, CPU_ENDS, 1, &e->last);
    launch_place(&l, &e->last);
    l.result_step = keep ? copies : 0;
    l.n_steps = observe ? 1 : n_steps;
    for (size_t i = 0; i < n_steps; i += l.n_steps) {
        run_blocks(observe ? step_observes : steps, &l, step_blocks(copies));
        launch_move(&l, l.n_steps);
    }
    if (ret_ms)
        *ret_ms = 0;
    return ret_ms ? cpu_wait(reason, cap) : cpu_alive(reason, cap);
}

static bool has_masks(struct gpu_env *e)
{
    const struct env_view *v = &e->launch.view;
    return has_room(e->g, &e->memory[CPU_MASKS], v->state.copies * env_masks_size(v));
}

static int device_buffers(struct gpu_env *e, struct env_device_io *ret, void **ret_stream, char *reason,
                          size_t cap)
{
    const struct env_view *v = &e->launch.view;
    bool same_step = v->params.autoreset == ENV_SAME_STEP;
    if (!has_room(e->g, &e->memory[CPU_ACTIONS], v->state.copies * (size_t)v->action_size * sizeof(float)) ||
        !has_rows(e, CPU_OBS) || (same_step && !has_rows(e, CPU_FINAL)) || !has_masks(e))
        return cpu_none_left(reason, cap);
    *ret = (struct env_device_io){.actions = e->memory[CPU_ACTIONS].at,
                                  .actions_by_column = e->by_column,
                                  .final_obs = e->memory[CPU_FINAL].at,
                                  .observations = e->memory[CPU_OBS].at,
                                  .masks = e->memory[CPU_MASKS].at};
    place_results(e, CPU_REWARDS, CPU_ENDS, 1, ret);
    *ret_stream = NULL;
    return 0;
}

static int device_step(struct gpu_env *e, const struct env_device_io *io, void *stream, char *reason,
                       size_t cap)
{
    (void)stream;
    struct env_launch l = e->launch;
    size_t copies = l.view.state.copies;
    launch_place(&l, io);
    l.first_step = e->queued;
    l.n_steps = 1;
    cpu_say(e->g, l.view.seed);
    cpu_say(e->g, (uint64_t)(uintptr_t)l.view.starts);
    cpu_say(e->g, (uint64_t)(uintptr_t)l.view.lengths);
    if (cpu_recording)
        return 0;
    cpu_counts.steps += io->actions != NULL;
    if (io->actions) {
        run_blocks(io->observations ? step_observes : steps, &l, step_blocks(copies));
        e->last = *io;
        e->last.final_obs = l.final_obs;
        e->held = 1;
        e->queued += e->queued < LAUNCH_STEPS_MAX;
    } else if (io->observations) {
        run_blocks(observes, &l, observe_blocks(copies));
    }
    if (io->masks)
        run_blocks(masks, &l, step_blocks(copies));
    return cpu_alive(reason, cap);
}

/* As the module does it: packed, then to their places. */
static int copy_final(struct gpu_env *e, const uint8_t *terminated, const uint8_t *truncated,
                      float *final_obs, char *reason, size_t cap)
{
    const struct env_view *v = &e->launch.view;
    size_t copies = v->state.copies, size = (size_t)v->observation_size;
    size_t rows = gather_rows(copies, size, FINAL_BYTES);
    struct cpu_memory packed = {NULL, 0}, whose = {NULL, 0};
    bool room = has_room(e->g, &packed, rows * size * sizeof(float)) &&
                has_room(e->g, &whose, rows * sizeof(uint32_t));
    uint32_t *list = (uint32_t *)whose.at;
    struct env_gather gather = {e->last.final_obs, list, 0, size, (float *)packed.at};
    for (size_t copy = 0; copy < copies && room;) {
        for (gather.n = 0; copy < copies && gather.n < rows; copy++)
            if (terminated[copy] || truncated[copy])
                list[gather.n++] = (uint32_t)copy;
        block_reversed = cpu_reversed();
        for (unsigned block = observe_blocks(gather.n); block-- > 0;)
            block_env_gather(&gather, block);
        block_reversed = false;
        for (size_t i = 0; i < gather.n; i++)
            memcpy(final_obs + list[i] * size, gather.ret + i * size, size * sizeof(float));
    }
    check_guards(&packed, 1);
    check_guards(&whose, 1);
    let_go(e->g, &packed);
    let_go(e->g, &whose);
    return room ? 0 : cpu_none_left(reason, cap);
}

static int device_results(struct gpu_env *e, size_t n_steps, float *rewards, uint8_t *terminated,
                          uint8_t *truncated, float *final_obs, struct gpu_env_fault *ret_fault, char *reason,
                          size_t cap)
{
    size_t copies = e->launch.view.state.copies, n = n_steps * copies;
    if (n_steps > e->held) {
        snprintf(reason, cap, "results of %zu steps are there, not of %zu", e->held, n_steps);
        return -EINVAL;
    }
    check_guards(e->memory, CPU_USES);
    if (n > 0) {
        size_t skipped = (e->held - n_steps) * copies;
        memcpy(rewards, (const float *)e->last.rewards + skipped, n * sizeof(*rewards));
        memcpy(terminated, (const uint8_t *)e->last.terminated + skipped, n);
        memcpy(truncated, (const uint8_t *)e->last.truncated + skipped, n);
        int r = 0;
        if (final_obs && e->last.final_obs)
            r = copy_final(e, terminated + n - copies, truncated + n - copies, final_obs, reason, cap);
        if (r < 0)
            return r;
    }
    *ret_fault = launch_fault(e->fault);
    e->fault = FAULT_NONE;
    e->queued = 0;
    return cpu_wait(reason, cap);
}

static int device_observed(struct gpu_env *e, float *ret, char *reason, size_t cap)
{
    const struct cpu_memory *obs = &e->memory[CPU_OBS];
    if (!obs->at) {
        snprintf(reason, cap, "nothing was observed yet");
        return -EINVAL;
    }
    check_guards(obs, 1);
    memcpy(ret, obs->at, obs->bytes);
    return cpu_wait(reason, cap);
}

static int device_observe(struct gpu_env *e, float *ret, char *reason, size_t cap)
{
    struct env_launch l = e->launch;
    if (!has_rows(e, CPU_OBS))
        return cpu_none_left(reason, cap);
    l.obs = (float *)e->memory[CPU_OBS].at;
    memset(l.obs, 0xff, e->memory[CPU_OBS].bytes);
    run_blocks(observes, &l, observe_blocks(l.view.state.copies));
    return device_observed(e, ret, reason, cap);
}

static int device_masks(struct gpu_env *e, uint8_t *ret, char *reason, size_t cap)
{
    struct env_launch l = e->launch;
    struct cpu_memory *memory = &e->memory[CPU_MASKS];
    if (!has_masks(e))
        return cpu_none_left(reason, cap);
    l.masks = memory->at;
    run_blocks(masks, &l, step_blocks(l.view.state.copies));
    check_guards(memory, 1);
    memcpy(ret, memory->at, memory->bytes);
    return cpu_wait(reason, cap);
}

__attribute__((visibility("default"))) const struct gpu_env_api papertape_gpu_env = {
    .abi = GPU_ENV_ABI,
    .market_create = market_create,
    .market_destroy = market_destroy,
    .create = device_create,
    .destroy = device_destroy,
    .write = device_write,
    .draws = device_draws,
    .read = device_read,
    .reset = device_reset,
    .actions = device_actions,
    .run = device_run,
    .buffers = device_buffers,
    .step = device_step,
    .results = device_results,
    .observed = device_observed,
    .observe = device_observe,
    .masks = device_masks,
};
