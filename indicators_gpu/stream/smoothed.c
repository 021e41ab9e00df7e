#include "indicators_gpu/step/smoothed.h"

#include "indicators_gpu/stream/visit.h"

void visit_row_rma(void *state, const struct indicator_stream_fields *fields)
{
    visit_wilder(fields, &((struct step_rma *)state)->rma);
}

void visit_row_zlema(void *state, const struct indicator_stream_fields *fields)
{
    struct step_zlema *s = state;
    visit_ema(fields, &s->ema);
    visit_ring(fields, &s->closes, (double *)(s + 1));
}

void visit_row_efi(void *state, const struct indicator_stream_fields *fields)
{
    struct step_efi *s = state;
    visit_ema(fields, &s->ema);
    visit_delta(fields, &s->close);
}

void visit_row_eri(void *state, const struct indicator_stream_fields *fields)
{
    visit_ema(fields, &((struct step_eri *)state)->ema);
}

void visit_row_pvo(void *state, const struct indicator_stream_fields *fields)
{
    visit_row_ppo(state, fields);
}

void visit_row_cvi(void *state, const struct indicator_stream_fields *fields)
{
    struct step_cvi *s = state;
    visit_ema(fields, &s->range);
    visit_ring(fields, &s->averages, (double *)(s + 1));
}

void visit_row_massi(void *state, const struct indicator_stream_fields *fields)
{
    struct step_massi *s = state;
    visit_ema(fields, &s->once);
    visit_ema(fields, &s->twice);
    visit_ring(fields, &s->ratios, (double *)(s + 1));
}
