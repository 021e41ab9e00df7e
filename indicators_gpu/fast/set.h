/* The kernels of one instruction set and precision, by row. */
#ifndef INDICATORS_GPU_FAST_SET_H
#define INDICATORS_GPU_FAST_SET_H

#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/indicator_rows.h"

/* Lines of the next block to be prefetched meanwhile. */
struct fast_ahead {
    const char *at[INDICATOR_COLUMNS], *end[INDICATOR_COLUMNS];
    size_t column, n;
};

static inline void fast_ahead_line(struct fast_ahead *ahead)
{
    if (ahead->n == 0)
        return;
    const char **at = &ahead->at[ahead->column];
    __builtin_prefetch(*at);
    *at += 64;
    if (*at >= ahead->end[ahead->column]) {
        ahead->n--;
        ahead->column++;
    }
}

/* The executor's own vector functions. */
struct fast_moves {
    /* Whether all of x[0..n) is finite. */
    bool (*finite)(const void *x, size_t n);

    /* Copies n values to `to`, aligned to its type; whole 64-byte lines are stored past the cache if
     * `stream`. With each line that it writes it prefetches one of `ahead`. */
    void (*deliver)(void *to, const void *from, size_t n, bool stream, struct fast_ahead *ahead);

    /* n values from float32 to float64 and back; narrow() may work in place. */
    void (*widen)(double *to, const float *from, size_t n);
    void (*narrow)(float *to, const double *from, size_t n);
};

struct fast_set {
    struct fast_moves moves;
    const struct fast_kernel *kernels[INDICATOR_IDS]; /* of float32, NULL where the float64 kernel is used */
};

/* NULL where this library was built without it: avx2 and avx512 on another processor than x86-64. */
const struct fast_set *indicators_fast_set(enum indicator_isa isa, enum indicator_precision precision);

#endif
