/* The float64 reference's bits for many series at once, for backtests over whole histories.
 *
 * A recurrence cannot be cut in time without changing its order of operations, but series do not depend on
 * each other: lane l of a vector is series l, or another spec of the same row, each in the reference's own
 * order. Means over windows are independent in time as well: there a lane is a bar, and its window is summed
 * from the oldest value to the newest as ever. */
#ifndef INDICATORS_GPU_EXACT_EXACT_H
#define INDICATORS_GPU_EXACT_EXACT_H

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/recurrence.h"

/* What a recurrence remembers from one part of a series to the next; {0} before the first. */
struct exact_memory {
    bool started;
    union {
        struct ema_state ema;
        struct macd_state macd;
        struct rsi_state rsi;
        struct atr_state atr;
    };
};

/* One spec over one series: n bars of columns that are finite (not checked) and not NULL where the row reads
 * them; out[k] takes n doubles. Nothing overlaps. */
struct exact_task {
    const struct indicator_spec *spec;
    struct indicator_columns in;
    size_t n;
    double *const *out;
    /* A part of a series: this many bars before the columns' beginnings, which must be readable, were
     * computed before with the same memory. NULL: it is the whole series, and done is 0. */
    size_t done;
    struct exact_memory *memory;
};

/* Is this faster than indicator_reference()? sma, ema, rsi, macd, atr. */
bool exact_serves(const struct indicator_spec *spec);

/* How many tasks of one row are computed side by side; 1 where each is as fast alone (sma). */
size_t exact_lanes(const struct indicator_spec *spec, enum indicator_isa isa);

/* Computes up to exact_lanes() tasks, all of one row that exact_serves(): every output as
 * indicator_reference() gives it, to the bit, NaN before the first. `isa`: one that the processor has. */
void exact_compute(const struct exact_task *tasks, size_t n_tasks, enum indicator_isa isa);

#endif
