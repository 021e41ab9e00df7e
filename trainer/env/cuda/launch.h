/* What a launch of the environment's kernels is given, and how it is divided into blocks: for who launches
 * them, the module and the tests' CPU, and for the block functions. */
#ifndef TRAINER_ENV_CUDA_LAUNCH_H
#define TRAINER_ENV_CUDA_LAUNCH_H

#include "trainer/env/cuda/abi.h"
#include "trainer/env/scalar/market.h"

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

#endif
