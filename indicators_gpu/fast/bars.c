#include "indicators_gpu/fast/bars.h"

#include <string.h>

/* Columns are padded by so many bytes, so that equal bars fall into different cache sets. */
enum { STAGGER = 1088, ALIGNMENT = 64 };

/* Blocks that are widened before the history has to move back to the beginning. */
enum { WIDE_BLOCKS = 4 };

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

size_t fast_cell(enum indicator_precision precision, size_t column)
{
    return precision == INDICATOR_F32 && column != FAST_TIME ? sizeof(float) : sizeof(double);
}

static size_t cell_of(const struct fast_bars *bars, size_t column)
{
    return fast_cell(bars->columns->precision, column);
}

/* Which bars must be copied: those of blocks that look back before bar 0, and of blocks that extend past the
 * end. */
static void find_edges(struct fast_bars *bars)
{
    size_t n = bars->columns->n, last = (n - 1) / FAST_BLOCK * FAST_BLOCK;
    size_t head_end = round_up(bars->history, FAST_BLOCK);
    if (last >= FAST_BLOCK && last + FAST_STEP > n)
        last -= FAST_BLOCK;
    ptrdiff_t history = (ptrdiff_t)bars->history, past = (ptrdiff_t)(fast_cells(n) + FAST_STEP);

    bars->head = (struct fast_edge){.from = -history, .to = (ptrdiff_t)(head_end + FAST_STEP)};
    bars->tail = (struct fast_edge){.from = (ptrdiff_t)last - history, .to = past};
    if (head_end > last) {
        bars->head.to = past;
        bars->tail = (struct fast_edge){0};
    }
}

/* Places memory; with `memory` NULL it only counts. */
static size_t lay_out(struct fast_bars *bars, char *memory)
{
    size_t used = 0;
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        if (!bars->columns->at[c])
            continue;
        const size_t bytes[] = {(size_t)(bars->head.to - bars->head.from) * cell_of(bars, c),
                                (size_t)(bars->tail.to - bars->tail.from) * cell_of(bars, c),
                                bars->wide ? bars->room * sizeof(double) : 0};
        char **const at[] = {&bars->head.at[c], &bars->tail.at[c], (char **)&bars->widened[c]};
        for (size_t i = 0; i < 3; i++) {
            *at[i] = memory ? memory + used : NULL;
            used += bytes[i] ? round_up(bytes[i] + STAGGER, ALIGNMENT) : 0;
        }
    }
    return used;
}

size_t fast_bars_plan(struct fast_bars *bars, const struct fast_columns *columns, size_t history, bool wide,
                      size_t wide_history)
{
    size_t more = WIDE_BLOCKS * (size_t)FAST_BLOCK;
    *bars = (struct fast_bars){
        .columns = columns, .history = history, .wide = wide, .wide_history = wide_history};
    bars->room = wide_history + (wide_history > more ? wide_history : more) + FAST_CELLS + FAST_STEP;
    find_edges(bars);
    return lay_out(bars, NULL);
}

/* Repeats the first bar before the beginning, and the last one after the end. */
static void fill(const struct fast_bars *bars, struct fast_edge *edge)
{
    ptrdiff_t n = (ptrdiff_t)bars->columns->n;
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        const char *column = bars->columns->at[c];
        size_t cell = cell_of(bars, c);
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

void fast_bars_open(struct fast_bars *bars, char *memory)
{
    lay_out(bars, memory);
    fill(bars, &bars->head);
    fill(bars, &bars->tail);
}

void fast_bars_block(const struct fast_bars *bars, struct fast_block *block)
{
    ptrdiff_t begin = (ptrdiff_t)block->begin, from = begin - (ptrdiff_t)bars->history;
    ptrdiff_t to = begin + (ptrdiff_t)(fast_cells(block->count) + FAST_STEP);
    const struct fast_edge *edge = NULL;
    if (from < 0)
        edge = &bars->head;
    else if (to > (ptrdiff_t)bars->columns->n)
        edge = bars->tail.to > 0 ? &bars->tail : &bars->head;

    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        const char *column = bars->columns->at[c];
        if (!column)
            block->in[c] = NULL;
        else if (edge)
            block->in[c] = edge->at[c] + (size_t)(begin - edge->from) * cell_of(bars, c);
        else
            block->in[c] = column + block->begin * cell_of(bars, c);
    }
}

void fast_bars_widen(struct fast_bars *bars, const struct fast_moves *moves, const struct fast_block *block,
                     struct fast_block *wide)
{
    size_t history = bars->wide_history, ahead = fast_cells(block->count) + FAST_STEP;
    bool first = block->begin == 0, full = bars->end + ahead > bars->room;

    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        const float *from = block->in[c];
        double *to = bars->widened[c];
        if (!from || c == FAST_TIME) {
            wide->in[c] = from;
            continue;
        }
        if (full)
            memmove(to, to + (bars->end - history), history * sizeof(double));
        if (first)
            moves->widen(to, from - history, history);
        to += first || full ? history : bars->end;
        moves->widen(to, from, ahead);
        wide->in[c] = to;
    }
    if (first || full)
        bars->end = history;
    bars->end += block->count;
}
