/* Cuts a job's history into walks. */
#ifndef INDICATORS_GPU_CUDA_WALK_PLAN_H
#define INDICATORS_GPU_CUDA_WALK_PLAN_H

#include "indicators_gpu/cuda/walk.h"

/* Walks that a device of 132 processors holds at once, rounded: eight blocks each. */
#define WALKS_WANTED    32768u
#define WALK_SEGMENT    256u /* the shortest segment worth a walk */
#define WALK_ALIGN_MAX  65536u
#define WALK_MEMORY_MAX ((uint64_t)1 << 30)

/* By row and options, so that neighbours do the same work. */
static inline int walk_order(const void *a, const void *b)
{
    const struct gpu_job *x = &((const struct walk_job *)a)->job, *y = &((const struct walk_job *)b)->job;
    if (x->kernel != y->kernel)
        return x->kernel < y->kernel ? -1 : 1;
    int options = memcmp(x->options, y->options, sizeof(x->options));
    if (options != 0)
        return options;
    return (x->out > y->out) - (x->out < y->out);
}

/* The least common multiple. */
static inline uint64_t walk_common(uint64_t a, uint64_t b)
{
    uint64_t x = a, y = b;
    while (y > 0) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

/* The doubles behind a row's memory. */
static inline uint64_t walk_cells(const struct gpu_job *job)
{
#define WALK_CELLS(number, ID, name, kernels) \
    case INDICATOR_##ID: \
        return step_##name##_cells(job->options);
    switch (job->kernel) {
        INDICATOR_ROWS(WALK_CELLS)
    }
#undef WALK_CELLS
    return 0;
}

/* Segments of a job are multiples of this, so that rings match; 0 where that is too long to be useful. */
static inline uint64_t walk_alignment(const struct gpu_job *job)
{
    uint64_t align = 1, cells = walk_cells(job);
    for (unsigned i = 0; i < INDICATOR_OPTIONS_MAX && cells > 0; i++) {
        double option = job->options[i];
        if (!(option >= 1.0 && option <= WALK_ALIGN_MAX))
            continue;
        align = walk_common(align, walk_common((uint64_t)option, (uint64_t)option + 1));
        if (align > WALK_ALIGN_MAX)
            return 0;
    }
    return align;
}

static inline struct walk_job walk_cut(const struct gpu_job *job, size_t n_bars, size_t n_jobs)
{
    struct walk_job w;
    uint64_t n = n_bars - job->start, align, wanted = WALKS_WANTED / n_jobs + 1, most;

    memset(&w, 0, sizeof(w));
    w.job = *job;
    w.bytes = step_bytes(job->kernel, job->options);
    w.segment = n;
    w.n_walks = 1;
    bool window = job->warmup <= job->lookback;
    if (job->warmup >= n)
        return w;
    align = window ? 1 : walk_alignment(job);
    if (align == 0)
        return w;
    w.run_in = window ? job->lookback : 2 * job->warmup;
    if (n <= w.run_in + WALK_SEGMENT)
        return w;

    most = WALK_MEMORY_MAX / (2 * w.bytes + 1) + 1;
    if (wanted > most)
        wanted = most;
    w.segment = (n - w.run_in) / wanted + 1;
    if (w.segment < WALK_SEGMENT)
        w.segment = WALK_SEGMENT;
    w.segment = (w.segment + align - 1) / align * align;
    if (n > w.run_in + w.segment) {
        w.n_walks = (uint32_t)((n - w.run_in + w.segment - 1) / w.segment);
        w.verify = !window;
    }
    return w;
}

#endif
