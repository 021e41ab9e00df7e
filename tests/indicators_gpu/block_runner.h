/* Runs the GPU module's kernels on the CPU: the same block functions and the same sequence of launches, in
 * loops. Shared memory is an allocation of a block's own, poisoned with NaN; so are scratch and outputs. */
#ifndef TESTS_INDICATORS_GPU_BLOCK_RUNNER_H
#define TESTS_INDICATORS_GPU_BLOCK_RUNNER_H

#include <stdlib.h>
#include <string.h>

#include "indicators_gpu/cuda/plan.h"
#include "indicators_gpu/module.h"

static void *block_poisoned(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p)
        abort();
    memset(p, 0xff, bytes ? bytes : 1); /* NaN in every double */
    return p;
}

static void block_run_one(enum gpu_kernel kernel, unsigned block, const struct gpu_view *v, unsigned round)
{
    struct exact_shared *exact = NULL;
    struct tile_shared *tile = NULL;
    switch (kernel) {
    case GPU_KERNEL_EXACT:
        block_exact(v, block, exact = block_poisoned(sizeof(*exact)));
        break;
    case GPU_KERNEL_WINDOW:
        block_window(v, block);
        break;
    case GPU_KERNEL_SEED:
        block_seed(v, block, round);
        break;
    case GPU_KERNEL_REDUCE:
        block_reduce(v, block, tile = block_poisoned(sizeof(*tile)), round);
        break;
    case GPU_KERNEL_CARRY:
        block_carry(v, block, tile = block_poisoned(sizeof(*tile)), round);
        break;
    case GPU_KERNEL_APPLY:
        block_apply(v, block, tile = block_poisoned(sizeof(*tile)), round);
        break;
    case GPU_KERNEL_DIFFERENCE:
        block_difference(v, block);
        break;
    }
    free(exact);
    free(tile);
}

static int block_launch(void *context, enum gpu_kernel kernel, unsigned blocks, const struct gpu_view *v,
                        unsigned round)
{
    (void)context;
    for (unsigned i = 0; i < blocks; i++)
        block_run_one(kernel, block_reversed ? blocks - 1 - i : i, v, round);
    return 0;
}

/* gpu_module_compute() on the CPU; `reversed` runs threads and blocks last to first. Every input and output
 * row is an allocation's part with `guard` cells that must not change behind it. Returns 0 or -errno;
 * *ret_guards_kept. */
static inline int block_compute(const struct gpu_batch *batch, bool reversed, bool *ret_guards_kept)
{
    enum { GUARD = 8 };
    size_t n_out = gpu_batch_columns(batch), n_jobs = batch->n_series * batch->n_specs;
    size_t stride = batch->n_bars + GUARD, tiles = gpu_tiles(batch->n_bars);
    size_t column_bytes = batch->n_series * stride * sizeof(double);
    struct gpu_job *jobs = block_poisoned(n_jobs * sizeof(*jobs));
    double *columns[INDICATOR_COLUMNS];
    int r = 0;

    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        columns[c] = block_poisoned(column_bytes);
    for (size_t s = 0; s < batch->n_series; s++) {
        const struct indicator_columns *in = &batch->series[s];
        const double *const all[INDICATOR_COLUMNS] = {in->open, in->high, in->low, in->close, in->volume};
        for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
            if (all[c])
                memcpy(columns[c] + s * stride, all[c], batch->n_bars * sizeof(double));
    }
    size_t n = 0, column = 0;
    for (size_t i = 0; i < batch->n_specs; column += batch->specs[i++].row->n_outputs)
        for (size_t s = 0; s < batch->n_series && r == 0; s++) {
            size_t start = 0, bad = 0;
            r = indicator_check(batch->specs[i].row, &batch->series[s], batch->n_bars, &start, &bad);
            jobs[n] = (struct gpu_job){.kernel = batch->specs[i].row->id,
                                       .series = (uint32_t)s,
                                       .out = (uint32_t)(s * n_out + column),
                                       .start = start};
            memcpy(jobs[n++].options, batch->specs[i].options, sizeof(jobs->options));
        }
    size_t prefixes = gpu_plan(batch->method, jobs, n_jobs);

    struct gpu_view v = {
        .jobs = jobs,
        .out = block_poisoned(batch->n_series * n_out * stride * sizeof(double)),
        .n_bars = batch->n_bars,
        .stride = stride,
        .n_jobs = (unsigned)n_jobs,
        .n_tiles = (unsigned)tiles,
        .seeds = block_poisoned(n_jobs * SCAN_LANES * sizeof(double)),
        .carry = block_poisoned(n_jobs * SCAN_LANES * tiles * sizeof(struct affine)),
        .prefix = block_poisoned(prefixes * stride * sizeof(double)),
    };
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        v.columns[c] = columns[c];
    for (size_t i = 0; i < batch->n_series * n_out * stride; i++)
        v.out[i] = 1e300; /* any value that no indicator gives: a cell left out shows */

    block_reversed = reversed;
    if (r == 0)
        r = gpu_run(batch->method, jobs, &v, block_launch, NULL);
    block_reversed = false;

    bool kept = true;
    for (size_t i = 0; i < batch->n_series * n_out; i++) {
        for (size_t g = 0; g < GUARD; g++)
            kept &= v.out[i * stride + batch->n_bars + g] == 1e300;
        memcpy(batch->out[i], v.out + i * stride, batch->n_bars * sizeof(double));
    }
    *ret_guards_kept = kept;
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        free(columns[c]);
    free(jobs);
    free(v.out);
    free(v.seeds);
    free(v.carry);
    free(v.prefix);
    return r;
}

#endif
