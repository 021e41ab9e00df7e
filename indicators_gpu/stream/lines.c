#include "indicators_gpu/step/lines.h"

#include "indicators_gpu/stream/visit.h"

void visit_row_pvt(void *state, const struct indicator_stream_fields *fields)
{
    struct step_pvt *s = state;
    visit_line(fields, &s->line);
}

static void visit_volume_index(const struct indicator_stream_fields *fields, struct volume_index *s)
{
    visit_number(fields, &s->close);
    visit_number(fields, &s->volume);
    visit_number(fields, &s->value);
    fields->count(fields->ctx, &s->any, 1);
}

void visit_row_nvi(void *state, const struct indicator_stream_fields *fields)
{
    visit_volume_index(fields, &((struct step_nvi *)state)->index);
}

void visit_row_pvi(void *state, const struct indicator_stream_fields *fields)
{
    visit_volume_index(fields, &((struct step_pvi *)state)->index);
}

void visit_row_wad(void *state, const struct indicator_stream_fields *fields)
{
    struct step_wad *s = state;
    visit_line(fields, &s->line);
}
