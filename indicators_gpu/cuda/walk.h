/* The exact kernels: any row, by its step, with the reference's bits.
 *
 * A walk is one thread that gives a run of bars to a job's step. A job whose history is long is cut into
 * segments, a walk each, that begin earlier than their outputs do:
 *   - A row that depends on a window only begins `lookback` bars earlier and has the same bits.
 *   - A row that forgets begins two warm-ups earlier. By then rounding has brought both histories to the same
 *     last digit, nearly always, and block_verify checks that: it compares the memory with which each
 *     segment's outputs begin with that at the end of the segment before, byte by byte, and walks a segment
 *     again from the true memory where they differ. The bits never depend on luck, only the time does. (Of
 *     all rows on walks, jumps, flat, tiny and alternating series only ADOSC is ever walked again, and always
 *     wholly: its averages forget, the sum that they are of does not.)
 *   - A row that never forgets is one walk.
 * Rings have the same position only when walks begin a multiple of their length apart: segments of rows with
 * cells are multiples of all periods, and of their successors (windows of changes).
 *
 * block_walk: a block takes WALK_THREADS walks, neighbours in the order of the jobs, which the plan sorts by
 * row so that a warp does the same work. Neighbouring threads load neighbouring bars into shared memory, each
 * thread steps its own walk through WALK_BARS of them, and the results leave the way the bars came. */
#ifndef INDICATORS_GPU_CUDA_WALK_H
#define INDICATORS_GPU_CUDA_WALK_H

#include "indicators_gpu/cuda/view.h"
#include "indicators_gpu/step/dispatch.h"

enum { WALK_THREADS = 32, WALK_BARS = 16 };

struct walk_job {
    struct gpu_job job;
    uint64_t segment, run_in;     /* bars; see walk_of() */
    uint32_t first_walk, n_walks; /* of its launch */
    uint64_t memory;              /* where its memories begin in the launch's scratch */
    uint64_t bytes; /* of one: a walk has one, and a second one at its entry when it must be verified */
    uint32_t verify;
};

/* Gives bars [from, end) to a step, and writes outputs from `begin` on. What every bar needs of the job is
 * here, beside the bars. */
struct gpu_walk {
    const struct walk_job *of; /* NULL: none, of no bars */
    size_t from, begin, end, start;
    unsigned char *memory, *entry; /* entry: the memory as it was before `begin`, or NULL */
    uint32_t kernel, inputs, outputs, series, out;
};

/* Inputs of a tile, then its outputs in their place; a row a walk. One more cell keeps the rows off each
 * other's banks. */
struct walk_shared {
    double cell[INDICATOR_COLUMNS][WALK_THREADS][WALK_BARS + 1];
    struct gpu_walk walk[WALK_THREADS];
};

/* Of all walks of a block together. */
struct walk_extent {
    size_t bars;      /* of the longest */
    uint32_t inputs;  /* that any has */
    uint32_t outputs; /* at most */
};

BLOCK_FN unsigned char *walk_memory(const struct gpu_view *v, const struct walk_job *of, unsigned index)
{
    return v->memory + of->memory + index * of->bytes * (of->verify ? 2 : 1);
}

/* Walk `index` of a job: its segment, and run_in bars before that. The first one begins at bar 0, since it
 * also writes the NaNs before the first complete bar. */
BLOCK_FN struct gpu_walk walk_of(const struct gpu_view *v, const struct walk_job *of, unsigned index)
{
    struct gpu_walk w;
    size_t at = of->job.start + index * of->segment, end = at + of->run_in + of->segment;
    w.of = of;
    w.from = index == 0 ? 0 : at;
    w.begin = index == 0 ? 0 : at + of->run_in;
    w.end = index + 1 == of->n_walks || end > v->n_bars ? v->n_bars : end;
    w.memory = walk_memory(v, of, index);
    w.entry = of->verify && index > 0 ? w.memory + of->bytes : NULL;
    w.start = of->job.start;
    w.kernel = of->job.kernel;
    w.inputs = of->job.inputs;
    w.outputs = of->job.outputs;
    w.series = of->job.series;
    w.out = of->job.out;
    return w;
}

/* The launch's walk of that number. */
BLOCK_FN struct gpu_walk walk_find(const struct gpu_view *v, unsigned number)
{
    unsigned low = 0, high = v->n_walk_jobs; /* the job is in [low, high) */
    struct gpu_walk none = {NULL, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0, 0};
    if (number >= v->n_walks)
        return none;
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        if (v->walks[middle].first_walk <= number)
            low = middle;
        else
            high = middle;
    }
    return walk_of(v, &v->walks[low], number - v->walks[low].first_walk);
}

BLOCK_FN void walk_copy(unsigned char *to, const unsigned char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
        ((uint64_t *)to)[i] = ((const uint64_t *)from)[i];
}

BLOCK_FN bool walk_same(const unsigned char *a, const unsigned char *b, size_t bytes)
{
    bool same = true;
    for (size_t i = 0; i < bytes / sizeof(uint64_t) && same; i++)
        same = ((const uint64_t *)a)[i] == ((const uint64_t *)b)[i];
    return same;
}

/* One bar, values[] in the order of the columns; NaN in out[] where no output exists yet. */
BLOCK_FN void walk_step(const struct gpu_walk *w, const double values[INDICATOR_COLUMNS],
                        double out[INDICATOR_OUTPUTS_MAX])
{
    struct indicator_bar bar = {values[0], values[1], values[2], values[3], values[4], values[5]};
    if (!step_next(w->kernel, w->memory, &bar, out))
        for (unsigned k = 0; k < w->outputs; k++)
            out[k] = NAN;
}

/* A thread's part of a tile. */
BLOCK_FN void walk_tile(const struct gpu_walk *w, size_t base, unsigned row, struct walk_shared *sh)
{
    for (unsigned j = 0; j < WALK_BARS && w->from + base + j < w->end; j++) {
        double values[INDICATOR_COLUMNS] = {0.0}, out[INDICATOR_OUTPUTS_MAX] = {NAN, NAN, NAN, NAN};
        size_t i = w->from + base + j;
        BLOCK_UNROLL
        for (unsigned c = 0; c < INDICATOR_COLUMNS; c++)
            if (w->inputs & 1u << c)
                values[c] = sh->cell[c][row][j];
        if (i == w->begin && w->entry)
            walk_copy(w->entry, w->memory, w->of->bytes);
        if (i >= w->start)
            walk_step(w, values, out);
        BLOCK_UNROLL
        for (unsigned k = 0; k < INDICATOR_OUTPUTS_MAX; k++)
            if (k < w->outputs)
                sh->cell[k][row][j] = out[k];
    }
}

/* A thread has the same bar of every other row, WALK_ROWS in all: `n` is the n-th of them. */
enum { WALK_ROWS = WALK_BARS };

BLOCK_FN unsigned walk_row(unsigned t, unsigned n)
{
    return t / WALK_BARS + n * (WALK_THREADS / WALK_BARS);
}

/* All rows' loads of a column are on their way before the first is waited for. */
BLOCK_FN void walk_load(const struct gpu_view *v, uint32_t inputs, size_t base, unsigned t,
                        struct walk_shared *sh)
{
    const unsigned j = t % WALK_BARS;
    for (unsigned c = 0; c < INDICATOR_COLUMNS; c++) {
        double values[WALK_ROWS];
        if (!(inputs & 1u << c))
            continue;
        BLOCK_UNROLL
        for (unsigned n = 0; n < WALK_ROWS; n++) {
            const struct gpu_walk *w = &sh->walk[walk_row(t, n)];
            const size_t i = w->from + base + j;
            values[n] = 0.0;
            if (w->inputs & 1u << c && i < w->end)
                values[n] = view_input(v, c, w->series, i);
        }
        BLOCK_UNROLL
        for (unsigned n = 0; n < WALK_ROWS; n++)
            sh->cell[c][walk_row(t, n)][j] = values[n];
    }
}

BLOCK_FN void walk_save(const struct gpu_view *v, uint32_t outputs, size_t base, unsigned t,
                        const struct walk_shared *sh)
{
    const unsigned j = t % WALK_BARS;
    for (unsigned k = 0; k < outputs; k++) {
        BLOCK_UNROLL
        for (unsigned n = 0; n < WALK_ROWS; n++) {
            const unsigned row = walk_row(t, n);
            const struct gpu_walk *w = &sh->walk[row];
            const size_t i = w->from + base + j;
            if (k < w->outputs && i >= w->begin && i < w->end)
                view_store(v, w->out + k, i, sh->cell[k][row][j]);
        }
    }
}

BLOCK_FN void block_walk(const struct gpu_view *v, unsigned block, struct walk_shared *sh)
{
    struct walk_extent all = {0, 0, 0};
    BLOCK_PHASE(t, WALK_THREADS)
    {
        struct gpu_walk w = walk_find(v, block * WALK_THREADS + t);
        sh->walk[t] = w;
        if (!w.of)
            continue;
        for (size_t i = 0; i < w.of->bytes / sizeof(uint64_t); i++)
            ((uint64_t *)w.memory)[i] = 0;
        step_start(w.kernel, w.memory, w.of->job.options);
    }
    for (unsigned row = 0; row < WALK_THREADS; row++) {
        const struct gpu_walk *w = &sh->walk[row];
        all.bars = w->end - w->from > all.bars ? w->end - w->from : all.bars;
        all.inputs |= w->inputs;
        all.outputs = w->outputs > all.outputs ? w->outputs : all.outputs;
    }

    for (size_t base = 0; base < all.bars; base += WALK_BARS) {
        BLOCK_PHASE(t, WALK_THREADS)
        {
            walk_load(v, all.inputs, base, t, sh);
        }
        BLOCK_PHASE(t, WALK_THREADS)
        {
            walk_tile(&sh->walk[t], base, t, sh);
        }
        BLOCK_PHASE(t, WALK_THREADS)
        {
            walk_save(v, all.outputs, base, t, sh);
        }
    }
}

/* Walks a segment again, from the memory at the end of the one before. */
BLOCK_FN void walk_again(const struct gpu_view *v, const struct gpu_walk *w, const unsigned char *memory)
{
    walk_copy(w->memory, memory, w->of->bytes);
    for (size_t i = w->begin; i < w->end; i++) {
        double values[INDICATOR_COLUMNS] = {0.0}, out[INDICATOR_OUTPUTS_MAX];
        for (unsigned c = 0; c < INDICATOR_COLUMNS; c++)
            if (w->inputs & 1u << c)
                values[c] = view_input(v, c, w->series, i);
        walk_step(w, values, out);
        for (unsigned k = 0; k < w->outputs; k++)
            view_store(v, w->out + k, i, out[k]);
    }
}

/* After block_walk; a block a job. The mark of a job's first segment says that all others are as they must
 * be. */
BLOCK_FN void block_verify(const struct gpu_view *v, unsigned block)
{
    const struct walk_job *of = &v->walks[block];
    if (!of->verify)
        return;
    BLOCK_PHASE(t, WALK_THREADS)
    {
        if (t == 0)
            v->marks[of->first_walk] = true;
    }
    BLOCK_PHASE(t, WALK_THREADS)
    {
        for (unsigned s = 1 + t; s < of->n_walks; s += WALK_THREADS) {
            struct gpu_walk w = walk_of(v, of, s);
            bool same = walk_same(w.entry, walk_memory(v, of, s - 1), of->bytes);
            v->marks[of->first_walk + s] = same;
            if (!same)
                v->marks[of->first_walk] = false;
        }
    }
    BLOCK_PHASE(t, WALK_THREADS)
    {
        bool walked = false; /* the segment before was walked again: it may end differently now */
        if (t > 0 || v->marks[of->first_walk])
            continue;
        for (unsigned s = 1; s < of->n_walks; s++) {
            struct gpu_walk w = walk_of(v, of, s);
            const unsigned char *before = walk_memory(v, of, s - 1);
            bool same = walked ? walk_same(w.entry, before, of->bytes) : v->marks[of->first_walk + s] != 0;
            walked = !same;
            if (walked)
                walk_again(v, &w, before);
        }
    }
}

#endif
