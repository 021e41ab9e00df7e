/* The fused kernel: all jobs of a series over one tile of its bars, in one launch.
 *
 * A block takes a tile of a group, loads its columns into shared memory once, and
 *   1. runs each thread's FUSED_ITEMS bars from values of 0: the result is b (fused_rule.h, fused_run.h)
 *   2. joins the threads' b to those of a chunk, of the tile, and publishes the tile's
 *   3. joins the published b of the tiles before it, from where they are forgotten on: the entering values
 *   4. joins back down to the values that enter each thread, runs its bars again, and writes the outputs
 * A block publishes before it looks back and looks back only at tickets before its own, so it never waits for
 * one that has not started; all joins have one fixed order, so a run always gives the same bits. They differ
 * from the reference's in the last places. A window (SMA) is summed again for every FUSED_ITEMS bars.
 *
 * Tolerance against the reference (of the same rounded columns), with P the longest period and M the series'
 * largest |price|; a float32 output is then rounded once (2^-24 of itself):
 *   SMA              2^-48 * M
 *   EMA, MACD, ATR   2^-48 * P * M (rounding errors decay with the average's memory)
 *   RSI              1e-9, on its scale of 0 to 100
 *
 * Bytes a bar for the five (3 columns in, 7 out): 80 in float64, 40 in float32, each moved once; the
 * published b of ten tiles back add 560 in 80,000, seeds and halos less. Instructions a bar: some 370, a
 * quarter of them float64's (every recurrence twice), with 33 words to and from shared memory. An H100 issues
 * 2.9e13 a second, which is 0.33 ms for 256 x 100,000 bars whose 2 GB take 0.7 ms: memory is the limit in
 * float64, and in float32 both are (docs/gpu-results.md). */
#ifndef INDICATORS_GPU_CUDA_FUSED_H
#define INDICATORS_GPU_CUDA_FUSED_H

#include "indicators_gpu/cuda/fused_run.h"

/* Joins the runs of one chunk. With `down`, starting from the value that enters it, and replaces each run by
 * the value that enters its thread; else from 0, which gives the chunk's own b. */
BLOCK_APART void fused_join_chunk(const struct gpu_view *v, const struct fused_at *at,
                                  struct fused_shared *sh, unsigned n, unsigned chunk, bool down)
{
    const struct fused_job *job = &at->jobs[n];
    const struct fused_rule *rule = fused_rule_at(v, job);
    double y[FUSED_DIMS] = {0.0, 0.0, 0.0};
    for (unsigned d = 0; d < FUSED_DIMS; d++)
        if (down && d < rule->dims)
            y[d] = sh->chunk[job->lane + d][chunk];
    BLOCK_ROLLED
    for (unsigned t = chunk * FUSED_CHUNK; t < (chunk + 1) * FUSED_CHUNK; t++) {
        double b[FUSED_DIMS] = {0.0, 0.0, 0.0};
        for (unsigned d = 0; d < FUSED_DIMS; d++) {
            if (d >= rule->dims)
                continue;
            b[d] = sh->b[job->lane + d][fused_run_place(t)];
            if (down)
                sh->b[job->lane + d][fused_run_place(t)] = y[d];
        }
        fused_join(&rule->items, rule->dims, y, b);
    }
    for (unsigned d = 0; d < FUSED_DIMS; d++)
        if (!down && d < rule->dims)
            sh->chunk[job->lane + d][chunk] = y[d];
}

/* Joins the chunks of a tile likewise: with `down` from what enters the tile; else the result is the tile's,
 * which is published. */
BLOCK_APART void fused_join_tile(const struct gpu_view *v, const struct fused_at *at, struct fused_shared *sh,
                                 unsigned n, bool down)
{
    const struct fused_job *job = &at->jobs[n];
    const struct fused_rule *rule = fused_rule_at(v, job);
    double y[FUSED_DIMS] = {0.0, 0.0, 0.0};
    for (unsigned d = 0; d < FUSED_DIMS; d++)
        if (down && d < rule->dims)
            y[d] = sh->entry[job->lane + d];
    BLOCK_ROLLED
    for (unsigned chunk = 0; chunk < FUSED_CHUNKS; chunk++) {
        double b[FUSED_DIMS] = {0.0, 0.0, 0.0};
        for (unsigned d = 0; d < FUSED_DIMS; d++) {
            if (d >= rule->dims)
                continue;
            b[d] = sh->chunk[job->lane + d][chunk];
            if (down)
                sh->chunk[job->lane + d][chunk] = y[d];
        }
        fused_join(&rule->chunk, rule->dims, y, b);
    }
    for (unsigned d = 0; d < FUSED_DIMS; d++)
        if (!down)
            fused_carry(v, at, n, at->tile)[d] = y[d];
    if (!down)
        block_written();
}

/* Joins the tiles before this one, FUSED_LOOK at a time, the oldest first. */
BLOCK_FN void fused_look_back(const struct gpu_view *v, const struct fused_at *at, struct fused_shared *sh)
{
    unsigned group = (unsigned)(at->group - v->groups);
    unsigned tiles = at->group->tiles_back < at->tile ? at->group->tiles_back : at->tile;
    BLOCK_PHASE(t, FUSED_THREADS)
    {
        if (t < FUSED_LANES)
            sh->entry[t] = 0.0;
        for (unsigned back = 1 + t; back <= tiles; back += FUSED_THREADS)
            block_await(&v->flags[(size_t)group * v->n_tiles + at->tile - back]);
    }
    for (unsigned left = tiles; left > 0; left -= left % FUSED_LOOK ? left % FUSED_LOOK : FUSED_LOOK) {
        unsigned now = left % FUSED_LOOK ? left % FUSED_LOOK : FUSED_LOOK; /* from `left` tiles back on */
        BLOCK_PHASE(t, FUSED_THREADS)
        {
            for (unsigned i = t; i < now * at->group->n; i += FUSED_THREADS) {
                unsigned n = i % at->group->n, tile = i / at->group->n;
                const double *b = fused_carry(v, at, n, at->tile - left + tile);
                for (unsigned d = 0; d < fused_rule_at(v, &at->jobs[n])->dims; d++)
                    sh->look[tile][at->jobs[n].lane + d] = block_fresh(&b[d]);
            }
        }
        BLOCK_PHASE(t, FUSED_THREADS)
        {
            if (t >= at->group->n)
                continue;
            const struct fused_rule *rule = fused_rule_at(v, &at->jobs[t]);
            double *entry = &sh->entry[at->jobs[t].lane], y[FUSED_DIMS] = {0.0, 0.0, 0.0};
            for (unsigned d = 0; d < FUSED_DIMS; d++)
                if (d < rule->dims)
                    y[d] = entry[d];
            for (unsigned tile = 0; tile < now; tile++)
                if (left - tile <= rule->tiles_back)
                    fused_join(&rule->tile, rule->dims, y, &sh->look[tile][at->jobs[t].lane]);
            for (unsigned d = 0; d < FUSED_DIMS; d++)
                if (d < rule->dims)
                    entry[d] = y[d];
        }
    }
}

/* Writes output k of job n, through shared memory so that neighbours write neighbours. */
BLOCK_FN void fused_write(const struct gpu_view *v, const struct fused_at *at, bool f32, unsigned n,
                          unsigned k, struct fused_shared *sh, const struct fused_values values[])
{
    BLOCK_PHASE(t, FUSED_THREADS)
    {
        double *to = &sh->stage[fused_place(t * FUSED_ITEMS)];
        if (BLOCK_MINE(values, t).edge) {
            fused_edge(v, at, &at->jobs[n], sh, t, true, k);
            continue;
        }
        BLOCK_UNROLL
        for (unsigned j = 0; j < FUSED_ITEMS; j++)
            to[j] = BLOCK_MINE(values, t).at[k][j];
    }
    BLOCK_PHASE(t, FUSED_THREADS)
    {
        const double *from = &sh->stage[fused_place(t)];
        void *to = (char *)v->out + fused_offset(v, at, f32, sh->task[n].out + k);
        if (at->n == FUSED_BARS) {
            BLOCK_UNROLL
            for (unsigned j = 0; j < FUSED_ITEMS; j++)
                view_put(to, f32, j * FUSED_THREADS + t, from[j * FUSED_ACROSS]);
            continue;
        }
        BLOCK_ROLLED
        for (unsigned j = 0; j * FUSED_THREADS + t < at->n; j++)
            view_put(to, f32, j * FUSED_THREADS + t, from[j * FUSED_ACROSS]);
    }
}

/* f32: the view's. */
BLOCK_FN void block_fused(const struct gpu_view *v, bool f32, struct fused_shared *sh)
{
    BLOCK_OWN(struct fused_values, values, FUSED_THREADS);

    BLOCK_PHASE(t, FUSED_THREADS)
    {
        if (t == 0)
            sh->ticket = block_ticket(v->ticket);
    }
    struct fused_at at;
    at.group = &v->groups[sh->ticket % v->n_groups];
    at.jobs = &v->fused[at.group->first];
    at.tile = sh->ticket / v->n_groups;
    at.base = (size_t)at.tile * FUSED_BARS;
    at.n = v->n_bars - at.base < FUSED_BARS ? (unsigned)(v->n_bars - at.base) : FUSED_BARS;

    BLOCK_PHASE(t, FUSED_THREADS)
    {
        if (t < at.group->n)
            fused_prepare(v, &at, t, sh);
        fused_load(v, &at, f32, sh, t);
    }
    BLOCK_PHASE(t, FUSED_THREADS)
    {
        BLOCK_ROLLED
        for (unsigned n = 0; n < at.group->n; n++)
            if (fused_whole(&at, &sh->task[n], t))
                fused_run_row(&sh->task[n], sh, t, NULL);
            else
                fused_edge(v, &at, &at.jobs[n], sh, t, false, 0);
    }
    BLOCK_PHASE(t, FUSED_THREADS)
    {
        if (t < at.group->n * FUSED_CHUNKS)
            fused_join_chunk(v, &at, sh, t / FUSED_CHUNKS, t % FUSED_CHUNKS, false);
    }
    BLOCK_PHASE(t, FUSED_THREADS)
    {
        if (t < at.group->n)
            fused_join_tile(v, &at, sh, t, false);
    }
    BLOCK_PHASE(t, FUSED_THREADS)
    {
        if (t == 0)
            block_raise(&v->flags[(size_t)(at.group - v->groups) * v->n_tiles + at.tile]);
    }
    fused_look_back(v, &at, sh);
    BLOCK_PHASE(t, FUSED_THREADS)
    {
        if (t < at.group->n)
            fused_join_tile(v, &at, sh, t, true);
    }
    BLOCK_PHASE(t, FUSED_THREADS)
    {
        if (t < at.group->n * FUSED_CHUNKS)
            fused_join_chunk(v, &at, sh, t / FUSED_CHUNKS, t % FUSED_CHUNKS, true);
    }
    BLOCK_ROLLED
    for (unsigned n = 0; n < at.group->n; n++) {
        BLOCK_PHASE(t, FUSED_THREADS)
        {
            BLOCK_MINE(values, t).edge = !fused_whole(&at, &sh->task[n], t);
            if (!BLOCK_MINE(values, t).edge)
                fused_run_row(&sh->task[n], sh, t, &BLOCK_MINE(values, t));
        }
        fused_write(v, &at, f32, n, 0, sh, values);
        if (sh->task[n].kernel == INDICATOR_MACD) {
            fused_write(v, &at, f32, n, 1, sh, values);
            fused_write(v, &at, f32, n, 2, sh, values);
        }
    }
}

#endif
