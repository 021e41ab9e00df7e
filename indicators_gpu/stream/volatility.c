#include "indicators_gpu/step/volatility.h"

#include "indicators_gpu/stream/visit.h"

void visit_row_atr(void *state, const struct indicator_stream_fields *fields)
{
    struct step_atr *s = state;
    visit_atr(fields, &s->atr);
}

void visit_row_natr(void *state, const struct indicator_stream_fields *fields)
{
    struct step_natr *s = state;
    visit_atr(fields, &s->atr);
}

void visit_row_trange(void *state, const struct indicator_stream_fields *fields)
{
    struct step_trange *s = state;
    visit_number(fields, &s->before);
    visit_u32(fields, &s->started, 1);
}

void visit_row_bbands(void *state, const struct indicator_stream_fields *fields)
{
    struct step_bbands *s = state;
    visit_ring(fields, &s->ring, (double *)(s + 1));
}

void visit_row_keltner(void *state, const struct indicator_stream_fields *fields)
{
    struct step_keltner *s = state;
    visit_ema(fields, &s->ema);
    visit_atr(fields, &s->atr);
    visit_u32(fields, &s->ema_wait, INDICATOR_PERIOD_MAX);
    visit_u32(fields, &s->atr_wait, INDICATOR_PERIOD_MAX);
}

void visit_row_donchian(void *state, const struct indicator_stream_fields *fields)
{
    struct step_donchian *s = state;
    visit_range(fields, &s->ring, (double *)(s + 1));
}

void visit_row_realvol(void *state, const struct indicator_stream_fields *fields)
{
    struct step_realvol *s = state;
    visit_number(fields, &s->before);
    visit_u32(fields, &s->started, 1);
    visit_ring(fields, &s->ring, (double *)(s + 1));
}

void visit_row_parkinson(void *state, const struct indicator_stream_fields *fields)
{
    struct step_parkinson *s = state;
    visit_ring(fields, &s->ring, (double *)(s + 1));
}

void visit_row_garman_klass(void *state, const struct indicator_stream_fields *fields)
{
    struct step_garman_klass *s = state;
    visit_ring(fields, &s->ring, (double *)(s + 1));
}
