/* The parallel kernels: many blocks a series. Tiles are fixed and partial results are combined in one fixed
 * order, so that a run always gives the same bits; they differ from the reference's in the last places.
 *
 * A recurrence is affine in its last value: over a run of bars, y becomes a*y + b. So
 *   seed    sums the seed, in the reference's order (a thread a job)
 *   reduce  finds (a, b) of every tile (a block a tile)
 *   carry   scans the tiles' (a, b) into the value that enters each tile (a block a job)
 *   apply   scans within the tile and runs the recurrence itself from each thread's entering value
 * MACD's signal line is a second round over the first round's line. SMA over windows longer than
 * SMA_WINDOW_MAX takes differences of prefix sums, which are the same scan with a = 1; shorter ones are
 * summed by block_window, exactly. (a, b) and (a', b') compose to (a*a', a'*b + b'); nothing is ever divided
 * by a power of a, which may underflow to 0 without harm.
 *
 * Tolerance against the reference, with P the longest period and M the series' largest |price|:
 *   EMA, MACD, ATR   2^-48 * P * M (rounding errors decay with the average's memory)
 *   RSI              1e-9, on its scale of 0 to 100
 *   SMA              0 to SMA_WINDOW_MAX, then 2^-46 * M * n_bars / P
 * Bytes for n bars of one series: each input is read twice (the second time from L2 while it fits), each
 * output is written once; MACD moves 9 n doubles, a long SMA 6 n. */
#ifndef INDICATORS_GPU_CUDA_PARALLEL_H
#define INDICATORS_GPU_CUDA_PARALLEL_H

#include "indicators_gpu/cuda/view.h"
#include "indicators_gpu/step/recurrence.h"

enum {
    TILE_THREADS = 256,
    TILE_ITEMS = 8, /* bars that one thread runs through in a row */
    TILE_BARS = TILE_THREADS * TILE_ITEMS,
    SEED_THREADS = 32,
    SMA_WINDOW_MAX = 64, /* beyond it a window costs more than its prefix sums do */
};

struct tile_shared {
    double x[TILE_BARS + TILE_THREADS]; /* see tile_place() */
    struct affine map[2][SCAN_LANES][TILE_THREADS];
};

/* A thread's bars lie in a row, one cell of padding after each thread's, so that neighbours use other banks.
 */
BLOCK_FN unsigned tile_place(unsigned i)
{
    return i + i / TILE_ITEMS;
}

enum scan_kind {
    SCAN_NONE, /* the job has nothing to do in this round */
    SCAN_SUM,
    SCAN_EMA,
    SCAN_EMA_PAIR,
    SCAN_WILDER,
    SCAN_WILDER_GAINS,
    SCAN_SIGNAL,
};

struct scan_rule {
    enum scan_kind kind;
    unsigned lanes;
    double period[SCAN_LANES];
    size_t first; /* the bar at which the value is the seed */
};

BLOCK_FN struct scan_rule scan_rule_of(const struct gpu_job *job, unsigned round)
{
    struct scan_rule rule;
    double fast = job->options[0], slow = job->options[1];
    if (fast > slow) {
        fast = job->options[1];
        slow = job->options[0];
    }
    rule.kind = SCAN_NONE;
    rule.lanes = 1;
    rule.period[0] = rule.period[1] = job->options[0];
    rule.first = job->start;
    if (round == 1) {
        if (job->kernel == INDICATOR_MACD) {
            rule.kind = SCAN_SIGNAL;
            rule.period[0] = job->options[2];
            rule.first += (size_t)slow + (size_t)job->options[2] - 2;
        }
        return rule;
    }
    switch (job->kernel) {
    case INDICATOR_SMA:
        if (job->prefix != (uint32_t)GPU_NO_PREFIX)
            rule.kind = SCAN_SUM;
        break;
    case INDICATOR_EMA:
        rule.kind = SCAN_EMA;
        rule.first += (size_t)job->options[0] - 1;
        break;
    case INDICATOR_MACD:
        rule.kind = SCAN_EMA_PAIR;
        rule.lanes = 2;
        rule.period[0] = fast;
        rule.period[1] = slow;
        rule.first += (size_t)slow - 1;
        break;
    case INDICATOR_RSI:
        rule.kind = SCAN_WILDER_GAINS;
        rule.lanes = 2;
        rule.first += (size_t)job->options[0];
        break;
    case INDICATOR_ATR:
        rule.kind = SCAN_WILDER;
        rule.first += (size_t)job->options[0];
        break;
    }
    return rule;
}

/* What the recurrence takes in at bar i; 0 where a change from the bar before does not exist. */
BLOCK_FN double scan_input(const struct gpu_view *v, const struct gpu_job *job, enum scan_kind kind, size_t i)
{
    const double *close = gpu_input(v, job, GPU_CLOSE);
    switch (kind) {
    case SCAN_SIGNAL:
        return gpu_output(v, job, 0)[i];
    case SCAN_WILDER_GAINS:
        return i > job->start ? close[i] - close[i - 1] : 0.0;
    case SCAN_WILDER:
        return i > job->start
                   ? true_range(gpu_input(v, job, GPU_HIGH)[i], gpu_input(v, job, GPU_LOW)[i], close[i - 1])
                   : 0.0;
    default:
        return close[i];
    }
}

/* The part of an input that a lane takes: gains in lane 0, losses in lane 1. */
BLOCK_FN double scan_lane_input(enum scan_kind kind, unsigned lane, double x)
{
    if (kind != SCAN_WILDER_GAINS)
        return x;
    if (lane == 1)
        x = -x;
    return x > 0.0 ? x : 0.0;
}

/* One bar of one lane: the recurrence itself, as in the reference. */
BLOCK_FN double scan_next(const struct scan_rule *rule, unsigned lane, double y, double x)
{
    switch (rule->kind) {
    case SCAN_SUM:
        return y + x;
    case SCAN_WILDER:
    case SCAN_WILDER_GAINS:
        return wilder_next(y, scan_lane_input(rule->kind, lane, x), rule->period[lane]);
    default:
        return ema_next(y, x, ema_factor(rule->period[lane]));
    }
}

/* What a bar leaves of the value before. */
BLOCK_FN double scan_decay(const struct scan_rule *rule, unsigned lane)
{
    switch (rule->kind) {
    case SCAN_SUM:
        return 1.0;
    case SCAN_WILDER:
    case SCAN_WILDER_GAINS:
        return (rule->period[lane] - 1.0) / rule->period[lane];
    default:
        return 1.0 - ema_factor(rule->period[lane]);
    }
}

BLOCK_FN struct affine affine_identity(void)
{
    struct affine m;
    m.a = 1.0;
    m.b = 0.0;
    return m;
}

BLOCK_FN struct affine affine_then(struct affine first, struct affine then)
{
    struct affine m;
    m.a = first.a * then.a;
    m.b = then.a * first.b + then.b;
    return m;
}

/* Scans map[0] over the threads; returns which of the two halves holds the result, inclusive. Hillis and
 * Steele's scheme: every combination is fixed by the thread numbers. */
BLOCK_FN unsigned tile_scan(struct tile_shared *sh, unsigned lanes)
{
    unsigned from = 0;
    for (unsigned step = 1; step < TILE_THREADS; step *= 2) {
        BLOCK_PHASE(t, TILE_THREADS)
        {
            for (unsigned lane = 0; lane < lanes; lane++) {
                struct affine m = sh->map[from][lane][t];
                if (t >= step)
                    m = affine_then(sh->map[from][lane][t - step], m);
                sh->map[from ^ 1][lane][t] = m;
            }
        }
        from ^= 1;
    }
    return from;
}

/* Loads a tile's inputs and leaves each thread's map, scanned over the tile. Returns as tile_scan() does. */
BLOCK_FN unsigned tile_maps(const struct gpu_view *v, const struct gpu_job *job, unsigned job_index,
                            const struct scan_rule *rule, size_t base, struct tile_shared *sh)
{
    BLOCK_PHASE(t, TILE_THREADS)
    {
        for (unsigned j = t; j < TILE_BARS && base + j < v->n_bars; j += TILE_THREADS)
            sh->x[tile_place(j)] = scan_input(v, job, rule->kind, base + j);
    }
    BLOCK_PHASE(t, TILE_THREADS)
    {
        for (unsigned lane = 0; lane < rule->lanes; lane++) {
            struct affine m = affine_identity();
            double decay = scan_decay(rule, lane);
            for (unsigned j = t * TILE_ITEMS; j < (t + 1) * TILE_ITEMS && base + j < v->n_bars; j++) {
                if (base + j < rule->first)
                    continue;
                if (base + j == rule->first) {
                    m.a = 0.0;
                    m.b = v->seeds[job_index * SCAN_LANES + lane];
                } else {
                    m.a *= decay;
                    m.b = scan_next(rule, lane, m.b, sh->x[tile_place(j)]);
                }
            }
            sh->map[0][lane][t] = m;
        }
    }
    return tile_scan(sh, rule->lanes);
}

BLOCK_FN struct affine *tile_carry(const struct gpu_view *v, unsigned job_index, unsigned lane, unsigned tile)
{
    return &v->carry[((size_t)job_index * SCAN_LANES + lane) * v->n_tiles + tile];
}

BLOCK_FN double mean_from(const double *x, double period)
{
    double sum = 0.0;
    for (size_t i = 0; i < (size_t)period; i++)
        sum += x[i];
    return sum / period;
}

BLOCK_FN void block_seed(const struct gpu_view *v, unsigned block, unsigned round)
{
    BLOCK_PHASE(t, SEED_THREADS)
    {
        unsigned index = block * SEED_THREADS + t;
        if (index >= v->n_jobs)
            continue;
        const struct gpu_job *job = &v->jobs[index];
        struct scan_rule rule = scan_rule_of(job, round);
        if (rule.kind == SCAN_NONE || rule.first >= v->n_bars)
            continue;

        double seed[SCAN_LANES] = {0.0, 0.0};
        if (rule.kind == SCAN_SUM) {
            seed[0] = gpu_input(v, job, GPU_CLOSE)[rule.first];
        } else if (rule.kind == SCAN_WILDER || rule.kind == SCAN_WILDER_GAINS) {
            for (size_t i = job->start + 1; i <= rule.first; i++) {
                double x = scan_input(v, job, rule.kind, i);
                for (unsigned lane = 0; lane < rule.lanes; lane++)
                    seed[lane] += scan_lane_input(rule.kind, lane, x);
            }
            for (unsigned lane = 0; lane < rule.lanes; lane++)
                seed[lane] /= rule.period[lane];
        } else {
            const double *x = rule.kind == SCAN_SIGNAL ? gpu_output(v, job, 0) : gpu_input(v, job, GPU_CLOSE);
            for (unsigned lane = 0; lane < rule.lanes; lane++)
                seed[lane] = mean_from(x + (rule.first + 1 - (size_t)rule.period[lane]), rule.period[lane]);
        }
        for (unsigned lane = 0; lane < rule.lanes; lane++)
            v->seeds[index * SCAN_LANES + lane] = seed[lane];
    }
}

BLOCK_FN void block_reduce(const struct gpu_view *v, unsigned block, struct tile_shared *sh, unsigned round)
{
    unsigned job_index = block / v->n_tiles, tile = block % v->n_tiles;
    const struct gpu_job *job = &v->jobs[job_index];
    struct scan_rule rule = scan_rule_of(job, round);
    if (rule.kind == SCAN_NONE)
        return;

    unsigned at = tile_maps(v, job, job_index, &rule, (size_t)tile * TILE_BARS, sh);
    BLOCK_PHASE(t, TILE_THREADS)
    {
        if (t < rule.lanes)
            *tile_carry(v, job_index, t, tile) = sh->map[at][t][TILE_THREADS - 1];
    }
}

/* Replaces each tile's map by that of everything before it: its b is the value that enters the tile. */
BLOCK_FN void block_carry(const struct gpu_view *v, unsigned block, struct tile_shared *sh, unsigned round)
{
    struct scan_rule rule = scan_rule_of(&v->jobs[block], round);
    unsigned each = (v->n_tiles + TILE_THREADS - 1) / TILE_THREADS;
    if (rule.kind == SCAN_NONE)
        return;

    BLOCK_PHASE(t, TILE_THREADS)
    {
        for (unsigned lane = 0; lane < rule.lanes; lane++) {
            struct affine m = affine_identity();
            for (unsigned tile = t * each; tile < (t + 1) * each && tile < v->n_tiles; tile++)
                m = affine_then(m, *tile_carry(v, block, lane, tile));
            sh->map[0][lane][t] = m;
        }
    }
    unsigned at = tile_scan(sh, rule.lanes);
    BLOCK_PHASE(t, TILE_THREADS)
    {
        for (unsigned lane = 0; lane < rule.lanes; lane++) {
            struct affine before = t > 0 ? sh->map[at][lane][t - 1] : affine_identity();
            for (unsigned tile = t * each; tile < (t + 1) * each && tile < v->n_tiles; tile++) {
                struct affine own = *tile_carry(v, block, lane, tile);
                *tile_carry(v, block, lane, tile) = before;
                before = affine_then(before, own);
            }
        }
    }
}

BLOCK_FN double scan_output(enum scan_kind kind, const double y[SCAN_LANES])
{
    switch (kind) {
    case SCAN_WILDER_GAINS:
        return rsi_value(y[0], y[1]);
    case SCAN_EMA_PAIR:
        return y[0] - y[1];
    default:
        return y[0];
    }
}

BLOCK_FN void block_apply(const struct gpu_view *v, unsigned block, struct tile_shared *sh, unsigned round)
{
    unsigned job_index = block / v->n_tiles, tile = block % v->n_tiles;
    const struct gpu_job *job = &v->jobs[job_index];
    struct scan_rule rule = scan_rule_of(job, round);
    size_t base = (size_t)tile * TILE_BARS;
    if (rule.kind == SCAN_NONE)
        return;

    unsigned at = tile_maps(v, job, job_index, &rule, base, sh);
    BLOCK_PHASE(t, TILE_THREADS)
    {
        double y[SCAN_LANES];
        for (unsigned lane = 0; lane < rule.lanes; lane++) {
            y[lane] = tile_carry(v, job_index, lane, tile)->b;
            if (t > 0)
                y[lane] = sh->map[at][lane][t - 1].a * y[lane] + sh->map[at][lane][t - 1].b;
        }
        for (unsigned j = t * TILE_ITEMS; j < (t + 1) * TILE_ITEMS && base + j < v->n_bars; j++) {
            double x = sh->x[tile_place(j)];
            for (unsigned lane = 0; lane < rule.lanes; lane++) {
                if (base + j == rule.first)
                    y[lane] = v->seeds[job_index * SCAN_LANES + lane];
                else if (base + j > rule.first)
                    y[lane] = scan_next(&rule, lane, y[lane], x);
            }
            sh->x[tile_place(j)] = base + j < rule.first ? NAN : scan_output(rule.kind, y);
        }
    }
    BLOCK_PHASE(t, TILE_THREADS)
    {
        double *out = rule.kind == SCAN_SUM ? v->prefix + job->prefix * v->stride : gpu_output(v, job, 0);
        for (unsigned j = t; j < TILE_BARS && base + j < v->n_bars; j += TILE_THREADS) {
            double y = sh->x[tile_place(j)];
            if (rule.kind != SCAN_SIGNAL) {
                out[base + j] = y;
                continue;
            }
            double macd = base + j < rule.first ? NAN : out[base + j];
            out[base + j] = macd;
            gpu_output(v, job, 1)[base + j] = y;
            gpu_output(v, job, 2)[base + j] = macd - y;
        }
    }
}

/* SMA from prefix sums; blocks as in block_window. */
BLOCK_FN void block_difference(const struct gpu_view *v, unsigned block)
{
    unsigned per_job = (unsigned)((v->n_bars + TILE_THREADS - 1) / TILE_THREADS);
    const struct gpu_job *job = &v->jobs[block / per_job];
    if (job->prefix == (uint32_t)GPU_NO_PREFIX)
        return;

    const double *prefix = v->prefix + job->prefix * v->stride;
    size_t period = (size_t)job->options[0], base = (size_t)(block % per_job) * TILE_THREADS;
    BLOCK_PHASE(t, TILE_THREADS)
    {
        size_t i = base + t;
        if (i >= v->n_bars)
            continue;
        double mean = NAN;
        if (i >= job->start + (period - 1)) {
            double before = i - (period - 1) > job->start ? prefix[i - period] : 0.0;
            mean = (prefix[i] - before) / job->options[0];
        }
        gpu_output(v, job, 0)[i] = mean;
    }
}

#endif
