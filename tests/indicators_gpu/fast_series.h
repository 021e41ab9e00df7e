/* Columns and outputs for indicator_compute() in either precision, each an allocation of its own that ends
 * where it ends, so that ASan sees a step past. */
#ifndef TESTS_INDICATORS_GPU_FAST_SERIES_H
#define TESTS_INDICATORS_GPU_FAST_SERIES_H

#include <math.h>

#include "tests/check.h"
#include "tests/indicators_gpu/series.h"

enum fast_kind {
    FAST_WALK,
    FAST_FLAT,
    FAST_RISING,
    FAST_JUMPS,
    FAST_HUGE,
    FAST_TINY,
    FAST_ALTERNATING,
    FAST_FALLING,
    FAST_HALTED,
    FAST_SINKING, /* a walk that falls 1 % a bar for 1200 bars */
    FAST_GROWING, /* by the same factor every bar */
    FAST_KINDS
};
static const char *const fast_kind_names[FAST_KINDS] = {"walk",   "flat",    "rising",      "jumps",
                                                        "huge",   "tiny",    "alternating", "falling",
                                                        "halted", "sinking", "growing"};

/* `cells` is what is computed on, at `shift` values past the beginning of `block`; `wide` is the same in
 * float64 for the reference. Time is float64 always. */
struct fast_series {
    size_t n;
    bool f32;
    void *block[INDICATOR_COLUMNS], *cells[INDICATOR_COLUMNS];
    double *wide[INDICATOR_COLUMNS];
    double top; /* largest |price| */
};

static inline void *fast_allocate(size_t bytes)
{
    void *block = malloc(bytes ? bytes : 1);
    if (!block)
        abort();
    return block;
}

/* Writes bar i of a column in both forms, rounded to the precision. */
static inline void fast_series_put(struct fast_series *s, size_t c, size_t i, double value)
{
    if (s->f32 && c != 5)
        s->wide[c][i] = (double)(((float *)s->cells[c])[i] = (float)value);
    else
        s->wide[c][i] = ((double *)s->cells[c])[i] = value;
}

static inline struct fast_series fast_series_make(size_t n, enum fast_kind kind, bool f32, size_t shift)
{
    static const enum series_kind made[FAST_KINDS] = {
        SERIES_WALK, SERIES_FLAT,    SERIES_RISING, SERIES_JUMPS, SERIES_WALK, SERIES_WALK,
        SERIES_FLAT, SERIES_FALLING, SERIES_HALTED, SERIES_WALK,  SERIES_FLAT};
    struct series bars = series_make(n, made[kind], 7 + (uint64_t)kind);
    double *columns[INDICATOR_COLUMNS] = {bars.open, bars.high, bars.low, bars.close, bars.volume, bars.time};
    double scale = kind == FAST_HUGE ? 1e12 : kind == FAST_TINY ? 1e-9 : 1.0;
    struct fast_series s = {.n = n, .f32 = f32};
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        size_t cell = f32 && c != 5 ? sizeof(float) : sizeof(double);
        s.block[c] = fast_allocate((n + shift) * cell);
        s.cells[c] = (char *)s.block[c] + shift * cell;
        s.wide[c] = fast_allocate(n * sizeof(double));
        for (size_t i = 0; i < n; i++) {
            double value = columns[c][i];
            if (c < 4 && kind == FAST_ALTERNATING)
                value *= i % 2 ? 1.01 : 0.99;
            if (c < 4 && kind == FAST_SINKING)
                value *= pow(0.99, i < 1200 ? (double)i : 1200.0);
            if (c < 4 && kind == FAST_GROWING)
                value *= pow(1.001, (double)i);
            fast_series_put(&s, c, i, c < 4 ? value * scale : value);
            if (c < 4 && fabs(s.wide[c][i]) > s.top)
                s.top = fabs(s.wide[c][i]);
        }
    }
    series_free(&bars);
    return s;
}

static inline void fast_series_free(struct fast_series *s)
{
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        free(s->block[c]);
        free(s->wide[c]);
    }
}

static inline struct indicator_columns fast_series_wide(const struct fast_series *s)
{
    return (struct indicator_columns){s->wide[0], s->wide[1], s->wide[2], s->wide[3], s->wide[4], s->wide[5]};
}

/* Outputs of n cells, poisoned, with guard cells on both sides. */
enum { FAST_GUARD = 8 };

struct fast_outputs {
    size_t n, n_outputs;
    bool f32;
    void **block, **at;
};

static inline size_t fast_cell(const struct fast_outputs *o)
{
    return o->f32 ? sizeof(float) : sizeof(double);
}

static inline struct fast_outputs fast_outputs_make(size_t n_outputs, size_t n, bool f32, size_t shift)
{
    struct fast_outputs o = {n, n_outputs, f32, fast_allocate(n_outputs * sizeof(void *)),
                             fast_allocate(n_outputs * sizeof(void *))};
    for (size_t k = 0; k < n_outputs; k++) {
        size_t bytes = (n + 2 * FAST_GUARD + shift) * fast_cell(&o);
        o.block[k] = fast_allocate(bytes);
        o.at[k] = (char *)o.block[k] + (FAST_GUARD + shift) * fast_cell(&o);
        memset(o.block[k], 0xa5, bytes);
    }
    return o;
}

static inline double fast_output(const struct fast_outputs *o, size_t k, size_t i)
{
    return o->f32 ? (double)((const float *)o->at[k])[i] : ((const double *)o->at[k])[i];
}

/* The guard cells still hold the poison. */
static inline bool fast_outputs_sound(const struct fast_outputs *o)
{
    size_t guard = FAST_GUARD * fast_cell(o);
    for (size_t k = 0; k < o->n_outputs; k++) {
        const unsigned char *before = (const unsigned char *)o->at[k] - guard;
        const unsigned char *after = (const unsigned char *)o->at[k] + o->n * fast_cell(o);
        for (size_t i = 0; i < guard; i++)
            if (before[i] != 0xa5 || after[i] != 0xa5)
                return false;
    }
    return true;
}

static inline void fast_outputs_free(struct fast_outputs *o)
{
    for (size_t k = 0; k < o->n_outputs; k++)
        free(o->block[k]);
    free(o->block);
    free(o->at);
}

static inline struct indicator_request fast_request(const struct fast_series *s,
                                                    const struct indicator_spec *specs, size_t n_specs,
                                                    const struct fast_outputs *o, enum indicator_isa isa)
{
    struct indicator_request request = {.precision = s->f32 ? INDICATOR_F32 : INDICATOR_F64,
                                        .isa = isa,
                                        .n_specs = n_specs,
                                        .specs = specs,
                                        .out = o->at};
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        request.columns[c] = (struct indicator_column){s->cells[c], s->n};
    return request;
}

#endif
