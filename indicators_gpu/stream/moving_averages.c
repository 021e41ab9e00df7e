#include "indicators_gpu/step/moving_averages.h"

#include "indicators_gpu/stream/visit.h"

void visit_row_sma(void *state, const struct indicator_stream_fields *fields)
{
    struct step_sma *s = state;
    visit_ring(fields, &s->ring, (double *)(s + 1));
}

void visit_row_ema(void *state, const struct indicator_stream_fields *fields)
{
    struct step_ema *s = state;
    visit_ema(fields, &s->ema);
}
