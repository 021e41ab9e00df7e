#include "indicators_gpu/step/trend.h"

#include "indicators_gpu/stream/visit.h"

static void visit_directional(const struct indicator_stream_fields *fields, struct directional_state *s)
{
    visit_number(fields, &s->high);
    visit_number(fields, &s->low);
    visit_number(fields, &s->close);
    visit_number(fields, &s->plus);
    visit_number(fields, &s->minus);
    visit_number(fields, &s->range);
    visit_u32(fields, &s->seen, (uint64_t)s->period);
}

static void visit_adx(const struct indicator_stream_fields *fields, struct adx_state *s)
{
    visit_directional(fields, &s->directional);
    visit_number(fields, &s->value);
    visit_u32(fields, &s->seen, (uint64_t)s->directional.period);
}

void visit_row_plus_di(void *state, const struct indicator_stream_fields *fields)
{
    struct step_plus_di *s = state;
    visit_directional(fields, &s->directional);
}

void visit_row_minus_di(void *state, const struct indicator_stream_fields *fields)
{
    struct step_minus_di *s = state;
    visit_directional(fields, &s->directional);
}

void visit_row_dx(void *state, const struct indicator_stream_fields *fields)
{
    struct step_dx *s = state;
    visit_directional(fields, &s->directional);
    visit_number(fields, &s->value);
}

void visit_row_adx(void *state, const struct indicator_stream_fields *fields)
{
    struct step_adx *s = state;
    visit_adx(fields, &s->adx);
}

void visit_row_adxr(void *state, const struct indicator_stream_fields *fields)
{
    struct step_adxr *s = state;
    visit_adx(fields, &s->adx);
    visit_ring(fields, &s->ring, (double *)(s + 1));
}

void visit_row_aroon(void *state, const struct indicator_stream_fields *fields)
{
    struct step_aroon *s = state;
    visit_range(fields, &s->ring, (double *)(s + 1));
}

void visit_row_sar(void *state, const struct indicator_stream_fields *fields)
{
    struct step_sar *s = state;
    visit_number(fields, &s->value);
    visit_number(fields, &s->extreme);
    visit_number(fields, &s->factor);
    visit_number(fields, &s->high);
    visit_number(fields, &s->low);
    visit_u32(fields, &s->rising, 1);
    visit_u32(fields, &s->seen, 2);
}

void visit_row_supertrend(void *state, const struct indicator_stream_fields *fields)
{
    struct step_supertrend *s = state;
    visit_atr(fields, &s->atr);
    visit_number(fields, &s->upper);
    visit_number(fields, &s->lower);
    visit_u32(fields, &s->rising, 1);
    visit_u32(fields, &s->started, 1);
}

void visit_row_ichimoku(void *state, const struct indicator_stream_fields *fields)
{
    struct step_ichimoku *s = state;
    visit_range(fields, &s->ring, (double *)(s + 1));
}

void visit_row_heikin_ashi(void *state, const struct indicator_stream_fields *fields)
{
    struct step_heikin_ashi *s = state;
    visit_number(fields, &s->open);
    visit_number(fields, &s->close);
    visit_u32(fields, &s->started, 1);
}

static void visit_movement(const struct indicator_stream_fields *fields, struct movement_state *s)
{
    visit_number(fields, &s->high);
    visit_number(fields, &s->low);
    visit_number(fields, &s->sum);
    visit_u32(fields, &s->seen, movement_bars(s));
}

void visit_row_plus_dm(void *state, const struct indicator_stream_fields *fields)
{
    visit_movement(fields, &((struct step_plus_dm *)state)->movement);
}

void visit_row_minus_dm(void *state, const struct indicator_stream_fields *fields)
{
    visit_movement(fields, &((struct step_minus_dm *)state)->movement);
}
