/* The rows whose formula is written once (indicator_rows.h), in float64, without contraction: a WINDOW row
 * reads the columns in place, bar after bar, a STEPS row walks over them. The reference's bits. */
#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/set.h"
#include "indicators_gpu/fast/simd.h"
#include "indicators_gpu/step/dispatch.h"

struct window_kernel {
    double options[INDICATOR_OPTIONS_MAX];
};

static size_t window_kernel_bytes(const double options[])
{
    (void)options;
    return sizeof(struct window_kernel);
}

static void window_kernel_start(void *state, const double options[])
{
    struct window_kernel *k = state;
    memcpy(k->options, options, sizeof(k->options));
}

static inline const double *bar_of(const void *column, size_t i)
{
    return column ? (const double *)column + i : NULL;
}

typedef void formula(const struct window_bars *bars, const double options[], double out[]);

static inline __attribute__((always_inline)) void
each_window(formula *of, size_t n_outputs, const struct window_kernel *k, const struct fast_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        struct window_bars bars = {bar_of(block->in[FAST_OPEN], i), bar_of(block->in[FAST_HIGH], i),
                                   bar_of(block->in[FAST_LOW], i), bar_of(block->in[FAST_CLOSE], i),
                                   bar_of(block->in[FAST_VOLUME], i)};
        double values[INDICATOR_OUTPUTS_MAX] = {0.0};
        of(&bars, k->options, values);
        for (size_t o = 0; o < n_outputs; o++)
            ((double *)block->out[o])[i] = values[o];
    }
}

typedef bool step(void *state, const struct indicator_bar *bar, double out[]);

static inline __attribute__((always_inline)) void each_step(step *next, void *state, size_t n_outputs,
                                                            const struct fast_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        double x[INDICATOR_COLUMNS], values[INDICATOR_OUTPUTS_MAX] = {0.0};
        for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
            x[c] = block->in[c] ? ((const double *)block->in[c])[i] : 0.0;
        const struct indicator_bar bar = {x[0], x[1], x[2], x[3], x[4], x[5]};
        if (!next(state, &bar, values))
            continue;
        for (size_t o = 0; o < n_outputs; o++)
            ((double *)block->out[o])[i] = values[o];
    }
}

#define ONCE_BOTH(row)
#define ONCE_F64(row)
#define ONCE_WINDOW(row) \
    static size_t row##_history(const double options[]) \
    { \
        return row##_back(options); \
    } \
    static void row##_run(void *state, const struct fast_block *block) \
    { \
        each_window(row##_of, row##_outputs, state, block); \
    } \
    const struct fast_kernel FAST(row) = {window_kernel_bytes, row##_history, window_kernel_start, \
                                          row##_run, false};
#define ONCE_STEPS(row) \
    static size_t row##_bytes(const double options[]) \
    { \
        return sizeof(struct step_##row) + step_##row##_cells(options) * sizeof(double); \
    } \
    static void row##_start(void *state, const double options[]) \
    { \
        step_##row##_start((struct step_##row *)state, options); \
    } \
    static bool row##_next(void *state, const struct indicator_bar *bar, double out[]) \
    { \
        return step_##row##_next((struct step_##row *)state, bar, out); \
    } \
    static void row##_run(void *state, const struct fast_block *block) \
    { \
        each_step(row##_next, state, indicator_##row.n_outputs, block); \
    } \
    const struct fast_kernel FAST(row) = {row##_bytes, NULL, row##_start, row##_run, false};
#define ONCE_ROW(number, ID, row, kernels) ONCE_##kernels(row)
INDICATOR_ROWS(ONCE_ROW)
