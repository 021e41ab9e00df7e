#include "indicators_gpu/fast/pass.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Below this many bytes in and out together the outputs stay in the cache for their reader (the second-level
 * cache's size on current processors). */
enum { STREAM_BYTES = 1 << 20 };

/* Bytes that scratch columns are apart beyond their length, so that their lines fall into different sets. */
enum { STAGGER = 1088, ALIGNMENT = 64 };

/* A copy of bars [from, to) of every column, where the caller's own end too early for a kernel. */
struct edge {
    ptrdiff_t from, to;
    char *at[INDICATOR_COLUMNS];
};

struct pass {
    const struct fast_set *set;
    const struct fast_columns *columns;
    const struct fast_task *tasks;
    size_t n_tasks, cell, history;
    bool stream;
    void **states; /* of the tasks; NULL for those that are too short */
    char *scratch; /* INDICATOR_OUTPUTS_MAX columns */
    size_t scratch_stride;
    struct edge head, tail;
    char *memory;
};

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static size_t cell_of(const struct pass *p, size_t column)
{
    return column == FAST_TIME ? sizeof(double) : p->cell;
}

static const struct fast_kernel *kernel_of(const struct pass *p, size_t task)
{
    return p->set->kernels[p->tasks[task].spec->row->id];
}

/* Bars with outputs. */
static size_t outputs_of(const struct pass *p, size_t task)
{
    size_t lookback = indicator_lookback(p->tasks[task].spec), n = p->columns->n;
    return n > lookback ? n - lookback : 0;
}

/* What is before the first bar is the first bar, what is after the last is the last. */
static void edge_fill(const struct pass *p, struct edge *edge)
{
    ptrdiff_t n = (ptrdiff_t)p->columns->n;
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        const char *column = p->columns->at[c];
        size_t cell = cell_of(p, c);
        if (!column || edge->to <= edge->from)
            continue;
        char *to = edge->at[c];
        ptrdiff_t i = edge->from;
        for (; i < 0; i++, to += cell)
            memcpy(to, column, cell);
        if (i < n && i < edge->to) {
            ptrdiff_t whole = (edge->to < n ? edge->to : n) - i;
            memcpy(to, column + (size_t)i * cell, (size_t)whole * cell);
            i += whole;
            to += (size_t)whole * cell;
        }
        for (; i < edge->to; i++, to += cell)
            memcpy(to, column + (size_t)(n - 1) * cell, cell);
    }
}

/* A place of `bytes` in memory that is laid out twice: first to learn its size, with p->memory NULL. */
static void *place(const struct pass *p, size_t *used, size_t bytes)
{
    size_t at = *used;
    *used += round_up(bytes, ALIGNMENT);
    return p->memory ? p->memory + at : NULL;
}

static size_t lay_out(struct pass *p)
{
    size_t used = 0;
    p->scratch = place(p, &used, p->scratch_stride * INDICATOR_OUTPUTS_MAX);
    for (struct edge *edge = &p->head;; edge = &p->tail) {
        for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
            if (p->columns->at[c])
                edge->at[c] = place(p, &used, (size_t)(edge->to - edge->from) * cell_of(p, c) + STAGGER);
        if (edge == &p->tail)
            break;
    }
    for (size_t t = 0; t < p->n_tasks; t++) {
        const struct fast_kernel *kernel = kernel_of(p, t);
        void *state = kernel && outputs_of(p, t) > 0
                          ? place(p, &used, kernel->bytes(p->tasks[t].spec->options) + STAGGER)
                          : NULL;
        if (p->memory)
            p->states[t] = state;
    }
    return used;
}

/* Which bars have to be copied: those of blocks that look back before bar 0, and of blocks that run on past
 * the end. */
static void find_edges(struct pass *p)
{
    size_t n = p->columns->n, last = (n - 1) / FAST_BLOCK * FAST_BLOCK;
    size_t head_end = round_up(p->history, FAST_BLOCK);
    if (last >= FAST_BLOCK && last + FAST_STEP > n)
        last -= FAST_BLOCK;
    ptrdiff_t history = (ptrdiff_t)p->history, past = (ptrdiff_t)(round_up(n, FAST_STEP) + FAST_STEP);

    p->head = (struct edge){.from = -history, .to = (ptrdiff_t)(head_end + FAST_STEP)};
    p->tail = (struct edge){.from = (ptrdiff_t)last - history, .to = past};
    if (head_end > last) {
        p->head.to = past;
        p->tail = (struct edge){0};
    }
}

static int open_pass(struct pass *p)
{
    p->history = 1;
    for (size_t t = 0; t < p->n_tasks; t++) {
        const struct fast_kernel *kernel = kernel_of(p, t);
        size_t history = kernel && kernel->history && outputs_of(p, t) > 0
                             ? kernel->history(p->tasks[t].spec->options)
                             : 0;
        p->history = history > p->history ? history : p->history;
    }
    p->scratch_stride = round_up(FAST_CELLS * sizeof(double) + STAGGER, ALIGNMENT);
    find_edges(p);

    size_t bytes = lay_out(p);
    p->states = calloc(p->n_tasks, sizeof(*p->states));
    p->memory = aligned_alloc(ALIGNMENT, bytes);
    if (!p->states || !p->memory)
        return -ENOMEM;
    memset(p->memory, 0, bytes);
    lay_out(p);
    for (size_t t = 0; t < p->n_tasks; t++)
        if (p->states[t])
            kernel_of(p, t)->start(p->states[t], p->tasks[t].spec->options);
    edge_fill(p, &p->head);
    edge_fill(p, &p->tail);
    return 0;
}

static void close_pass(struct pass *p)
{
    free(p->states);
    free(p->memory);
}

static double value_at(const struct pass *p, size_t column, size_t i)
{
    if (cell_of(p, column) == sizeof(double))
        return ((const double *)p->columns->at[column])[i];
    return (double)((const float *)p->columns->at[column])[i];
}

static bool block_finite(const struct pass *p, size_t begin, size_t count, size_t *ret_bad)
{
    const struct fast_set *of_time = fast_set(INDICATOR_ISA_BASELINE, INDICATOR_F64);
    bool sound = true;
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        const char *column = p->columns->at[c];
        const struct fast_set *set = c == FAST_TIME ? of_time : p->set;
        if (column && !set->moves.finite(column + begin * cell_of(p, c), count))
            sound = false;
    }
    for (size_t i = begin; !sound && i < begin + count; i++)
        for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
            if (p->columns->at[c] && !isfinite(value_at(p, c, i))) {
                *ret_bad = i;
                return false;
            }
    return true;
}

/* Points the block's columns at the caller's, or at an edge's copy. */
static void block_columns(const struct pass *p, struct fast_block *block)
{
    ptrdiff_t begin = (ptrdiff_t)block->begin, from = begin - (ptrdiff_t)p->history;
    ptrdiff_t to = begin + (ptrdiff_t)fast_cells(block->count) + FAST_STEP;
    const struct edge *edge = NULL;
    if (from < 0)
        edge = &p->head;
    else if (to > (ptrdiff_t)p->columns->n)
        edge = p->tail.to > 0 ? &p->tail : &p->head;

    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        const char *column = p->columns->at[c];
        if (!column)
            block->in[c] = NULL;
        else if (edge)
            block->in[c] = edge->at[c] + (size_t)(begin - edge->from) * cell_of(p, c);
        else
            block->in[c] = column + block->begin * cell_of(p, c);
    }
}

static struct fast_ahead lines_ahead(const struct pass *p, size_t begin)
{
    struct fast_ahead ahead = {.column = 0, .n = 0};
    size_t end = begin + FAST_BLOCK < p->columns->n ? begin + FAST_BLOCK : p->columns->n;
    for (size_t c = 0; c < INDICATOR_COLUMNS && begin < end; c++) {
        const char *column = p->columns->at[c];
        if (!column)
            continue;
        ahead.at[ahead.n] = column + begin * cell_of(p, c);
        ahead.end[ahead.n++] = column + end * cell_of(p, c);
    }
    return ahead;
}

static void fill_nan(const struct pass *p, void *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p->cell == sizeof(double))
            ((double *)out)[i] = (double)NAN;
        else
            ((float *)out)[i] = NAN;
}

static void run_block(const struct pass *p, struct fast_block *block)
{
    struct fast_ahead ahead = lines_ahead(p, block->begin + block->count);
    for (size_t t = 0; t < p->n_tasks; t++) {
        const struct fast_task *task = &p->tasks[t];
        if (!p->states[t])
            continue;
        size_t lookback = indicator_lookback(task->spec);
        size_t skip = lookback > block->begin ? lookback - block->begin : 0;
        kernel_of(p, t)->run(p->states[t], block);
        for (size_t k = 0; k < task->spec->row->n_outputs; k++) {
            if (skip > 0)
                fill_nan(p, block->out[k], skip < block->count ? skip : block->count);
            p->set->moves.deliver((char *)task->out[k] + block->begin * p->cell, block->out[k], block->count,
                                  p->stream, &ahead);
        }
    }
}

/* The rows without a kernel, and those whose series is too short. */
static int run_others(const struct pass *p)
{
    size_t n = p->columns->n;
    struct indicator_columns in;
    double *widened = NULL, *results = NULL;
    const double *columns[INDICATOR_COLUMNS] = {NULL};
    int r = 0;

    for (size_t t = 0; t < p->n_tasks; t++) {
        const struct fast_task *task = &p->tasks[t];
        size_t n_outputs = task->spec->row->n_outputs;
        if (outputs_of(p, t) == 0) {
            for (size_t k = 0; k < n_outputs; k++)
                fill_nan(p, task->out[k], n);
            continue;
        }
        if (p->states[t])
            continue;
        if (!results) {
            results = malloc(INDICATOR_OUTPUTS_MAX * n * sizeof(double));
            widened = malloc(INDICATOR_COLUMNS * n * sizeof(double));
            r = -ENOMEM;
            if (!results || !widened)
                break;
            for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
                if (!p->columns->at[c])
                    continue;
                columns[c] = widened + c * n;
                for (size_t i = 0; i < n; i++)
                    widened[c * n + i] = value_at(p, c, i);
            }
            in = (struct indicator_columns){columns[FAST_OPEN],  columns[FAST_HIGH],   columns[FAST_LOW],
                                            columns[FAST_CLOSE], columns[FAST_VOLUME], columns[FAST_TIME]};
        }
        double *out[INDICATOR_OUTPUTS_MAX];
        for (size_t k = 0; k < n_outputs; k++)
            out[k] = results + k * n;
        r = indicator_reference(task->spec, &in, n, out);
        if (r < 0)
            break;
        for (size_t k = 0; k < n_outputs; k++)
            for (size_t i = 0; i < n; i++)
                if (p->cell == sizeof(double))
                    ((double *)task->out[k])[i] = out[k][i];
                else
                    ((float *)task->out[k])[i] = (float)out[k][i];
    }
    free(results);
    free(widened);
    return r;
}

int fast_pass(const struct fast_set *set, enum indicator_precision precision,
              const struct fast_columns *columns, const struct fast_task *tasks, size_t n_tasks,
              size_t *ret_bad)
{
    struct pass p = {.set = set,
                     .columns = columns,
                     .tasks = tasks,
                     .n_tasks = n_tasks,
                     .cell = precision == INDICATOR_F32 ? sizeof(float) : sizeof(double)};
    size_t n = columns->n, moved = 0;
    for (size_t t = 0; t < n_tasks; t++)
        moved += indicator_bytes(tasks[t].spec, precision);
    p.stream = moved * n > STREAM_BYTES;

    int r = open_pass(&p);
    struct fast_block block = {0};
    for (size_t k = 0; r == 0 && k < INDICATOR_OUTPUTS_MAX; k++)
        block.out[k] = p.scratch + k * p.scratch_stride;
    for (size_t begin = 0; r == 0 && begin < n; begin += FAST_BLOCK) {
        block.begin = begin;
        block.count = n - begin < FAST_BLOCK ? n - begin : FAST_BLOCK;
        if (!block_finite(&p, begin, block.count, ret_bad)) {
            r = -EINVAL;
            break;
        }
        block_columns(&p, &block);
        run_block(&p, &block);
    }
    if (r == 0)
        r = run_others(&p);
    close_pass(&p);
    return r;
}
