/* How a batch is computed: which jobs share the fused kernel, how the others are cut into walks, and which
 * launches that makes: one sequence for the module, which launches on the device, and for the CPU tests,
 * which run the same block functions in loops.
 *
 * Memory beside columns and outputs: for the fused jobs 24 bytes a job and tile of 1024 bars; for walks their
 * memories, and a second one where they are verified, in launches of at most WALK_MEMORY_MAX. */
#ifndef INDICATORS_GPU_CUDA_PLAN_H
#define INDICATORS_GPU_CUDA_PLAN_H

#include <errno.h>
#include <stdlib.h>

#include "indicators_gpu/cuda/fused.h"
#include "indicators_gpu/cuda/walk_plan.h"

/* Blocks of one launch: CUDA's limit for the first dimension of a grid. */
#define GPU_BLOCKS_MAX 2147483647u

enum gpu_kernel { GPU_KERNEL_FUSED, GPU_KERNEL_WALK, GPU_KERNEL_VERIFY };

/* Walk jobs of one launch. */
struct walk_launch {
    unsigned first, n_jobs, n_walks;
    bool verify;
};

struct gpu_plan {
    struct walk_job *walks;
    struct walk_launch *launches;
    struct fused_job *fused;
    struct fused_group *groups;
    struct fused_rule *rules;
    size_t n_walk_jobs, n_launches, n_fused, n_groups, n_rules, n_tiles;
    uint64_t memory;  /* of the largest launch's walks */
    unsigned n_marks; /* its walks */
};

static inline void gpu_plan_free(struct gpu_plan *p)
{
    free(p->walks);
    free(p->launches);
    free(p->fused);
    free(p->groups);
    free(p->rules);
}

/* Divides the walk jobs into launches. */
static inline void walk_launches(struct gpu_plan *p)
{
    uint64_t memory = 0;
    struct walk_launch *l = NULL;
    for (size_t i = 0; i < p->n_walk_jobs; i++) {
        struct walk_job *w = &p->walks[i];
        uint64_t bytes = w->bytes * (w->verify ? 2 : 1) * w->n_walks;
        if (!l || memory + bytes > WALK_MEMORY_MAX || l->n_walks > GPU_BLOCKS_MAX - w->n_walks) {
            memory = 0;
            l = &p->launches[p->n_launches++];
            *l = (struct walk_launch){(unsigned)i, 0, 0, false};
        }
        w->first_walk = l->n_walks;
        w->memory = memory;
        memory += bytes;
        l->n_jobs++;
        l->n_walks += w->n_walks;
        l->verify |= w->verify != 0;
        if (memory > p->memory)
            p->memory = memory;
        if (l->n_walks > p->n_marks)
            p->n_marks = l->n_walks;
    }
}

/* ---- Fused jobs. ---- */

static inline int fused_order(const void *a, const void *b)
{
    const struct gpu_job *x = *(const struct gpu_job *const *)a, *y = *(const struct gpu_job *const *)b;
    if (x->series != y->series)
        return x->series < y->series ? -1 : 1;
    return (x->out > y->out) - (x->out < y->out);
}

/* The rule of a job; creates it if no earlier job has the same. */
static inline const struct fused_rule *fused_rule_find(struct gpu_plan *p, const struct gpu_job *jobs[],
                                                       size_t at)
{
    for (size_t i = 0; i < p->n_fused && i < at; i++) {
        const struct gpu_job *other = jobs[at - 1 - i];
        if (other->kernel == jobs[at]->kernel &&
            memcmp(other->options, jobs[at]->options, sizeof(other->options)) == 0)
            return &p->rules[p->fused[at - 1 - i].rule];
    }
    p->rules[p->n_rules] = fused_rule_of(jobs[at]);
    return &p->rules[p->n_rules++];
}

static inline void fused_deal(struct gpu_plan *p, const struct gpu_job *jobs[], size_t n)
{
    unsigned lanes = 0;
    struct fused_group *g = NULL;
    qsort(jobs, n, sizeof(*jobs), fused_order);
    for (size_t i = 0; i < n; i++) {
        const struct fused_rule *rule = fused_rule_find(p, jobs, i);
        uint32_t halo = rule->dims == 0 ? (uint32_t)rule->period[0] : 1;
        if (!g || jobs[i]->series != jobs[i - 1]->series || g->n == FUSED_JOBS ||
            lanes + rule->dims > FUSED_LANES) {
            g = &p->groups[p->n_groups++];
            *g = (struct fused_group){(uint32_t)i, 0, 0, 0, 0};
            lanes = 0;
        }
        p->fused[p->n_fused++] = (struct fused_job){
            (uint32_t)(rule - p->rules), jobs[i]->series, jobs[i]->out, lanes, jobs[i]->start,
        };
        lanes += rule->dims;
        g->n++;
        g->inputs |= jobs[i]->inputs;
        g->halo = halo > g->halo ? halo : g->halo;
        g->tiles_back = rule->tiles_back > g->tiles_back ? rule->tiles_back : g->tiles_back;
    }
}

/* Fills *p, for gpu_plan_free(). 0, -ENOMEM, or -EINVAL when the batch exceeds the limits of a launch. */
static inline int gpu_plan_make(struct gpu_plan *p, enum gpu_method method, const struct gpu_job jobs[],
                                size_t n_jobs, size_t n_bars)
{
    size_t n_fused = 0, n_walks = 0;
    const struct gpu_job **fused = (const struct gpu_job **)malloc((n_jobs + 1) * sizeof(*fused));
    memset(p, 0, sizeof(*p));
    p->n_tiles = (n_bars + FUSED_BARS - 1) / FUSED_BARS;
    p->walks = (struct walk_job *)calloc(n_jobs + 1, sizeof(*p->walks));
    p->launches = (struct walk_launch *)calloc(n_jobs + 1, sizeof(*p->launches));
    p->fused = (struct fused_job *)calloc(n_jobs + 1, sizeof(*p->fused));
    p->groups = (struct fused_group *)calloc(n_jobs + 1, sizeof(*p->groups));
    p->rules = (struct fused_rule *)calloc(n_jobs + 1, sizeof(*p->rules));
    if (!fused || !p->walks || !p->launches || !p->fused || !p->groups || !p->rules) {
        free(fused);
        gpu_plan_free(p);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n_jobs; i++)
        if (method == GPU_PARALLEL && fused_can(&jobs[i]))
            fused[n_fused++] = &jobs[i];
        else
            n_walks++;
    for (size_t i = 0; i < n_jobs; i++)
        if (method != GPU_PARALLEL || !fused_can(&jobs[i]))
            p->walks[p->n_walk_jobs++] = walk_cut(&jobs[i], n_bars, n_walks);
    qsort(p->walks, p->n_walk_jobs, sizeof(*p->walks), walk_order);
    walk_launches(p);
    fused_deal(p, fused, n_fused);
    free(fused);
    if (p->n_groups > 0 && p->n_tiles > GPU_BLOCKS_MAX / p->n_groups) {
        gpu_plan_free(p);
        return -EINVAL;
    }
    return 0;
}

/* ---- Launches. ---- */

/* Launches `blocks` blocks of a kernel. 0 or a negative errno. */
typedef int gpu_launch_fn(void *context, enum gpu_kernel kernel, unsigned blocks, const struct gpu_view *v);

/* Computes all jobs. The view has the columns, the outputs, and the plan's arrays where the kernels run. */
static inline int gpu_run(const struct gpu_plan *p, const struct gpu_view *view, gpu_launch_fn *launch,
                          void *context)
{
    struct gpu_view v = *view;
    int r = 0;
    if (v.n_bars == 0)
        return 0;
    v.n_groups = (unsigned)p->n_groups;
    v.n_tiles = (unsigned)p->n_tiles;
    if (p->n_groups > 0)
        r = launch(context, GPU_KERNEL_FUSED, v.n_groups * v.n_tiles, &v);
    for (size_t i = 0; i < p->n_launches && r == 0; i++) {
        const struct walk_launch *l = &p->launches[i];
        v.walks = view->walks + l->first;
        v.n_walk_jobs = l->n_jobs;
        v.n_walks = l->n_walks;
        r = launch(context, GPU_KERNEL_WALK, (l->n_walks + WALK_THREADS - 1) / WALK_THREADS, &v);
        if (r == 0 && l->verify)
            r = launch(context, GPU_KERNEL_VERIFY, l->n_jobs, &v);
    }
    return r;
}

#endif
