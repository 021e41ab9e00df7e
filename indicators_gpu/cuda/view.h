/* The arguments of every kernel of a batch: the columns, the jobs, the outputs and the scratch, all on the
 * device (or, in the CPU tests, in plain memory). Arithmetic is float64 whatever the columns hold. */
#ifndef INDICATORS_GPU_CUDA_VIEW_H
#define INDICATORS_GPU_CUDA_VIEW_H

#include "indicators_gpu/cuda/abi.h"
#include "indicators_gpu/cuda/block.h"

struct walk_job;
struct fused_rule;
struct fused_job;
struct fused_group;

struct gpu_view {
    const void *columns[INDICATOR_COLUMNS]; /* [n_series][stride], NULL when no series has it */
    void *out;                              /* [n_columns][stride]; only bars below n_bars are written */
    size_t n_bars, stride;
    bool f32; /* columns except the time, and outputs, are float */

    /* walk.h: the jobs of one launch */
    const struct walk_job *walks;
    unsigned n_walk_jobs, n_walks;
    unsigned char *memory;
    unsigned char *marks; /* [n_walks] */

    /* fused.h */
    const struct fused_rule *rules;
    const struct fused_job *fused;
    const struct fused_group *groups;
    unsigned n_groups, n_tiles;
    double *carry;    /* [fused jobs][n_tiles][FUSED_DIMS] */
    uint32_t *ticket; /* zero before a launch, and so are the flags */
    uint32_t *flags;  /* [n_groups][n_tiles] */
};

/* Cell i of a column, which is float where f32; likewise to store one. */
BLOCK_FN double view_get(const void *column, bool f32, size_t i)
{
    return f32 ? (double)((const float *)column)[i] : ((const double *)column)[i];
}

BLOCK_FN void view_put(void *column, bool f32, size_t i, double value)
{
    if (f32)
        ((float *)column)[i] = (float)value;
    else
        ((double *)column)[i] = value;
}

BLOCK_FN double view_input(const struct gpu_view *v, unsigned column, size_t series, size_t i)
{
    return view_get(v->columns[column], v->f32 && 1u << column != INDICATOR_TIME, series * v->stride + i);
}

BLOCK_FN void view_store(const struct gpu_view *v, size_t column, size_t i, double value)
{
    view_put(v->out, v->f32, column * v->stride + i, value);
}

#endif
