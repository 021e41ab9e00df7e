#include "indicators_gpu/step/dispatch.h"
#include "indicators_gpu/stream/visit.h"

/* Each value once, though a window's cells hold it twice. */
static void visit_window(const struct indicator_stream_fields *fields, struct window_state *s,
                         unsigned inputs, double cells[])
{
    struct ring *r = &s->ring;
    visit_u32(fields, &r->next, r->length - 1);
    visit_u32(fields, &r->seen, r->length);
    for (unsigned c = 0; c < WINDOW_COLUMNS; c++) {
        if (!(inputs >> c & 1))
            continue;
        for (uint32_t i = 0; i < r->seen; i++) {
            visit_number(fields, &cells[i]);
            cells[i + r->length] = cells[i];
        }
        cells += 2 * (size_t)r->length;
    }
}

#define VISIT_BOTH(row)
#define VISIT_F64(row)
#define VISIT_STEPS(row)
#define VISIT_WINDOW(row) \
    void visit_row_##row(void *state, const struct indicator_stream_fields *fields) \
    { \
        struct step_##row *s = state; \
        visit_window(fields, &s->window, row##_inputs, (double *)(s + 1)); \
    }
#define VISIT_ROW(number, ID, row, kernels) VISIT_##kernels(row)
INDICATOR_ROWS(VISIT_ROW)
