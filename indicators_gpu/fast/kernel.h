/* A row's kernel for the cpu backend, which computes one block of bars after the other.
 *
 * The executor (compute.c) walks the bars in blocks that fit the first-level cache, and gives each block to
 * every spec's kernel before it continues: a column is fetched from memory once, however many indicators read
 * it. A kernel writes into scratch; the executor moves finished blocks to the caller's columns with stores
 * that pass the cache by, or hands them to its caller (feature matrices).
 *
 * Kernels are natural-order SIMD: lane j of a vector is bar i + j. Two things break the loop-carried chains:
 *   recurrences  y = a*y' + b is scanned within a vector (log2 steps of shuffle and multiply-add), then one
 *                multiply-add carries the last value on (fast/recurrence.h);
 *   windows      sums, extrema and variances of 2k bars combine two of k bars: log2(period) passes
 *                over a block, no running sum, so a value depends on its window alone (fast/window.h); means
 *                and weighted means carry sums on for some bars (fast/sliding.h, fast/running.h).
 * One source a family, compiled once for each instruction set and precision (see simd.h).
 *
 * No kernel has an edge to handle: every block but the last is FAST_BLOCK bars, every loop may run on to the
 * next multiple of FAST_STEP, and a look back may go before the first bar. Where the caller's columns end,
 * the executor lends a copy that repeats the last bar; before the first bar it repeats the first, so that a
 * change there is 0. */
#ifndef INDICATORS_GPU_FAST_KERNEL_H
#define INDICATORS_GPU_FAST_KERNEL_H

#include <stdint.h>

#include "indicators_gpu/registry.h"

/* Bars of a block, and how many bars a kernel's loop may advance at once: four of the widest vectors. Also
 * the cells that scratch and columns have past the block's end. */
enum { FAST_BLOCK = 1024, FAST_STEP = 64, FAST_CELLS = FAST_BLOCK + FAST_STEP };

enum { FAST_WORKS = 8 };

/* `count` rounded up to FAST_STEP: how far a kernel may compute. */
static inline size_t fast_cells(size_t count)
{
    return (count + FAST_STEP - 1) / FAST_STEP * FAST_STEP;
}

/* The columns' places. */
enum { FAST_OPEN, FAST_HIGH, FAST_LOW, FAST_CLOSE, FAST_VOLUME, FAST_TIME };

/* Bars begin, begin + 1, … begin + count - 1, counted from the first complete bar. Calls are consecutive and
 * the first one begins at 0. `real` is float or double by the request's precision. */
struct fast_block {
    size_t begin, count;

    /* At bar `begin`; NULL where no row reads one. Readable from the kernel's history() bars before it to
     * FAST_STEP past fast_cells(count). time is always double. */
    const void *in[INDICATOR_COLUMNS];

    /* Scratch, 64-byte aligned: out[k][i] is bar begin + i, writable to fast_cells(count). What is written
     * below the row's lookback or past the count is ignored. */
    void *out[INDICATOR_OUTPUTS_MAX];
    bool stream; /* they are the caller's own columns, in whole lines: see struct fast_kernel */

    /* The same kind of columns for intermediate values; undefined at a call's beginning. */
    void *work[FAST_WORKS];
};

/* A row's kernel for one precision and instruction set. A row that float32 is too coarse for has a float64
 * kernel only: the executor then gives it float32 columns widened, and narrows its outputs. */
struct fast_kernel {
    /* Bytes of the memory that is kept from block to block: 64-byte aligned, zeroed, never moved. */
    size_t (*bytes)(const double options[]);

    /* How many bars before a block the kernel reads from the columns. NULL: one. */
    size_t (*history)(const double options[]);

    void (*start)(void *state, const double options[]);
    void (*run)(void *state, const struct fast_block *block);

    /* Above its lookback run() writes each output once, by vec_put() with the block's `stream`, nothing past
     * the count of a whole block, and reads none back: so it may write straight to the caller's columns, and
     * memory is written to while the processor computes. */
    bool direct;
};

/* Prefetches the lines that `n` values from `at` on have one block later, so that a column is loaded while a
 * kernel computes; for kernels that read much and compute more than they wait. Does nothing after the
 * column's end. */
static inline void fast_fetch(const void *at, size_t cell, size_t n)
{
    enum { LINE = 64 };
    uintptr_t next = (uintptr_t)at + FAST_BLOCK * cell;
    for (size_t i = 0; i < n * cell; i += LINE)
        __builtin_prefetch((const void *)(next + i));
}

#endif
