/* Visits the fields of each row's memory (step/), except those that step_NAME_start() derives from the
 * options. Any value that the visitor may set is safe to continue from. The order of fields is saved in
 * states: it never changes. */
#ifndef INDICATORS_GPU_STREAM_VISIT_H
#define INDICATORS_GPU_STREAM_VISIT_H

#include "indicators_gpu/indicator_rows.h"
#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/ring.h"

typedef void stream_visit_fn(void *state, const struct indicator_stream_fields *fields);

/* A counter of 32 bits, up to `most`. */
static inline void visit_u32(const struct indicator_stream_fields *fields, uint32_t *value, uint64_t most)
{
    uint64_t wide = *value;
    fields->count(fields->ctx, &wide, most);
    *value = (uint32_t)wide;
}

static inline void visit_number(const struct indicator_stream_fields *fields, double *value)
{
    fields->number(fields->ctx, value);
}

/* A window and the values that it holds. */
static inline void visit_ring(const struct indicator_stream_fields *fields, struct ring *r, double cells[])
{
    visit_u32(fields, &r->next, r->length - 1);
    visit_u32(fields, &r->seen, r->length);
    for (uint32_t i = 0; i < r->seen; i++)
        visit_number(fields, &cells[i]);
}

static inline void visit_ema(const struct indicator_stream_fields *fields, struct ema_state *s)
{
    visit_number(fields, &s->value);
    visit_u32(fields, &s->seen, (uint64_t)s->period);
}

static inline void visit_wilder(const struct indicator_stream_fields *fields, struct wilder_state *s)
{
    visit_number(fields, &s->value);
    visit_u32(fields, &s->seen, (uint64_t)s->period);
}

static inline void visit_atr(const struct indicator_stream_fields *fields, struct atr_state *s)
{
    visit_number(fields, &s->before);
    visit_number(fields, &s->value);
    visit_u32(fields, &s->seen, (uint64_t)s->period + 1);
}

static inline void visit_line(const struct indicator_stream_fields *fields, struct line_state *s)
{
    visit_number(fields, &s->before);
    visit_number(fields, &s->value);
    fields->count(fields->ctx, &s->any, 1);
}

static inline void visit_delta(const struct indicator_stream_fields *fields, struct delta_state *s)
{
    visit_number(fields, &s->before);
    fields->count(fields->ctx, &s->any, 1);
}

/* Highs and lows side by side (step/extremes.h). */
static inline void visit_range(const struct indicator_stream_fields *fields, struct ring *r, double cells[])
{
    visit_ring(fields, r, cells);
    for (uint32_t i = 0; i < r->seen; i++)
        visit_number(fields, &cells[r->length + i]);
}

static inline void visit_numbers(const struct indicator_stream_fields *fields, double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        visit_number(fields, &values[i]);
}

#define VISIT_DECLARED(number, ID, row, kernels) extern stream_visit_fn visit_row_##row;
INDICATOR_ROWS(VISIT_DECLARED)
#undef VISIT_DECLARED

#endif
