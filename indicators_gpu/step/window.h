/* Rows that are a function of their last bars alone, written once: a formula over the bars seen from the
 * newest, which the reference and the cpu backend give the columns themselves, the streams and the exact GPU
 * kernels a copy of the last bars.
 *
 * Such a row, WINDOW in indicator_rows.h, has
 *   NAME_inputs                 enum indicator_input: the columns that it reads
 *   NAME_outputs                how many outputs it has
 *   NAME_back(options)          bars before the newest that it reads, which is its lookback
 *   NAME_of(bars, options, out) the outputs */
#ifndef INDICATORS_GPU_STEP_WINDOW_H
#define INDICATORS_GPU_STEP_WINDOW_H

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/ring.h"

/* close[0] is the newest bar's, close[-1] that of the bar before it. NULL where no row reads it. */
struct window_bars {
    const double *open, *high, *low, *close, *volume;
};

/* Cells: for each column that is read, twice the window's length. A value is written twice, a length apart,
 * so that the window is in one piece wherever it begins. */
struct window_state {
    struct ring ring;
    alignas(8) double options[INDICATOR_OPTIONS_MAX];
};

enum { WINDOW_COLUMNS = 5 };

STEP size_t window_cells(unsigned inputs, size_t back)
{
    size_t cells = 0;
    for (unsigned c = 0; c < WINDOW_COLUMNS; c++)
        cells += inputs >> c & 1 ? 2 * (back + 1) : 0;
    return cells;
}

STEP void window_start(struct window_state *s, const double options[], size_t back)
{
    ring_start(&s->ring, (double)(back + 1));
    for (unsigned i = 0; i < INDICATOR_OPTIONS_MAX; i++)
        s->options[i] = options[i];
}

/* Writes a value into a column's cells; returns where it is the last of a window in one piece. */
STEP const double *window_put(const struct ring *r, double cells[], double x)
{
    cells[r->next] = cells[r->next + r->length] = x;
    return cells + r->next + r->length;
}

/* Takes a bar; true, and the window, once it is full. */
STEP bool window_push(struct window_state *s, double cells[], unsigned inputs,
                      const struct indicator_bar *bar, struct window_bars *ret)
{
    const double values[WINDOW_COLUMNS] = {bar->open, bar->high, bar->low, bar->close, bar->volume};
    const double *at[WINDOW_COLUMNS] = {NULL, NULL, NULL, NULL, NULL};
    struct ring *r = &s->ring;
    for (unsigned c = 0; c < WINDOW_COLUMNS; c++) {
        if (!(inputs >> c & 1))
            continue;
        at[c] = window_put(r, cells, values[c]);
        cells += 2 * (size_t)r->length;
    }
    *ret = (struct window_bars){at[0], at[1], at[2], at[3], at[4]};
    r->next = r->next + 1 == r->length ? 0 : r->next + 1;
    r->seen += r->seen < r->length;
    return r->seen == r->length;
}

/* The four parts of step/dispatch.h. */
#define WINDOW_STEP(number, ID, name, kernels) WINDOW_STEP_##kernels(name)
#define WINDOW_STEP_BOTH(name)
#define WINDOW_STEP_F64(name)
#define WINDOW_STEP_STEPS(name)
#define WINDOW_STEP_WINDOW(name) \
    struct step_##name { \
        struct window_state window; \
    }; \
    STEP size_t step_##name##_cells(const double options[]) \
    { \
        return window_cells(name##_inputs, name##_back(options)); \
    } \
    STEP void step_##name##_start(struct step_##name *s, const double options[]) \
    { \
        window_start(&s->window, options, name##_back(options)); \
    } \
    STEP bool step_##name##_next(struct step_##name *s, const struct indicator_bar *bar, double out[]) \
    { \
        struct window_bars bars; \
        if (!window_push(&s->window, (double *)(s + 1), name##_inputs, bar, &bars)) \
            return false; \
        name##_of(&bars, s->window.options, out); \
        return true; \
    }

#endif
