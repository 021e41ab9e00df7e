#include "indicators_gpu/recurrence.h"
#include "indicators_gpu/stream/classes.h"

static size_t atr_bytes(const double options[])
{
    (void)options;
    return sizeof(struct atr_state);
}

static void atr_open(void *state, const double options[])
{
    atr_start(state, options[0]);
}

static bool atr_update(void *state, const struct indicator_bar *bar, double out[])
{
    return atr_step(state, bar->high, bar->low, bar->close, &out[0]);
}

static bool atr_peek(const void *state, const struct indicator_bar *bar, double out[])
{
    struct atr_state copy = *(const struct atr_state *)state;
    return atr_step(&copy, bar->high, bar->low, bar->close, &out[0]);
}

static void atr_visit(void *state, const struct indicator_stream_fields *fields)
{
    struct atr_state *s = state;
    fields->number(fields->ctx, &s->before);
    fields->number(fields->ctx, &s->value);
    stream_visit_u32(fields, &s->seen, (uint64_t)s->period + 1);
}

const struct indicator_stream_class stream_atr = {atr_bytes, atr_open, atr_update, atr_peek, atr_visit};
