/* One thread's work on a tile in the fused kernel: loads its bars, runs them, finds seeds. */
#ifndef INDICATORS_GPU_CUDA_FUSED_TILE_H
#define INDICATORS_GPU_CUDA_FUSED_TILE_H

#include "indicators_gpu/cuda/fused_rule.h"

enum {
    FUSED_LANES = 8,  /* values of a group's jobs together */
    FUSED_JOBS = 8,   /* of a group: no more than chunks have threads */
    FUSED_INPUTS = 3, /* high, low, close */
    FUSED_OUTPUTS = 3,
    FUSED_HALO = FUSED_PERIOD_MAX,
    FUSED_LOOK = 32,                          /* tiles looked back at together */
    FUSED_CELLS = FUSED_BARS + FUSED_THREADS, /* of a tile: see fused_place() */
};

struct fused_shared {
    uint32_t ticket;
    double x[FUSED_INPUTS][FUSED_CELLS];
    double before[FUSED_HALO]; /* the closes before the tile, the last one last */
    union {
        double b[FUSED_LANES][FUSED_THREADS];
        double stage[FUSED_CELLS];
    };
    double chunk[FUSED_LANES][FUSED_CHUNKS], look[FUSED_LOOK][FUSED_LANES];
    double entry[FUSED_LANES], seed[FUSED_LANES];
};

/* The place of a block. */
struct fused_at {
    const struct fused_group *group;
    const struct fused_job *jobs;
    unsigned tile;
    size_t base; /* the tile's first bar */
};

/* A thread's results for one job's outputs. */
struct fused_values {
    double at[FUSED_OUTPUTS][FUSED_ITEMS];
};

struct fused_entries {
    double y[FUSED_LANES];
};

/* A thread's bars are contiguous, with one cell of padding after each thread's, to spread them over banks. */
BLOCK_FN unsigned fused_place(unsigned i)
{
    return i + i / FUSED_ITEMS;
}

/* The close i bars after the tile's first; i may go back by the halo. */
BLOCK_FN double fused_close(const struct fused_shared *sh, int i)
{
    return i < 0 ? sh->before[FUSED_HALO + i] : sh->x[2][fused_place((unsigned)i)];
}

BLOCK_FN const struct fused_rule *fused_rule_at(const struct gpu_view *v, const struct fused_job *job)
{
    return &v->rules[job->rule];
}

BLOCK_FN double *fused_carry(const struct gpu_view *v, const struct fused_at *at, unsigned job, unsigned tile)
{
    return v->carry + ((size_t)(at->group->first + job) * v->n_tiles + tile) * FUSED_DIMS;
}

/* ---- A thread's bars. ---- */

/* One bar of a recurrence; r counts from the start and is not below rule->first. */
BLOCK_FN void fused_bar(const struct fused_rule *rule, const struct fused_shared *sh, unsigned lane, int i,
                        uint64_t r, double y[FUSED_DIMS])
{
    double x = fused_close(sh, i);
    if (r == rule->first) {
        y[0] = sh->seed[lane];
        if (rule->dims > 1)
            y[1] = sh->seed[lane + 1];
        y[2] = 0.0;
    } else if (rule->kernel == INDICATOR_EMA) {
        y[0] = ema_next(y[0], x, rule->k[0]);
    } else if (rule->kernel == INDICATOR_MACD) {
        fused_macd_bar(rule, x, y);
    } else if (rule->kernel == INDICATOR_ATR) {
        double range = true_range(sh->x[0][fused_place((unsigned)i)], sh->x[1][fused_place((unsigned)i)],
                                  fused_close(sh, i - 1));
        y[0] = y[0] * rule->keep[0] + range * rule->k[0];
    } else {
        double change = x - fused_close(sh, i - 1);
        double gain = change > 0.0 ? change : 0.0, loss = change < 0.0 ? -change : 0.0;
        y[0] = y[0] * rule->keep[0] + gain * rule->k[0];
        y[1] = y[1] * rule->keep[1] + loss * rule->k[1];
    }
    if (rule->dims == FUSED_DIMS && r == rule->second)
        y[2] += sh->seed[lane + 2];
}

/* Runs a thread's bars from y on; outputs go to `ret` where it is not NULL. */
BLOCK_FN void fused_run(const struct gpu_view *v, const struct fused_at *at, const struct fused_job *job,
                        const struct fused_shared *sh, unsigned t, double y[FUSED_DIMS],
                        struct fused_values *ret)
{
    const struct fused_rule own = *fused_rule_at(v, job), *rule = &own; /* in registers */
    BLOCK_UNROLL
    for (unsigned j = 0; j < FUSED_ITEMS; j++) {
        unsigned place = t * FUSED_ITEMS + j;
        size_t i = at->base + place;
        double values[FUSED_OUTPUTS] = {NAN, NAN, NAN};
        if (i < v->n_bars && i >= job->start + rule->first) {
            uint64_t r = i - job->start;
            fused_bar(rule, sh, job->lane, (int)place, r, y);
            if (r >= rule->second) {
                values[0] = y[0];
                if (rule->kernel == INDICATOR_RSI)
                    values[0] = rsi_value(y[0], y[1]);
                if (rule->kernel == INDICATOR_MACD) {
                    values[0] = y[0] - y[1];
                    values[1] = y[2];
                    values[2] = values[0] - y[2];
                }
            }
        }
        BLOCK_UNROLL
        for (unsigned k = 0; k < FUSED_OUTPUTS && ret; k++)
            ret->at[k][j] = values[k];
    }
}

/* Means of windows: a thread's first one is summed, the others follow from the one before. */
BLOCK_FN void fused_windows(const struct gpu_view *v, const struct fused_at *at, const struct fused_job *job,
                            const struct fused_shared *sh, unsigned t, struct fused_values *ret)
{
    const struct fused_rule *rule = fused_rule_at(v, job);
    int period = (int)rule->period[0];
    bool summed = false;
    double sum = 0.0;
    BLOCK_UNROLL
    for (unsigned j = 0; j < FUSED_ITEMS; j++) {
        int place = (int)(t * FUSED_ITEMS + j);
        size_t i = at->base + (size_t)place;
        ret->at[0][j] = NAN;
        if (i >= v->n_bars || i < job->start + rule->first)
            continue;
        if (summed) {
            sum += fused_close(sh, place) - fused_close(sh, place - period);
        } else {
            for (int back = period - 1; back >= 0; back--)
                sum += fused_close(sh, place - back);
            summed = true;
        }
        ret->at[0][j] = sum * rule->k[0];
    }
}

BLOCK_FN void fused_load(const struct gpu_view *v, const struct fused_at *at, struct fused_shared *sh,
                         unsigned t)
{
    unsigned series = at->jobs[0].series;
    for (unsigned c = 0; c < FUSED_INPUTS; c++) {
        double loaded[FUSED_ITEMS];
        if (!(at->group->inputs & 1u << (c + 1)))
            continue;
        BLOCK_UNROLL
        for (unsigned j = 0; j < FUSED_ITEMS; j++) {
            size_t i = at->base + j * FUSED_THREADS + t;
            loaded[j] = i < v->n_bars ? view_input(v, c + 1, series, i) : 0.0;
        }
        BLOCK_UNROLL
        for (unsigned j = 0; j < FUSED_ITEMS; j++)
            sh->x[c][fused_place(j * FUSED_THREADS + t)] = loaded[j];
    }
    for (unsigned back = 1 + t; back <= at->group->halo && back <= at->base; back += FUSED_THREADS)
        sh->before[FUSED_HALO - back] = view_input(v, 3, series, at->base - back);
}

/* The thread in whose bars a seed falls finds it. */
BLOCK_FN void fused_find_seeds(const struct gpu_view *v, const struct fused_at *at, struct fused_shared *sh,
                               unsigned t)
{
    size_t mine = at->base + t * FUSED_ITEMS;
    for (unsigned n = 0; n < at->group->n; n++) {
        const struct fused_job *job = &at->jobs[n];
        const struct fused_rule *rule = fused_rule_at(v, job);
        size_t first = job->start + rule->first, second = job->start + rule->second;
        double y[FUSED_DIMS];
        if (rule->dims == 0)
            continue;
        if (first >= mine && first < mine + FUSED_ITEMS && first < v->n_bars) {
            fused_seed(v, rule, job, y);
            for (unsigned d = 0; d < 2; d++)
                if (d < rule->dims)
                    sh->seed[job->lane + d] = y[d];
        }
        if (rule->dims == FUSED_DIMS && second >= mine && second < mine + FUSED_ITEMS && second < v->n_bars)
            sh->seed[job->lane + 2] = fused_signal_rest(v, rule, job);
    }
}

#endif
