#include "indicators_gpu/fast/pass.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Below this many bytes in and out together the outputs stay in the cache for their reader (the second-level
 * cache's size on current processors). */
enum { STREAM_BYTES = 1 << 20 };

/* As in bars.c. */
enum { STAGGER = 1088, ALIGNMENT = 64 };

/* A task under way. */
struct job {
    const struct fast_task *task;
    const struct fast_kernel *kernel;
    void *state;
    size_t lookback;
    bool wide; /* the kernel is the float64 one, the columns are float32 */
};

struct pass {
    const struct fast_columns *columns;
    const struct fast_moves *moves, *moves_wide; /* the latter for time, which is float64 */
    struct fast_bars bars;
    struct job *jobs;
    size_t n_jobs, cell;
    bool stream;
    struct fast_block block, wide;
    char *memory;
};

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static void fill_nan(size_t cell, void *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cell == sizeof(double))
            ((double *)out)[i] = (double)NAN;
        else
            ((float *)out)[i] = NAN;
}

/* A job for each task that has outputs; the others are done with NaN. */
static void plan_jobs(struct pass *p, enum indicator_isa isa, const struct fast_task *tasks, size_t n_tasks)
{
    const struct fast_set *own = indicators_fast_set(isa, p->columns->precision),
                          *wide = indicators_fast_set(isa, INDICATOR_F64);
    for (size_t t = 0; t < n_tasks; t++) {
        const struct indicator *row = tasks[t].spec->row;
        struct job *job = &p->jobs[p->n_jobs];
        *job = (struct job){.task = &tasks[t], .kernel = own->kernels[row->id]};
        job->lookback = indicator_lookback(tasks[t].spec);
        if (!job->kernel) {
            job->kernel = wide->kernels[row->id];
            job->wide = p->columns->precision == INDICATOR_F32;
        }
        if (p->columns->n > job->lookback)
            p->n_jobs++;
        else
            for (size_t k = 0; k < row->n_outputs; k++)
                fill_nan(p->cell, tasks[t].out[k], p->columns->n);
    }
}

static void most(size_t *n, size_t other)
{
    *n = other > *n ? other : *n;
}

static size_t plan_bars(struct pass *p)
{
    size_t history = 1, wide_history = 1;
    bool wide = false;
    for (size_t j = 0; j < p->n_jobs; j++) {
        const struct job *job = &p->jobs[j];
        size_t reads = job->kernel->history ? job->kernel->history(job->task->spec->options) : 1;
        most(&history, reads);
        if (job->wide)
            most(&wide_history, reads);
        wide = wide || job->wide;
    }
    return fast_bars_plan(&p->bars, p->columns, history, wide, wide_history);
}

/* Memory in one piece: states, which begin as zeros, then bars, then scratch columns. */
static int open_memory(struct pass *p)
{
    size_t bars_bytes = plan_bars(p), states_bytes = 0;
    size_t column_bytes = round_up((FAST_CELLS + FAST_STEP) * sizeof(double) + STAGGER, ALIGNMENT);
    for (size_t j = 0; j < p->n_jobs; j++)
        states_bytes +=
            round_up(p->jobs[j].kernel->bytes(p->jobs[j].task->spec->options) + STAGGER, ALIGNMENT);

    p->memory = aligned_alloc(ALIGNMENT, states_bytes + round_up(bars_bytes, ALIGNMENT) +
                                             (INDICATOR_OUTPUTS_MAX + FAST_WORKS) * column_bytes);
    if (!p->memory)
        return -ENOMEM;
    memset(p->memory, 0, states_bytes);
    char *at = p->memory;
    for (size_t j = 0; j < p->n_jobs; j++) {
        struct job *job = &p->jobs[j];
        const double *options = job->task->spec->options;
        job->state = at;
        job->kernel->start(at, options);
        at += round_up(job->kernel->bytes(options) + STAGGER, ALIGNMENT);
    }
    fast_bars_open(&p->bars, at);
    at += round_up(bars_bytes, ALIGNMENT);
    for (size_t k = 0; k < INDICATOR_OUTPUTS_MAX; k++, at += column_bytes)
        p->block.out[k] = at;
    for (size_t k = 0; k < FAST_WORKS; k++, at += column_bytes)
        p->block.work[k] = at;
    p->wide = p->block;
    return 0;
}

static double value_at(const struct fast_columns *columns, size_t column, size_t i)
{
    if (fast_cell(columns->precision, column) == sizeof(double))
        return ((const double *)columns->at[column])[i];
    return (double)((const float *)columns->at[column])[i];
}

static bool block_finite(const struct pass *p, size_t begin, size_t count, size_t *ret_bad)
{
    const struct fast_columns *columns = p->columns;
    bool sound = true;
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        const char *column = columns->at[c];
        const struct fast_moves *moves = c == FAST_TIME ? p->moves_wide : p->moves;
        if (column && !moves->finite(column + begin * fast_cell(columns->precision, c), count))
            sound = false;
    }
    for (size_t i = begin; !sound && i < begin + count; i++)
        for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
            if (columns->at[c] && !isfinite(value_at(columns, c, i))) {
                *ret_bad = i;
                return false;
            }
    return true;
}

/* The next lines to prefetch, for the block that begins at `begin`. */
static struct fast_ahead lines_ahead(const struct fast_columns *columns, size_t begin)
{
    struct fast_ahead ahead = {.column = 0, .n = 0};
    size_t end = begin + FAST_BLOCK < columns->n ? begin + FAST_BLOCK : columns->n;
    for (size_t c = 0; c < INDICATOR_COLUMNS && begin < end; c++) {
        const char *column = columns->at[c];
        size_t cell = fast_cell(columns->precision, c);
        if (!column)
            continue;
        ahead.at[ahead.n] = column + begin * cell;
        ahead.end[ahead.n++] = column + end * cell;
    }
    return ahead;
}

/* Whether the kernel may write straight to the caller's columns in this block: whole lines past the cache. */
static bool direct(const struct pass *p, const struct job *job)
{
    bool may = p->stream && job->kernel->direct && !job->wide && p->block.count == FAST_BLOCK &&
               p->block.begin > job->lookback;
    for (size_t k = 0; k < job->task->spec->row->n_outputs; k++)
        may = may && ((uintptr_t)job->task->out[k] + p->block.begin * p->cell) % ALIGNMENT == 0;
    return may;
}

static void run_direct(const struct pass *p, const struct job *job)
{
    struct fast_block block = p->block;
    size_t n_outputs = job->task->spec->row->n_outputs;
    for (size_t k = 0; k < n_outputs; k++)
        block.out[k] = (char *)job->task->out[k] + block.begin * p->cell;
    block.stream = true;
    job->kernel->run(job->state, &block);
}

static void run_block(struct pass *p)
{
    struct fast_block *block = &p->block, *wide = &p->wide;
    struct fast_ahead ahead = lines_ahead(p->columns, block->begin + block->count);
    fast_bars_block(&p->bars, block);
    if (p->bars.wide) {
        wide->begin = block->begin;
        wide->count = block->count;
        fast_bars_widen(&p->bars, p->moves, block, wide);
    }
    for (size_t j = 0; j < p->n_jobs; j++) {
        const struct job *job = &p->jobs[j];
        if (direct(p, job)) {
            run_direct(p, job);
            continue;
        }
        size_t skip = job->lookback > block->begin ? job->lookback - block->begin : 0;
        if (skip > block->count)
            skip = block->count;
        job->kernel->run(job->state, job->wide ? wide : block);
        for (size_t k = 0; k < job->task->spec->row->n_outputs; k++) {
            void *out = block->out[k];
            if (job->wide)
                p->moves->narrow(out, out, block->count);
            fill_nan(p->cell, out, skip);
            p->moves->deliver((char *)job->task->out[k] + block->begin * p->cell, out, block->count,
                              p->stream, &ahead);
        }
    }
}

int fast_pass(enum indicator_isa isa, const struct fast_columns *columns, const struct fast_task *tasks,
              size_t n_tasks, size_t *ret_bad)
{
    struct pass p = {.columns = columns,
                     .moves = &indicators_fast_set(isa, columns->precision)->moves,
                     .moves_wide = &indicators_fast_set(isa, INDICATOR_F64)->moves,
                     .cell = fast_cell(columns->precision, FAST_CLOSE)};
    size_t n = columns->n, moved = 0;
    for (size_t t = 0; t < n_tasks; t++)
        moved += indicator_bytes(tasks[t].spec, columns->precision);
    p.stream = moved * n > STREAM_BYTES;

    p.jobs = malloc((n_tasks + 1) * sizeof(*p.jobs));
    int r = p.jobs ? 0 : -ENOMEM;
    if (r == 0) {
        plan_jobs(&p, isa, tasks, n_tasks);
        r = open_memory(&p);
    }
    for (size_t begin = 0; r == 0 && begin < n; begin += FAST_BLOCK) {
        p.block.begin = begin;
        p.block.count = n - begin < FAST_BLOCK ? n - begin : FAST_BLOCK;
        if (!block_finite(&p, begin, p.block.count, ret_bad))
            r = -EINVAL;
        else
            run_block(&p);
    }
    free(p.jobs);
    free(p.memory);
    return r;
}
