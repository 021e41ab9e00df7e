/* The fused kernel: all jobs of a series over one tile of its bars, in one launch.
 *
 * A block takes a tile of a group, loads its columns into shared memory once, and
 *   1. runs each thread's FUSED_ITEMS bars from values of 0: the result is b (fused_rule.h)
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
 * published b of ten tiles back add 560 in 80,000, seeds and halos less. Operations a bar: about 70 in
 * float64 (every recurrence twice, one division), 33 words to and from shared memory. On an H100 (14 Tflop/s
 * counted as operations, 28 TB/s of shared memory) that is 0.13 and 0.24 ms for 256 x 100,000 bars whose 2 GB
 * take 0.7 ms: memory rules in float64, and the three come close to each other in float32. */
#ifndef INDICATORS_GPU_CUDA_FUSED_H
#define INDICATORS_GPU_CUDA_FUSED_H

#include "indicators_gpu/cuda/fused_tile.h"

/* Joins the runs of one chunk. With `down`, starting from the value that enters it, and replaces each run by
 * the value that enters its thread; else from 0, which gives the chunk's own b. */
BLOCK_FN void fused_join_chunk(const struct gpu_view *v, const struct fused_at *at, struct fused_shared *sh,
                               unsigned n, unsigned chunk, bool down)
{
    const struct fused_job *job = &at->jobs[n];
    const struct fused_rule *rule = fused_rule_at(v, job);
    double y[FUSED_DIMS] = {0.0, 0.0, 0.0};
    for (unsigned d = 0; d < FUSED_DIMS; d++)
        if (down && d < rule->dims)
            y[d] = sh->chunk[job->lane + d][chunk];
    for (unsigned t = chunk * FUSED_CHUNK; t < (chunk + 1) * FUSED_CHUNK; t++) {
        double b[FUSED_DIMS] = {0.0, 0.0, 0.0};
        for (unsigned d = 0; d < FUSED_DIMS; d++) {
            if (d >= rule->dims)
                continue;
            b[d] = sh->b[job->lane + d][t];
            if (down)
                sh->b[job->lane + d][t] = y[d];
        }
        fused_join(&rule->items, rule->dims, y, b);
    }
    for (unsigned d = 0; d < FUSED_DIMS; d++)
        if (!down && d < rule->dims)
            sh->chunk[job->lane + d][chunk] = y[d];
}

/* Joins the chunks of a tile likewise; without `down` the result is the tile's, in y. */
BLOCK_FN void fused_join_tile(const struct gpu_view *v, const struct fused_at *at, struct fused_shared *sh,
                              unsigned n, bool down, double y[FUSED_DIMS])
{
    const struct fused_job *job = &at->jobs[n];
    const struct fused_rule *rule = fused_rule_at(v, job);
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

/* Writes a job's output k, through shared memory so that neighbours write neighbours. */
BLOCK_FN void fused_write(const struct gpu_view *v, const struct fused_at *at, const struct fused_job *job,
                          unsigned k, struct fused_shared *sh, const struct fused_values values[])
{
    BLOCK_PHASE(t, FUSED_THREADS)
    {
        BLOCK_UNROLL
        for (unsigned j = 0; j < FUSED_ITEMS; j++)
            sh->stage[fused_place(t * FUSED_ITEMS + j)] = BLOCK_MINE(values, t).at[k][j];
    }
    BLOCK_PHASE(t, FUSED_THREADS)
    {
        BLOCK_UNROLL
        for (unsigned j = 0; j < FUSED_ITEMS; j++) {
            unsigned place = j * FUSED_THREADS + t;
            if (at->base + place < v->n_bars)
                view_store(v, job->out + k, at->base + place, sh->stage[fused_place(place)]);
        }
    }
}

BLOCK_FN void block_fused(const struct gpu_view *v, struct fused_shared *sh)
{
    BLOCK_OWN(struct fused_entries, entries, FUSED_THREADS);
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

    BLOCK_PHASE(t, FUSED_THREADS)
    {
        fused_load(v, &at, sh, t);
        fused_find_seeds(v, &at, sh, t);
    }
    BLOCK_PHASE(t, FUSED_THREADS)
    {
        for (unsigned n = 0; n < at.group->n; n++) {
            double y[FUSED_DIMS] = {0.0, 0.0, 0.0};
            unsigned dims = fused_rule_at(v, &at.jobs[n])->dims;
            if (dims > 0)
                fused_run(v, &at, &at.jobs[n], sh, t, y, NULL);
            for (unsigned d = 0; d < FUSED_DIMS; d++)
                if (d < dims)
                    sh->b[at.jobs[n].lane + d][t] = y[d];
        }
    }
    BLOCK_PHASE(t, FUSED_THREADS)
    {
        if (t < at.group->n * FUSED_CHUNKS)
            fused_join_chunk(v, &at, sh, t / FUSED_CHUNKS, t % FUSED_CHUNKS, false);
    }
    BLOCK_PHASE(t, FUSED_THREADS)
    {
        if (t < at.group->n) {
            double y[FUSED_DIMS] = {0.0, 0.0, 0.0};
            fused_join_tile(v, &at, sh, t, false, y);
            for (unsigned d = 0; d < FUSED_DIMS; d++)
                fused_carry(v, &at, t, at.tile)[d] = y[d];
            block_written();
        }
    }
    BLOCK_PHASE(t, FUSED_THREADS)
    {
        if (t == 0)
            block_raise(&v->flags[(size_t)(at.group - v->groups) * v->n_tiles + at.tile]);
    }
    fused_look_back(v, &at, sh);
    BLOCK_PHASE(t, FUSED_THREADS)
    {
        if (t < at.group->n) {
            double y[FUSED_DIMS] = {0.0, 0.0, 0.0};
            for (unsigned d = 0; d < FUSED_DIMS; d++)
                if (d < fused_rule_at(v, &at.jobs[t])->dims)
                    y[d] = sh->entry[at.jobs[t].lane + d];
            fused_join_tile(v, &at, sh, t, true, y);
        }
    }
    BLOCK_PHASE(t, FUSED_THREADS)
    {
        if (t < at.group->n * FUSED_CHUNKS)
            fused_join_chunk(v, &at, sh, t / FUSED_CHUNKS, t % FUSED_CHUNKS, true);
    }
    BLOCK_PHASE(t, FUSED_THREADS)
    {
        BLOCK_UNROLL
        for (unsigned lane = 0; lane < FUSED_LANES; lane++)
            BLOCK_MINE(entries, t).y[lane] = sh->b[lane][t];
    }
    for (unsigned n = 0; n < at.group->n; n++) {
        const struct fused_job *job = &at.jobs[n];
        unsigned dims = fused_rule_at(v, job)->dims;
        BLOCK_PHASE(t, FUSED_THREADS)
        {
            double y[FUSED_DIMS] = {0.0, 0.0, 0.0};
            /* Each lane by its number: they stay in registers. */
            BLOCK_UNROLL
            for (unsigned lane = 0; lane < FUSED_LANES; lane++)
                for (unsigned d = 0; d < FUSED_DIMS; d++)
                    if (d < dims && lane == job->lane + d)
                        y[d] = BLOCK_MINE(entries, t).y[lane];
            if (dims > 0)
                fused_run(v, &at, job, sh, t, y, &BLOCK_MINE(values, t));
            else
                fused_windows(v, &at, job, sh, t, &BLOCK_MINE(values, t));
        }
        fused_write(v, &at, job, 0, sh, values);
        if (dims == FUSED_DIMS) {
            fused_write(v, &at, job, 1, sh, values);
            fused_write(v, &at, job, 2, sh, values);
        }
    }
}

#endif
