#include "indicators_gpu/step/volatility.h"

#include "indicators_gpu/stream/visit.h"

void visit_row_atr(void *state, const struct indicator_stream_fields *fields)
{
    struct atr_state *s = &((struct step_atr *)state)->atr;
    visit_number(fields, &s->before);
    visit_number(fields, &s->value);
    visit_u32(fields, &s->seen, (uint64_t)s->period + 1);
}
