/* What a row gives to the fast backend: a kernel that computes one block of bars after the other.
 *
 * The executor (compute.c) walks the bars in blocks that fit the first-level cache, and gives each block to
 * every spec's kernel before it goes on: a column is fetched from memory once, however many indicators read
 * it. A kernel writes into scratch; the executor moves finished blocks to the caller's columns with stores
 * that pass the cache by, or hands them to whoever asked (feature matrices).
 *
 * Kernels are natural-order SIMD: lane j of a vector is bar i + j. Two things break the loop-carried chains:
 *   recurrences  y = a*y' + b is scanned within a vector (log2 steps of shuffle and multiply-add), then one
 *                multiply-add carries the last value on;
 *   windows      sums, extrema and variances of 2k bars are two of k bars put together: log2(period) passes
 *                over a block, no running sum, so a value depends on its window alone.
 * One source a family, included once for each instruction set and precision (see simd.h). */
#ifndef INDICATORS_GPU_FAST_KERNEL_H
#define INDICATORS_GPU_FAST_KERNEL_H

#include "indicators_gpu/registry.h"

/* Bars of one call: i in [begin, end), counted from the first complete bar. Calls are consecutive and the
 * first one begins at 0. `real` is float or double by the request's precision. */
struct fast_block {
    size_t begin, end;
    size_t n; /* bars in all */

    /* Whole columns, [c][i] for every i < n, in the order of enum indicator_input's bits; NULL where no row
     * reads one. A kernel may look back (i - k >= 0) and prefetch forward, never decide by later bars. */
    const void *in[INDICATOR_COLUMNS];

    /* Scratch for bars [begin, end): out[k][i - begin], 64-byte aligned, with room for a whole vector past
     * the end. What is written below the row's lookback is ignored: the executor puts NaN there. */
    void *out[INDICATOR_OUTPUTS_MAX];
};

/* A row's kernel for one precision and instruction set. */
struct fast_kernel {
    /* Of the memory that goes from block to block: 64-byte aligned, zeroed, without pointers into itself
     * that a move would break. `block` is the largest end - begin. */
    size_t (*bytes)(const double options[], size_t block);
    void (*start)(void *state, const double options[], size_t block);
    void (*run)(void *state, const struct fast_block *block);
};

/* By enum indicator_id; rows without a kernel are NULL (the executor computes those by the reference). */
struct fast_set {
    enum indicator_isa isa;
    const struct fast_kernel *f64[INDICATOR_IDS], *f32[INDICATOR_IDS];
};

#endif
