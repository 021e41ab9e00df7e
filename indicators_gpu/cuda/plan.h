/* Which kernels a batch launches, in which order: one sequence for the module, which launches on the device,
 * and for the CPU tests, which run the same block functions in loops. */
#ifndef INDICATORS_GPU_CUDA_PLAN_H
#define INDICATORS_GPU_CUDA_PLAN_H

#include <errno.h>

#include "indicators_gpu/cuda/exact.h"
#include "indicators_gpu/cuda/parallel.h"

enum gpu_kernel {
    GPU_KERNEL_EXACT,
    GPU_KERNEL_WINDOW,
    GPU_KERNEL_SEED,
    GPU_KERNEL_REDUCE,
    GPU_KERNEL_CARRY,
    GPU_KERNEL_APPLY,
    GPU_KERNEL_DIFFERENCE,
};

/* Launches `blocks` blocks of a kernel; `round` is for those that take one. 0 or a negative errno. */
typedef int gpu_launch_fn(void *context, enum gpu_kernel kernel, unsigned blocks, const struct gpu_view *v,
                          unsigned round);

/* Blocks of one launch: CUDA's limit for the first dimension of a grid. */
#define GPU_BLOCKS_MAX 2147483647u

/* Gives rows of prefix sums to the jobs that need one. Returns how many rows that are. */
static inline size_t gpu_plan(enum gpu_method method, struct gpu_job jobs[], size_t n_jobs)
{
    size_t rows = 0;
    for (size_t i = 0; i < n_jobs; i++) {
        bool needs =
            method == GPU_PARALLEL && jobs[i].kernel == INDICATOR_SMA && jobs[i].options[0] > SMA_WINDOW_MAX;
        jobs[i].prefix = needs ? (uint32_t)rows++ : (uint32_t)GPU_NO_PREFIX;
    }
    return rows;
}

static inline unsigned gpu_tiles(size_t n_bars)
{
    return (unsigned)((n_bars + TILE_BARS - 1) / TILE_BARS);
}

static inline int gpu_run_round(const struct gpu_view *v, unsigned round, gpu_launch_fn *launch,
                                void *context)
{
    const struct {
        enum gpu_kernel kernel;
        unsigned blocks;
    } steps[] = {
        {GPU_KERNEL_SEED, (v->n_jobs + SEED_THREADS - 1) / SEED_THREADS},
        {GPU_KERNEL_REDUCE, v->n_jobs * v->n_tiles},
        {GPU_KERNEL_CARRY, v->n_jobs},
        {GPU_KERNEL_APPLY, v->n_jobs * v->n_tiles},
    };
    int r = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && r == 0; i++)
        r = launch(context, steps[i].kernel, steps[i].blocks, v, round);
    return r;
}

/* Computes all jobs. `jobs` are the same as the view's, readable here. Returns 0, -EINVAL when the batch
 * exceeds a launch's blocks, or what `launch` returned. */
static inline int gpu_run(enum gpu_method method, const struct gpu_job jobs[], const struct gpu_view *v,
                          gpu_launch_fn *launch, void *context)
{
    bool windows = false, recurrences = false, sums = false, signals = false;
    if (v->n_bars == 0 || v->n_jobs == 0)
        return 0;
    if ((v->n_bars + WINDOW_THREADS - 1) / WINDOW_THREADS > GPU_BLOCKS_MAX / v->n_jobs)
        return -EINVAL;
    for (unsigned i = 0; i < v->n_jobs; i++) {
        bool is_sma = jobs[i].kernel == INDICATOR_SMA, has_prefix = jobs[i].prefix != (uint32_t)GPU_NO_PREFIX;
        windows |= is_sma && !has_prefix;
        sums |= has_prefix;
        recurrences |= !is_sma || has_prefix;
        signals |= jobs[i].kernel == INDICATOR_MACD;
    }

    unsigned windows_of_a_job = (unsigned)((v->n_bars + WINDOW_THREADS - 1) / WINDOW_THREADS);
    int r = 0;
    if (windows)
        r = launch(context, GPU_KERNEL_WINDOW, v->n_jobs * windows_of_a_job, v, 0);
    if (r == 0 && recurrences && method == GPU_EXACT)
        r = launch(context, GPU_KERNEL_EXACT, (v->n_jobs + EXACT_THREADS - 1) / EXACT_THREADS, v, 0);
    if (r == 0 && recurrences && method == GPU_PARALLEL) {
        r = gpu_run_round(v, 0, launch, context);
        if (r == 0 && signals)
            r = gpu_run_round(v, 1, launch, context);
        if (r == 0 && sums)
            r = launch(context, GPU_KERNEL_DIFFERENCE, v->n_jobs * windows_of_a_job, v, 0);
    }
    return r;
}

#endif
