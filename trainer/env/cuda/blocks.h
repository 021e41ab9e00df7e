/* The environment's kernels as block functions (indicators_gpu/cuda/block.h): one thread a copy, which calls
 * the same rules as the scalar kernels, so the bits are theirs.
 *
 * Columns are [n][stride], so the threads of a warp touch 32 neighbours of one column at a time. A copy's
 * episode depends on no other copy: several steps run in one launch without a barrier between them.
 *
 * Observations are rows, [copies][1 + n + L * features]: a block takes OBSERVE_COPIES of them, brings their
 * money and quantities through shared memory, since columns lie across rows, and then writes its rows as one
 * run, neighbours by neighbouring threads. What a row has of the market is one run there, newest first, and a
 * market of some thousand rows stays in the L2. */
#ifndef TRAINER_ENV_CUDA_BLOCKS_H
#define TRAINER_ENV_CUDA_BLOCKS_H

#include "indicators_gpu/cuda/block.h"
#include "trainer/env/cuda/abi.h"
#include "trainer/env/scalar/day_market.h"
#include "trainer/env/scalar/masks.h"
#include "trainer/env/scalar/reference.h"

enum {
    STEP_THREADS = 128, /* copies of a block */
    OBSERVE_THREADS = 256,
    OBSERVE_COPIES = 32,
    OBSERVE_STRIDE = OBSERVE_COPIES + 1, /* one more, so that a row's cells lie in banks of their own */
};

/* A fault is one number, the least of which is kept: step, copy, asset from the highest bits down. */
enum { FAULT_ASSET_BITS = 8, FAULT_COPY_BITS = 32 };
#define LAUNCH_COPIES_MAX ((size_t)1 << 30)
#define LAUNCH_STEPS_MAX  ((size_t)1 << 22)
#define FAULT_NONE        UINT64_MAX

/* What every kernel is given; all memory is the device's. */
struct env_launch {
    struct env_view view;

    /* A step's: action k of copy c in step s is at actions[(s * copies * action_size) + c * copy_step + k *
     * action_step]. */
    const float *actions;
    size_t copy_step, action_step;
    size_t first_step, n_steps; /* first_step: the number of the first among those loaded */
    float *rewards;             /* [copies], and so are these */
    uint8_t *terminated, *truncated;
    size_t result_step; /* from one step's results to the next one's; 0: the last step's are left */
    float *final_obs;   /* [copies][observation_size]; NULL except with ENV_SAME_STEP */
    uint64_t *fault;

    const uint8_t *mask; /* [copies] which to reset, or NULL: all */
    float *obs;
    uint8_t *masks;
};

/* Rows of some copies, packed one after the other. */
struct env_gather {
    const float *from;      /* [copies][size] */
    const uint32_t *copies; /* [n] whose */
    size_t n, size;
    float *ret; /* [n][size] */
};

/* Rows that a gather of at most `bytes`, rows and numbers, takes; at least one. */
static inline size_t gather_rows(size_t copies, size_t size, size_t bytes)
{
    size_t rows = bytes / (size * sizeof(float) + sizeof(uint32_t));
    rows = rows < copies ? rows : copies;
    return rows > 0 ? rows : 1;
}

/* Where a step's actions and results lie. */
static inline void launch_place(struct env_launch *l, const struct env_device_io *io)
{
    size_t action_size = (size_t)l->view.action_size;
    l->actions = (const float *)io->actions;
    l->copy_step = io->actions_by_column ? 1 : action_size;
    l->action_step = io->actions_by_column ? l->view.state.copies : 1;
    l->rewards = (float *)io->rewards;
    l->terminated = (uint8_t *)io->terminated;
    l->truncated = (uint8_t *)io->truncated;
    l->final_obs = l->view.params.autoreset == ENV_SAME_STEP ? (float *)io->final_obs : NULL;
    l->obs = (float *)io->observations;
    l->masks = (uint8_t *)io->masks;
}

/* Moves on by `n` steps of a run; results too where every step's are kept. */
static inline void launch_move(struct env_launch *l, size_t n)
{
    l->first_step += n;
    l->actions += n * l->view.state.copies * (size_t)l->view.action_size;
    l->rewards += n * l->result_step;
    l->terminated += n * l->result_step;
    l->truncated += n * l->result_step;
}

static inline unsigned step_blocks(size_t copies)
{
    return (unsigned)((copies + STEP_THREADS - 1) / STEP_THREADS);
}

static inline unsigned observe_blocks(size_t copies)
{
    return (unsigned)((copies + OBSERVE_COPIES - 1) / OBSERVE_COPIES);
}

/* Shared memory of a block: where each row's features begin, then money and quantities, transposed. */
static inline size_t observe_shared_bytes(int32_t n)
{
    return OBSERVE_COPIES * sizeof(const float *) + (size_t)(1 + n) * OBSERVE_STRIDE * sizeof(float);
}

static inline struct gpu_env_fault launch_fault(uint64_t fault)
{
    struct gpu_env_fault ret = {false, 0, 0, 0};
    if (fault == FAULT_NONE)
        return ret;
    ret.found = true;
    ret.step = fault >> (FAULT_COPY_BITS + FAULT_ASSET_BITS);
    ret.copy = fault >> FAULT_ASSET_BITS & UINT32_MAX;
    ret.asset = (uint32_t)(fault & ((1u << FAULT_ASSET_BITS) - 1));
    return ret;
}

/* The kernels of a step: template arguments, so that no thread tests what is constant within a launch, and
 * each has only its own code. From ENV_KERNEL_MARKET on they are those of ENV_MARKET. */
enum env_kernel {
    ENV_KERNEL_REFERENCE_F64,
    ENV_KERNEL_REFERENCE_F32,
    ENV_KERNEL_DAY_REFERENCE,
    ENV_KERNEL_MARKET,
    ENV_KERNEL_MARKET_LIMITED, /* a policy with limits */
    ENV_KERNEL_DAY_MARKET,
};

static inline enum env_kernel env_kernel_of(const struct env_view *view)
{
    const struct env_params *params = &view->params;
    bool day = params->task == ENV_DAY_TRADE;
    if (params->execution == ENV_MARKET && !day)
        return env_market_limited(view) ? ENV_KERNEL_MARKET_LIMITED : ENV_KERNEL_MARKET;
    if (params->execution == ENV_MARKET)
        return ENV_KERNEL_DAY_MARKET;
    if (day)
        return ENV_KERNEL_DAY_REFERENCE;
    return params->float32 ? ENV_KERNEL_REFERENCE_F32 : ENV_KERNEL_REFERENCE_F64;
}

/* One step of one copy, after a check of its action. */
BLOCK_FN void launch_step(const struct env_launch *l, const struct env_step_io *io, enum env_kernel kernel,
                          uint64_t step, size_t copy)
{
    const struct env_view *v = &l->view;
    ENV_FOUR
    for (int32_t k = 0; k < v->action_size; k++)
        if (!env_action_valid(v, io->actions[copy * io->copy_step + (size_t)k * io->action_step])) {
            block_least(l->fault, step << (FAULT_COPY_BITS + FAULT_ASSET_BITS) |
                                      (uint64_t)copy << FAULT_ASSET_BITS | (uint64_t)k);
            env_rest(io, copy);
            return;
        }
    if (!env_steps(v, io, copy, kernel >= ENV_KERNEL_MARKET ? ENV_MARKET : ENV_REFERENCE))
        return;
    switch (kernel) {
    case ENV_KERNEL_REFERENCE_F64:
        env_reference_f64_step(v, io, copy);
        break;
    case ENV_KERNEL_REFERENCE_F32:
        env_reference_f32_step(v, io, copy);
        break;
    case ENV_KERNEL_MARKET:
    case ENV_KERNEL_MARKET_LIMITED:
        env_market_step(v, io, copy, kernel == ENV_KERNEL_MARKET_LIMITED);
        break;
    case ENV_KERNEL_DAY_REFERENCE:
        env_day_step(v, io, copy);
        break;
    case ENV_KERNEL_DAY_MARKET:
        env_day_market_step(v, io, copy);
        break;
    }
}

/* So many steps of STEP_THREADS copies. */
BLOCK_FN void block_env_steps_of(const struct env_launch *l, enum env_kernel kernel, size_t n_steps,
                                 unsigned block)
{
    const struct env_view *v = &l->view;
    BLOCK_PHASE(t, STEP_THREADS)
    {
        size_t copy = (size_t)block * STEP_THREADS + t;
        if (copy >= v->state.copies)
            continue;
        for (size_t i = 0; i < n_steps; i++) {
            /* Found again each time: pointers that move along would occupy registers. */
            size_t result = i * l->result_step;
            struct env_step_io io = {l->actions + i * v->state.copies * (size_t)v->action_size,
                                     l->copy_step,
                                     l->action_step,
                                     l->rewards + result,
                                     l->terminated + result,
                                     l->truncated + result,
                                     l->final_obs};
            launch_step(l, &io, kernel, l->first_step + i, copy);
        }
    }
}

/* All steps of the launch. */
BLOCK_FN void block_env_steps(const struct env_launch *l, enum env_kernel kernel, unsigned block)
{
    block_env_steps_of(l, kernel, l->n_steps, block);
}

BLOCK_FN void block_env_reset(const struct env_launch *l, unsigned block)
{
    BLOCK_PHASE(t, STEP_THREADS)
    {
        size_t copy = (size_t)block * STEP_THREADS + t;
        if (copy < l->view.state.copies && (!l->mask || l->mask[copy]))
            env_begin(&l->view, copy, l->view.params.execution);
    }
}

BLOCK_FN void block_env_masks(const struct env_launch *l, unsigned block)
{
    BLOCK_PHASE(t, STEP_THREADS)
    {
        size_t copy = (size_t)block * STEP_THREADS + t;
        if (copy < l->view.state.copies)
            env_masks_copy(&l->view, copy, l->masks + copy * env_masks_size(&l->view));
    }
}

/* Rows of OBSERVE_COPIES copies from `first` on, by all threads of a block. */
BLOCK_FN void observe_rows(const struct env_launch *l, size_t first, unsigned threads, void *shared)
{
    const struct env_view *v = &l->view;
    const float **from = (const float **)shared;
    float *head = (float *)(from + OBSERVE_COPIES);
    size_t left = v->state.copies - first;
    unsigned n_head = 1 + (unsigned)v->state.n, size = (unsigned)v->observation_size;
    unsigned here = left < OBSERVE_COPIES ? (unsigned)left : OBSERVE_COPIES;
    float *rows = l->obs + first * size;

    BLOCK_PHASE(t, threads)
    {
        for (unsigned i = t; i < (n_head + 1) * OBSERVE_COPIES; i += threads) {
            unsigned k = i / OBSERVE_COPIES, c = i % OBSERVE_COPIES;
            if (c >= here)
                continue;
            if (k == n_head)
                from[c] = env_observed_features(v, v->state.row[first + c]);
            else
                head[k * OBSERVE_STRIDE + c] =
                    k == 0 ? env_observed_cash(v, first + c) : env_observed_qty(v, first + c, (int32_t)k - 1);
        }
    }
    BLOCK_PHASE(t, threads)
    {
        unsigned c = t / size, k = t % size;
        for (size_t i = t; i < (size_t)here * size; i += threads) {
            rows[i] = k < n_head ? head[k * OBSERVE_STRIDE + c] : from[c][k - n_head];
            c += threads / size;
            k += threads % size;
            if (k >= size) {
                k -= size;
                c++;
            }
        }
    }
}

BLOCK_FN void block_env_gather(const struct env_gather *g, unsigned block)
{
    size_t first = (size_t)block * OBSERVE_COPIES, left = g->n - first;
    size_t here = left < OBSERVE_COPIES ? left : OBSERVE_COPIES;
    BLOCK_PHASE(t, OBSERVE_THREADS)
    {
        for (size_t i = t; i < here * g->size; i += OBSERVE_THREADS)
            g->ret[first * g->size + i] = g->from[g->copies[first + i / g->size] * g->size + i % g->size];
    }
}

BLOCK_FN void block_env_observe(const struct env_launch *l, unsigned block, void *shared)
{
    observe_rows(l, (size_t)block * OBSERVE_COPIES, OBSERVE_THREADS, shared);
}

/* The launch's one step, then the rows of the same copies: while some blocks wait for their columns, others
 * write. */
BLOCK_FN void block_env_step_observe(const struct env_launch *l, enum env_kernel kernel, unsigned block,
                                     void *shared)
{
    block_env_steps_of(l, kernel, 1, block);
    size_t first = (size_t)block * STEP_THREADS;
    for (unsigned c = 0; c < STEP_THREADS && first + c < l->view.state.copies; c += OBSERVE_COPIES)
        observe_rows(l, first + c, STEP_THREADS, shared);
}

#endif
