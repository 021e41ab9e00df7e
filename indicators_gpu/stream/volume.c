#include "indicators_gpu/step/volume.h"

#include "indicators_gpu/stream/visit.h"

void visit_row_mfi(void *state, const struct indicator_stream_fields *fields)
{
    struct step_mfi *s = state;
    visit_number(fields, &s->before);
    visit_u32(fields, &s->any, 1);
    visit_ring(fields, &s->window, (double *)(s + 1));
}

void visit_row_obv(void *state, const struct indicator_stream_fields *fields)
{
    struct step_obv *s = state;
    visit_line(fields, &s->line);
}

void visit_row_ad(void *state, const struct indicator_stream_fields *fields)
{
    struct step_ad *s = state;
    visit_number(fields, &s->value);
}

void visit_row_adosc(void *state, const struct indicator_stream_fields *fields)
{
    struct step_adosc *s = state;
    visit_number(fields, &s->line);
    visit_number(fields, &s->fast);
    visit_number(fields, &s->slow);
    visit_u32(fields, &s->seen, s->length);
}

void visit_row_vwap(void *state, const struct indicator_stream_fields *fields)
{
    struct step_vwap *s = state;
    visit_number(fields, &s->session);
    visit_number(fields, &s->flow);
    visit_number(fields, &s->volume);
    fields->count(fields->ctx, &s->any, 1);
}
