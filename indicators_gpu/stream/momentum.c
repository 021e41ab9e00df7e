#include "indicators_gpu/step/momentum.h"

#include "indicators_gpu/stream/visit.h"

void visit_row_rsi(void *state, const struct indicator_stream_fields *fields)
{
    struct rsi_state *s = &((struct step_rsi *)state)->rsi;
    visit_number(fields, &s->before);
    visit_number(fields, &s->gain);
    visit_number(fields, &s->loss);
    visit_u32(fields, &s->seen, (uint64_t)s->period + 1);
}

void visit_row_macd(void *state, const struct indicator_stream_fields *fields)
{
    struct macd_state *s = &((struct step_macd *)state)->macd;
    visit_ema(fields, &s->fast);
    visit_ema(fields, &s->slow);
    visit_ema(fields, &s->signal);
    visit_u32(fields, &s->wait, (uint64_t)(s->slow.period - s->fast.period));
}
