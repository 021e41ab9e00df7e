/* A tile of the fused kernel in shared memory: its place, its columns, and the seeds that fall into it. */
#ifndef INDICATORS_GPU_CUDA_FUSED_TILE_H
#define INDICATORS_GPU_CUDA_FUSED_TILE_H

#include <assert.h>

#include "indicators_gpu/cuda/fused_rule.h"

/* A thread's bars are contiguous, with one cell of padding after each thread's, to spread them over banks. */
#define FUSED_PLACE(i) ((i) + (i) / FUSED_ITEMS)

enum {
    FUSED_LANES = 8,  /* values of a group's jobs together */
    FUSED_JOBS = 8,   /* of a group: no more than chunks have threads */
    FUSED_INPUTS = 3, /* high, low, close */
    FUSED_OUTPUTS = 3,
    FUSED_HALO = FUSED_PERIOD_MAX, /* closes before a tile */
    FUSED_LOOK = 32,               /* tiles looked back at together */
    FUSED_CELLS = FUSED_PLACE(FUSED_BARS),
    FUSED_RUNS = FUSED_THREADS + 8, /* cells for a value of each thread, at fused_run_place() */
};

static_assert(FUSED_RUNS % 16 == 8 && FUSED_CHUNK == 16 && FUSED_CHUNKS <= 8,
              "the chunks of a lane lie in banks of their own, and those of the next lane in the others");

/* A job, as its tile needs it at every turn. */
struct fused_task {
    const struct fused_rule *rule;
    uint32_t kernel, lane, out;
    uint32_t whole; /* the first thread all of whose bars come after the seeds */
};

struct fused_shared {
    uint32_t ticket;
    double x[FUSED_INPUTS - 1][FUSED_CELLS]; /* high, low */
    double close[FUSED_PLACE(FUSED_HALO) + FUSED_CELLS];
    double b[FUSED_LANES][FUSED_RUNS];
    union {
        double look[FUSED_LOOK][FUSED_LANES];
        double stage[FUSED_CELLS];
    };
    double chunk[FUSED_LANES][FUSED_CHUNKS];
    double entry[FUSED_LANES], seed[FUSED_LANES];
    struct fused_task task[FUSED_JOBS];
};

/* The place of a block. */
struct fused_at {
    const struct fused_group *group;
    const struct fused_job *jobs;
    unsigned tile;
    unsigned n;  /* bars of the tile, FUSED_BARS but in the last */
    size_t base; /* the tile's first bar */
};

/* The cell of a bar in high and low; that of a close, which may lie in the halo. */
BLOCK_FN unsigned fused_place(unsigned i)
{
    return FUSED_PLACE(i);
}

/* Of a thread's value: one cell of padding after each chunk's. */
BLOCK_FN unsigned fused_run_place(unsigned t)
{
    return t + t / FUSED_CHUNK;
}

BLOCK_FN unsigned fused_close_place(int i)
{
    return fused_place((unsigned)(i + FUSED_HALO));
}

/* The close i bars after the tile's first. */
BLOCK_FN double fused_close(const struct fused_shared *sh, int i)
{
    return sh->close[fused_close_place(i)];
}

BLOCK_FN const struct fused_rule *fused_rule_at(const struct gpu_view *v, const struct fused_job *job)
{
    return &v->rules[job->rule];
}

BLOCK_FN double *fused_carry(const struct gpu_view *v, const struct fused_at *at, unsigned job, unsigned tile)
{
    return v->carry + ((size_t)(at->group->first + job) * v->n_tiles + tile) * FUSED_DIMS;
}

/* Where a tile's bars begin in row `row` of a column, bytes. */
BLOCK_FN size_t fused_offset(const struct gpu_view *v, const struct fused_at *at, bool f32, size_t row)
{
    return (row * v->stride + at->base) * (f32 ? sizeof(float) : sizeof(double));
}

/* Neighbouring threads load neighbouring bars; the places of a thread's are FUSED_ACROSS apart. */
enum { FUSED_ACROSS = FUSED_PLACE(FUSED_THREADS) };

BLOCK_FN void fused_load(const struct gpu_view *v, const struct fused_at *at, bool f32,
                         struct fused_shared *sh, unsigned t)
{
    unsigned series = at->jobs[0].series;
    BLOCK_UNROLL
    for (unsigned c = 0; c < FUSED_INPUTS; c++) {
        double loaded[FUSED_ITEMS];
        double *to = (c < 2 ? sh->x[c] : &sh->close[fused_close_place(0)]) + fused_place(t);
        if (!(at->group->inputs & 1u << (c + 1)))
            continue;
        const void *from = (const char *)v->columns[c + 1] + fused_offset(v, at, f32, series);
        BLOCK_UNROLL
        for (unsigned j = 0; j < FUSED_ITEMS; j++) {
            unsigned i = j * FUSED_THREADS + t;
            loaded[j] = i < at->n ? view_get(from, f32, i) : 0.0;
        }
        BLOCK_UNROLL
        for (unsigned j = 0; j < FUSED_ITEMS; j++)
            to[j * FUSED_ACROSS] = loaded[j];
    }
    BLOCK_ROLLED
    for (unsigned back = 1 + t; back <= at->group->halo && back <= at->base; back += FUSED_THREADS)
        sh->close[fused_close_place(-(int)back)] = view_input(v, 3, series, at->base - back);
}

/* Is bar i of the series in the tile? */
BLOCK_FN bool fused_here(const struct fused_at *at, size_t i)
{
    return i >= at->base && i - at->base < at->n;
}

/* The seeds of a job that fall into the tile. */
BLOCK_APART void fused_find_seeds(const struct gpu_view *v, const struct fused_job *job, bool first,
                                  bool second, struct fused_shared *sh)
{
    const struct fused_rule *rule = fused_rule_at(v, job);
    double y[FUSED_DIMS];
    if (first) {
        fused_seed(v, rule, job, y);
        for (unsigned d = 0; d < 2; d++)
            if (d < rule->dims)
                sh->seed[job->lane + d] = y[d];
    }
    if (second)
        sh->seed[job->lane + 2] = fused_signal_rest(v, rule, job);
}

/* A thread makes a job ready for the tile. */
BLOCK_FN void fused_prepare(const struct gpu_view *v, const struct fused_at *at, unsigned n,
                            struct fused_shared *sh)
{
    const struct fused_job *job = &at->jobs[n];
    const struct fused_rule *rule = fused_rule_at(v, job);
    size_t seed = job->start + rule->first, signal = job->start + rule->second;
    bool first = rule->dims > 0 && fused_here(at, seed);
    bool second = rule->dims == FUSED_DIMS && fused_here(at, signal);
    sh->task[n].rule = rule;
    sh->task[n].kernel = rule->kernel;
    sh->task[n].lane = job->lane;
    sh->task[n].out = job->out;
    sh->task[n].whole = signal < at->base        ? 0
                        : fused_here(at, signal) ? (uint32_t)(signal - at->base) / FUSED_ITEMS + 1
                                                 : FUSED_THREADS;
    if (first || second)
        fused_find_seeds(v, job, first, second, sh);
}

#endif
