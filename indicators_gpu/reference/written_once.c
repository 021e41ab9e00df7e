/* The rows whose formula is written once (indicator_rows.h): WINDOW rows read the columns in place, STEPS
 * rows walk over them. What they are compared with is TA-Lib. */
#include "indicators_gpu/reference/reference.h"

#include <errno.h>
#include <stdlib.h>

#include "indicators_gpu/registry.h"
#include "indicators_gpu/step/dispatch.h"

static const double *bar_of(const double *column, size_t i)
{
    return column ? column + i : NULL;
}

typedef void formula(const struct window_bars *bars, const double options[], double out[]);

static inline int each_window(formula *of, size_t back, size_t n_outputs, const double options[],
                              const struct indicator_columns *in, size_t n, double *const out[])
{
    for (size_t i = back; i < n; i++) {
        struct window_bars bars = {bar_of(in->open, i), bar_of(in->high, i), bar_of(in->low, i),
                                   bar_of(in->close, i), bar_of(in->volume, i)};
        double values[INDICATOR_OUTPUTS_MAX] = {0.0};
        of(&bars, options, values);
        for (size_t k = 0; k < n_outputs; k++)
            out[k][i] = values[k];
    }
    return 0;
}

typedef bool step(void *state, const struct indicator_bar *bar, double out[]);

/* Takes a started state, or NULL for one that had no memory, and frees it. */
static int each_step(step *next, void *state, size_t n_outputs, const struct indicator_columns *in, size_t n,
                     double *const out[])
{
    const double *columns[INDICATOR_COLUMNS] = {in->open, in->high, in->low, in->close, in->volume, in->time};
    if (!state)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        double x[INDICATOR_COLUMNS] = {0.0}, values[INDICATOR_OUTPUTS_MAX] = {0.0};
        for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
            x[c] = columns[c] ? columns[c][i] : 0.0;
        const struct indicator_bar bar = {x[0], x[1], x[2], x[3], x[4], x[5]};
        if (!next(state, &bar, values))
            continue;
        for (size_t k = 0; k < n_outputs; k++)
            out[k][i] = values[k];
    }
    free(state);
    return 0;
}

#define REFERENCE_OF(row, call) \
    int reference_##row(const double options[], const struct indicator_columns *in, size_t n, \
                        double *const out[]) \
    { \
        return call; \
    }
#define REFERENCE_BOTH(row)
#define REFERENCE_F64(row)
#define REFERENCE_WINDOW(row) \
    REFERENCE_OF(row, each_window(row##_of, row##_back(options), row##_outputs, options, in, n, out))
#define REFERENCE_STEPS(row) \
    static bool row##_next(void *state, const struct indicator_bar *bar, double out[]) \
    { \
        return step_##row##_next((struct step_##row *)state, bar, out); \
    } \
    static void *row##_started(const double options[]) \
    { \
        struct step_##row *state = calloc(1, sizeof(*state) + step_##row##_cells(options) * sizeof(double)); \
        if (state) \
            step_##row##_start(state, options); \
        return state; \
    } \
    REFERENCE_OF(row, each_step(row##_next, row##_started(options), indicator_##row.n_outputs, in, n, out))
#define REFERENCE_ROW(number, ID, row, kernels) REFERENCE_##kernels(row)
INDICATOR_ROWS(REFERENCE_ROW)
