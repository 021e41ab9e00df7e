/* PPO's part of the GPU module: plain C on both sides, no CUDA header. The loader is trainer/ppo/device.h;
 * nothing else includes this file except the module and its tests.
 *
 * Every call returns 0 or a negative errno and then leaves a sentence in `reason`, as those of
 * indicators_gpu/cuda/abi.h. One thread at a time. */
#ifndef TRAINER_PPO_CUDA_ABI_H
#define TRAINER_PPO_CUDA_ABI_H

#include "trainer/env/device_io.h"
#include "trainer/ppo/cuda/kernels.h"
#include "trainer/ppo/cuda/queue.h"
#include "trainer/ppo/params.h"
#include "trainer/ppo/state.h"

struct gpu_indicators; /* the opened device: indicators_gpu/cuda/abi.h */

/* Raised whenever anything in this file, a struct that it takes, or what an update computes changes. */
enum { GPU_PPO_ABI = 5 };

/* What the module exports, a struct gpu_ppo_api. */
#define GPU_PPO_SYMBOL "papertape_gpu_ppo"

struct gpu_ppo; /* a learner on the device */

/* Everything that it points to must outlive the learner. */
struct gpu_ppo_setup {
    const struct ppo_params *params;
    const struct net_layout *layout;
    uint32_t shortest_episode; /* as ppo_plan_make() */

    /* The environment: its buffers, its stream, and a step queued there (env_device_queue()). */
    struct env_device_io io;
    void *stream;
    int (*step)(void *ctx, const struct env_device_io *io, void *stream, char *err);
    void *ctx;
};

/* In the host's memory, as state.h has a learner's pieces. */
struct gpu_ppo_state {
    float *params, *adam_m, *adam_v; /* [n_params] */
    struct ppo_moments *normaliser;  /* [1 + observation] */
    struct ppo_counters *counters;   /* iteration, steps and skipped_total are the host's */
    struct ppo_copy *copies;         /* [copies] */
};

struct gpu_ppo_result {
    struct kernel_figures figures;
    double seconds_rollout, seconds_advantage, seconds_update; /* the device's */
};

/* Arrays that tests read after an iteration: of its last minibatch. */
enum gpu_ppo_array {
    GPU_PPO_GRADS, /* float [n_params], before they are clipped */
    GPU_PPO_X,     /* [rows][first layer's rows_padded], bfloat16 with PPO_BF16 */
    GPU_PPO_TAKEN, /* float [rows][actions] */
    GPU_PPO_OLD_LOGP,
    GPU_PPO_OLD_VALUES, /* float [rows] */
    GPU_PPO_ADVANTAGES,
    GPU_PPO_RETURNS, /* float [rows]; not normalised */
};

struct gpu_ppo_api {
    uint32_t abi;

    int (*memory)(struct gpu_indicators *g, struct queue_memory *ret, char *reason, size_t cap);

    /* -ENOMEM: the device has no room. -ENOTSUP: it has no such matrix product; -ENOEXEC: no matrix library.
     * The state is undefined until write(). */
    int (*create)(struct gpu_indicators *g, const struct gpu_ppo_setup *setup, struct gpu_ppo **ret,
                  char *reason, size_t cap);
    void (*destroy)(struct gpu_ppo *p);

    int (*write)(struct gpu_ppo *p, const struct gpu_ppo_state *state, char *reason, size_t cap);
    int (*read)(struct gpu_ppo *p, const struct gpu_ppo_state *state, char *reason, size_t cap);

    /* Rollout, advantages, update; with `rehearse` a rollout and its statistics alone. The host waits once,
     * at its end; with `rolled` (NULL: not wanted), which is called after the rollout, twice; with target_kl
     * also before each epoch but the first, where the device has no conditional graphs. Errors of the
     * environment are not reported here but by env_device_wait(). */
    int (*iterate)(struct gpu_ppo *p, const struct kernel_rates *rates, bool rehearse,
                   void (*rolled)(void *ctx), void *ctx, struct gpu_ppo_result *ret, char *reason,
                   size_t cap);

    int (*fetch)(struct gpu_ppo *p, enum gpu_ppo_array array, void *ret, size_t bytes, char *reason,
                 size_t cap);

    size_t (*bytes)(const struct gpu_ppo *p);   /* of the one allocation */
    uint64_t (*waits)(const struct gpu_ppo *p); /* how often the host waited for the device */

    /* Measured multiplications and additions a second of the largest product of an update, over `rounds`. */
    int (*matrix_rate)(struct gpu_ppo *p, int rounds, double *ret_flop_per_s, char *reason, size_t cap);

    /* Measured seconds of one of its products, alone, `rounds` times with the operands of its last run; NaN:
     * it never ran. What it wrote is overwritten; the next iteration computes that again. */
    int (*product_seconds)(struct gpu_ppo *p, int id, int rounds, double *ret, char *reason, size_t cap);

    /* Its matrix products, the first n of them into ret (queue.h). Returns how many there are. */
    size_t (*products)(const struct gpu_ppo *p, struct queue_record *ret, size_t n);

    /* "", or a sentence for the user, which stays: what the device does not do as it should. */
    const char *(*notice)(const struct gpu_ppo *p);
};

#endif
