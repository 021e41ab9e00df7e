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

void visit_row_wma(void *state, const struct indicator_stream_fields *fields)
{
    struct step_wma *s = state;
    visit_ring(fields, &s->ring, (double *)(s + 1));
}

void visit_row_dema(void *state, const struct indicator_stream_fields *fields)
{
    struct step_dema *s = state;
    visit_ema(fields, &s->once);
    visit_ema(fields, &s->twice);
}

void visit_row_tema(void *state, const struct indicator_stream_fields *fields)
{
    struct step_tema *s = state;
    visit_ema(fields, &s->once);
    visit_ema(fields, &s->twice);
    visit_ema(fields, &s->thrice);
}

void visit_row_kama(void *state, const struct indicator_stream_fields *fields)
{
    struct step_kama *s = state;
    visit_number(fields, &s->value);
    visit_ring(fields, &s->ring, (double *)(s + 1));
}

void visit_row_hma(void *state, const struct indicator_stream_fields *fields)
{
    struct step_hma *s = state;
    double *closes = (double *)(s + 1);
    visit_ring(fields, &s->closes, closes);
    visit_ring(fields, &s->raw, closes + s->closes.length);
}

void visit_row_t3(void *state, const struct indicator_stream_fields *fields)
{
    struct step_t3 *s = state;
    for (int i = 0; i < T3_AVERAGES; i++)
        visit_ema(fields, &s->ema[i]);
}
