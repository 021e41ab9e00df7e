/* Windows over columns in natural order: the result of a window of 2k bars combines two of k bars. A
 * ladder keeps a series' windows of 1, 2, 4... bars, as far as its longest period needs them; a window of any
 * period then combines some of its steps. So a bar costs log2(period) operations, whatever the period and
 * wherever blocks end, and a value depends on its window alone.
 *
 * Each step keeps as many of its newest values as it spans, in the kernel's state: nothing is computed twice
 * where blocks meet. Before bar 0 every value is 0, and a window that reaches back there is undefined.
 *
 * The combinations: extremes.h, sums.h, moments.h. Weighted sums are carried from bar to bar instead:
 * running.h. Parts of a block are whole vectors long, except the series' last; loops may run on to two whole
 * vectors. */
#ifndef INDICATORS_GPU_FAST_WINDOW_H
#define INDICATORS_GPU_FAST_WINDOW_H

#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/simd.h"

/* Bars that a kernel works on at a time, so that the steps of a ladder stay in the first-level cache. */
enum { WINDOW_BARS = 256 };

/* Steps of a ladder for the longest period: 2^16 <= INDICATOR_PERIOD_MAX < 2^17. */
enum { LADDER_STEPS = 17 };

enum { PAST_UNIT = 64 };      /* bytes moved at once */
enum { PAST_PAST_END = 256 }; /* bytes past the last value that may be read and written: some vectors */

/* A series whose newest `keep` bytes stay when more are added. It lies in a kernel's state. */
struct past {
    size_t at; /* bytes from the state's begin */
    size_t keep, room, end;
};

/* Room for the last `keep` values of `size` bytes and the next ones, at byte `used` of a state. Returns the
 * first free byte after it; 64-byte aligned if `used` is. */
static inline size_t past_layout(struct past *p, size_t used, size_t keep, size_t size)
{
    size_t more = WINDOW_BARS * size;
    p->at = used;
    p->keep = p->end = (keep * size + PAST_UNIT - 1) / PAST_UNIT * PAST_UNIT;
    p->room = p->keep + (p->keep > more ? p->keep : more);
    return used + p->room + PAST_PAST_END;
}

/* Where to write the next `bytes`, at most WINDOW_BARS values; the earlier values precede them. */
static inline void *past_next(void *state, struct past *p, size_t bytes)
{
    typedef char unit __attribute__((vector_size(PAST_UNIT), may_alias, aligned(1)));
    char *base = (char *)state + p->at;

    if (p->end + bytes > p->room) {
        const char *from = base + p->end - p->keep;
        for (size_t i = 0; i < p->keep; i += PAST_UNIT) /* downwards, where the two may overlap */
            *(unit *)(base + i) = *(const unit *)(from + i);
        p->end = p->keep;
    }
    char *next = base + p->end;
    p->end += bytes;
    return next;
}

/* The first free byte behind a row's own struct. */
static inline size_t window_begin(size_t size)
{
    return (size + PAST_UNIT - 1) / PAST_UNIT * PAST_UNIT;
}

/* The kernel of a row by its memory's NAME_layout(k, options), which sets up a struct NAME and returns the
 * state's bytes, and ROW_run(). */
#define WINDOW_KERNEL(row, name) WINDOW_KERNEL_BACK(row, name, NULL)

/* With the row's history(). */
#define WINDOW_KERNEL_BACK(row, name, history) WINDOW_KERNEL_AS(row, name, history, false)

/* The same for a kernel that writes straight to the caller's columns. */
#define WINDOW_KERNEL_DIRECT(row, name, history) WINDOW_KERNEL_AS(row, name, history, true)

#define WINDOW_KERNEL_AS(row, name, history, direct) \
    static size_t row##_bytes(const double options[]) \
    { \
        struct name k; \
        return name##_layout(&k, options); \
    } \
    static void row##_start(void *state, const double options[]) \
    { \
        name##_layout(state, options); \
    } \
    const struct fast_kernel FAST(row) = {row##_bytes, history, row##_start, row##_run, direct}

/* Part of a block: n <= WINDOW_BARS bars from its bar `at` on. */
struct part {
    size_t at, n;
};

/* The next part, `*part` being {0} at first; false at the block's end. */
static inline bool part_next(const struct fast_block *block, struct part *part)
{
    part->at += part->n;
    size_t left = block->count - part->at;
    part->n = left < WINDOW_BARS ? left : WINDOW_BARS;
    return left > 0;
}

static inline const real *part_in(const struct fast_block *block, const struct part *part, size_t column)
{
    return (const real *)block->in[column] + part->at;
}

static inline real *part_out(const struct fast_block *block, const struct part *part, size_t output)
{
    return (real *)block->out[output] + part->at;
}

/* The values in double. */
static inline void part_widen(const real *x, size_t n, double *restrict wide)
{
    for (size_t i = 0; i < n; i++)
        wide[i] = (double)x[i];
}

/* A column in double, for kernels whose history() is how far they look back. */
struct widened {
    struct past past; /* unused in float64 */
};

static inline size_t widened_layout(struct widened *w, size_t used, size_t history)
{
    return FAST_F32 ? past_layout(&w->past, used, history, sizeof(double)) : used;
}

static inline const double *widened_part(void *state, struct widened *w, const struct fast_block *block,
                                         const struct part *part, size_t column)
{
#if FAST_F32
    double *wide = past_next(state, &w->past, part->n * sizeof(double));
    part_widen(part_in(block, part, column), part->n, wide);
    return wide;
#else
    (void)state;
    (void)w;
    return part_in(block, part, column);
#endif
}

static inline size_t window_log2(size_t period)
{
    return 63 - (size_t)__builtin_clzll((unsigned long long)period);
}

struct ladder {
    size_t top; /* the last step is of 2^top bars */
    struct past step[LADDER_STEPS];
};

/* For windows of up to `period` bars. */
static inline size_t ladder_layout(struct ladder *l, size_t used, size_t period, size_t size)
{
    l->top = window_log2(period);
    for (size_t s = 0; s <= l->top; s++)
        used = past_layout(&l->step[s], used, (size_t)1 << s, size);
    return used;
}

/* A ladder's steps for one part: at[s][i] is of the 2^s bars that end at bar i. */
struct rungs {
    size_t top;
    double *at[LADDER_STEPS];
};

static inline void rungs_next(void *state, struct ladder *l, size_t n, struct rungs *r)
{
    r->top = l->top;
    for (size_t s = 0; s <= l->top; s++)
        r->at[s] = past_next(state, &l->step[s], n * sizeof(double));
}

/* The values in the request's precision. */
static inline void part_narrow(const double *x, size_t n, real *restrict narrow)
{
    for (size_t i = 0; i < n; i++)
        narrow[i] = (real)x[i];
}

/* Where to put an output in double: in float64 its own place, else `wide`. part_deliver() afterwards. */
static inline double *part_wide(const struct fast_block *block, const struct part *part, size_t output,
                                double *wide)
{
    return FAST_F32 ? wide : (double *)(void *)part_out(block, part, output);
}

static inline void part_deliver(const struct fast_block *block, const struct part *part, size_t output,
                                const double *values)
{
    real *out = part_out(block, part, output);
    if ((const void *)values != (const void *)out)
        part_narrow(values, part->n, out);
}

#endif
