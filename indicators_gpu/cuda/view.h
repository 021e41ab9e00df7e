/* What every kernel is given: the columns, the jobs, the outputs and the scratch, all on the device (or, in
 * the CPU tests, in plain memory). */
#ifndef INDICATORS_GPU_CUDA_VIEW_H
#define INDICATORS_GPU_CUDA_VIEW_H

#include "indicators_gpu/cuda/abi.h"
#include "indicators_gpu/cuda/block.h"

/* y -> a*y + b: what a run of bars does to a recurrence. */
struct affine {
    double a, b;
};

enum { SCAN_LANES = 2 }; /* recurrences of one job that run side by side: gains and losses, fast and slow */

struct gpu_view {
    const double *columns[INDICATOR_COLUMNS]; /* [n_series][stride], NULL when no series has it */
    const struct gpu_job *jobs;
    double *out; /* [n_columns][stride]; only bars below n_bars are written */
    size_t n_bars, stride;
    unsigned n_jobs, n_tiles; /* n_tiles: of TILE_BARS bars, for the parallel kernels */

    /* Scratch of the parallel kernels. */
    double *seeds;        /* [n_jobs][SCAN_LANES] */
    struct affine *carry; /* [n_jobs][SCAN_LANES][n_tiles] */
    double *prefix;       /* [prefix rows][stride], for jobs whose `prefix` is a row */
};

enum { GPU_NO_PREFIX = -1 }; /* as uint32_t, a job's `prefix` without a row */

#define GPU_CLOSE 3 /* places in `columns`: the order of enum indicator_input's bits */
#define GPU_HIGH  1
#define GPU_LOW   2

BLOCK_FN const double *gpu_input(const struct gpu_view *v, const struct gpu_job *job, unsigned column)
{
    return v->columns[column] + job->series * v->stride;
}

BLOCK_FN double *gpu_output(const struct gpu_view *v, const struct gpu_job *job, unsigned output)
{
    return v->out + (job->out + output) * v->stride;
}

#endif
