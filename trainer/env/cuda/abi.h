/* The environment's part of the GPU module: plain C on both sides, no CUDA header. The loader is
 * trainer/env/device.h; nothing else includes this file except the module, its tests and the block
 * functions.
 *
 * Every call returns 0 or a negative errno and then leaves a sentence in `reason`, as those of
 * indicators_gpu/cuda/abi.h. Work is queued in order, on the module's stream; read(), results() and all calls
 * that move values between host and device wait for it; step(), reset() without a mask and run() without
 * ret_ms do not. One thread at a time.
 *
 * A step of a copy whose action is not finite (or no level) is left out: that copy stays as it was, its
 * reward is 0 and it has not ended; all others are stepped. The device remembers the first such action, in
 * order of step, copy and asset, and the next call that waits reports it. */
#ifndef TRAINER_ENV_CUDA_ABI_H
#define TRAINER_ENV_CUDA_ABI_H

#include "trainer/env/device_io.h"
#include "trainer/env/view.h"

struct gpu_indicators; /* the opened device: indicators_gpu/cuda/abi.h */

/* Raised whenever anything in this file, a struct that it takes, or what a step computes changes: a module of
 * another number is refused, since it would give other bits. */
enum { GPU_ENV_ABI = 9 };

/* What the module exports, a struct gpu_env_api. */
#define GPU_ENV_SYMBOL "papertape_gpu_env"

struct gpu_env_market; /* a market on the device */
struct gpu_env;        /* copies on the device */

/* The first invalid action since the last call that asked for it. */
struct gpu_env_fault {
    bool found;
    uint64_t step; /* of its run(), or how many step()s were queued before it since results() */
    uint64_t copy;
    uint32_t asset;
};

struct gpu_env_api {
    uint32_t abi;

    /* Copies a market to the device; destroyed after the environments that are made on it. */
    int (*market_create)(struct gpu_indicators *g, const struct env_market_view *market,
                         struct gpu_env_market **ret, char *reason, size_t cap);
    void (*market_destroy)(struct gpu_env_market *m);

    /* Room for the copies of `view`, whose columns all lie in `memory_bytes` bytes from `memory` on; write()
     * fills it. */
    int (*create)(struct gpu_env_market *m, const struct env_view *view, const void *memory,
                  size_t memory_bytes, struct gpu_env **ret, char *reason, size_t cap);
    void (*destroy)(struct gpu_env *e);

    /* All columns, from the host and to it. With draws() the seed and what env_windows() set: [copies] each,
     * or NULL. */
    int (*write)(struct gpu_env *e, const void *memory, char *reason, size_t cap);
    int (*draws)(struct gpu_env *e, uint64_t seed, const int32_t *starts, const int32_t *lengths,
                 char *reason, size_t cap);
    int (*read)(struct gpu_env *e, void *memory, char *reason, size_t cap);

    /* Begins an episode in every copy, or in those with mask[copy] != 0. */
    int (*reset)(struct gpu_env *e, const uint8_t *mask, char *reason, size_t cap);

    /* Copies actions of n_steps steps to the device, for run(): [n_steps][copies][action_size], or
     * [n_steps][action_size][copies]. */
    int (*actions)(struct gpu_env *e, const float *actions, size_t n_steps, bool by_column, char *reason,
                   size_t cap);

    /* Steps all copies n_steps times with the loaded actions, from the first on, in one launch; with
     * `observe` in one for each step, which writes the observations of all copies after it, too; they stay on
     * the device. `keep`: rewards and ends of every step stay there, not of the last alone. With ret_ms it
     * waits and returns the device's time, else it only queues. */
    int (*run)(struct gpu_env *e, size_t n_steps, bool observe, bool keep, float *ret_ms, char *reason,
               size_t cap);

    /* The environment's own buffers, and its stream (a cudaStream_t; the tests' CPU has none: NULL).
     * `actions` are those that actions() loaded, or room for one step. They stay where they are until
     * actions() is given more than ever before. final_obs is NULL except with ENV_SAME_STEP. */
    int (*buffers)(struct gpu_env *e, struct env_device_io *ret, void **ret_stream, char *reason, size_t cap);

    /* Queues one step on `stream` (NULL: the environment's own) and returns. What was queued for this
     * environment on other streams comes first, on the device; nothing here waits. The caller orders its own
     * buffers' other uses. Where actions are given, rewards and ends are not NULL. */
    int (*step)(struct gpu_env *e, const struct env_device_io *io, void *stream, char *reason, size_t cap);

    /* Waits; then what the last n_steps steps gave, [n_steps][copies] each: 0, 1, or up to all of a run()
     * that kept them; -EINVAL for more. After a step() they are read where it left them. final_obs, which may
     * be NULL, as env_io has it, of the last step: rows of copies that did not end are left alone. */
    int (*results)(struct gpu_env *e, size_t n_steps, float *rewards, uint8_t *terminated, uint8_t *truncated,
                   float *final_obs, struct gpu_env_fault *ret_fault, char *reason, size_t cap);

    /* The observations that the last run() or observe() wrote, or a step() into the environment's own buffer;
     * -EINVAL where there is none yet. */
    int (*observed)(struct gpu_env *e, float *ret, char *reason, size_t cap);

    /* As env_observe() and env_masks(), with the bytes that those write. */
    int (*observe)(struct gpu_env *e, float *ret, char *reason, size_t cap);
    int (*masks)(struct gpu_env *e, uint8_t *ret, char *reason, size_t cap);
};

#endif
