#include "indicators_gpu/step/cycles.h"

#include "indicators_gpu/stream/visit.h"

static void visit_cycle(const struct indicator_stream_fields *fields, struct cycle *s)
{
    visit_numbers(fields, (double *)s, CYCLE_NUMBERS);
    visit_u32(fields, &s->seen, CYCLE_SEEN - 1);
    visit_u32(fields, &s->tap, 2);
}

static void visit_phase(const struct indicator_stream_fields *fields, struct cycle_phase *s)
{
    visit_number(fields, &s->degrees);
    visit_numbers(fields, s->line, 3);
    visit_numbers(fields, s->smooth, CYCLE_LONGEST);
    visit_numbers(fields, s->close, CYCLE_LONGEST);
    visit_u32(fields, &s->at, CYCLE_LONGEST - 1);
    visit_cycle(fields, &s->cycle);
}

void visit_row_ht_dcperiod(void *state, const struct indicator_stream_fields *fields)
{
    visit_cycle(fields, &((struct step_ht_dcperiod *)state)->cycle);
}

void visit_row_ht_phasor(void *state, const struct indicator_stream_fields *fields)
{
    visit_cycle(fields, &((struct step_ht_phasor *)state)->cycle);
}

void visit_row_mama(void *state, const struct indicator_stream_fields *fields)
{
    struct step_mama *s = state;
    visit_number(fields, &s->phase);
    visit_number(fields, &s->mama);
    visit_number(fields, &s->fama);
    visit_cycle(fields, &s->cycle);
}

void visit_row_ht_dcphase(void *state, const struct indicator_stream_fields *fields)
{
    visit_phase(fields, &((struct step_ht_dcphase *)state)->phase);
}

void visit_row_ht_sine(void *state, const struct indicator_stream_fields *fields)
{
    visit_phase(fields, &((struct step_ht_sine *)state)->phase);
}

void visit_row_ht_trendline(void *state, const struct indicator_stream_fields *fields)
{
    visit_phase(fields, &((struct step_ht_trendline *)state)->phase);
}

void visit_row_ht_trendmode(void *state, const struct indicator_stream_fields *fields)
{
    struct step_ht_trendmode *s = state;
    visit_number(fields, &s->sine);
    visit_number(fields, &s->lead);
    visit_number(fields, &s->in_trend);
    visit_phase(fields, &s->phase);
}
