/* The columns as kernels read them: a block can be read beyond both ends of the series, and float32 columns
 * widened. */
#ifndef INDICATORS_GPU_FAST_BARS_H
#define INDICATORS_GPU_FAST_BARS_H

#include "indicators_gpu/fast/set.h"

/* Columns of n > 0 bars that are complete from bar 0 on; unread ones NULL. */
struct fast_columns {
    enum indicator_precision precision;
    const void *at[INDICATOR_COLUMNS];
    size_t n;
};

/* Bytes of a value of that column. */
size_t fast_cell(enum indicator_precision precision, size_t column);

/* A copy of bars [from, to) of every column, where the caller's own columns end too early for a kernel. */
struct fast_edge {
    ptrdiff_t from, to;
    char *at[INDICATOR_COLUMNS];
};

struct fast_bars {
    const struct fast_columns *columns;
    size_t history; /* bars that a kernel reads before a block */
    struct fast_edge head, tail;

    /* The newest bars in float64, from `end` - wide_history on; none if `wide` is false. */
    bool wide;
    size_t wide_history, room, end;
    double *widened[INDICATOR_COLUMNS];
};

/* Returns how much memory the bars need, aligned to 64 bytes. */
size_t fast_bars_plan(struct fast_bars *bars, const struct fast_columns *columns, size_t history, bool wide,
                      size_t wide_history);

/* With that memory; `columns` stay in use. */
void fast_bars_open(struct fast_bars *bars, char *memory);

/* Sets in[] of the block with `begin` and `count`, of its successors one after the other, to the columns as
 * they are. */
void fast_bars_block(const struct fast_bars *bars, struct fast_block *block);

/* The same for the widened columns, once a block, from the block as it is. */
void fast_bars_widen(struct fast_bars *bars, const struct fast_moves *moves, const struct fast_block *block,
                     struct fast_block *wide);

#endif
