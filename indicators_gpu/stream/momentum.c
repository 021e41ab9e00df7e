#include "indicators_gpu/recurrence.h"
#include "indicators_gpu/stream/classes.h"

static size_t rsi_bytes(const double options[])
{
    (void)options;
    return sizeof(struct rsi_state);
}

static void rsi_open(void *state, const double options[])
{
    rsi_start(state, options[0]);
}

static bool rsi_update(void *state, const struct indicator_bar *bar, double out[])
{
    return rsi_step(state, bar->close, &out[0]);
}

static bool rsi_peek(const void *state, const struct indicator_bar *bar, double out[])
{
    struct rsi_state copy = *(const struct rsi_state *)state;
    return rsi_step(&copy, bar->close, &out[0]);
}

static void rsi_visit(void *state, const struct indicator_stream_fields *fields)
{
    struct rsi_state *s = state;
    fields->number(fields->ctx, &s->before);
    fields->number(fields->ctx, &s->gain);
    fields->number(fields->ctx, &s->loss);
    stream_visit_u32(fields, &s->seen, (uint64_t)s->period + 1);
}

const struct indicator_stream_class stream_rsi = {rsi_bytes, rsi_open, rsi_update, rsi_peek, rsi_visit};

static size_t macd_bytes(const double options[])
{
    (void)options;
    return sizeof(struct macd_state);
}

static void macd_open(void *state, const double options[])
{
    macd_start(state, options[0], options[1], options[2]);
}

static bool macd_update(void *state, const struct indicator_bar *bar, double out[])
{
    struct macd_values values;
    if (!macd_step(state, bar->close, &values))
        return false;
    out[0] = values.macd;
    out[1] = values.signal;
    out[2] = values.hist;
    return true;
}

static bool macd_peek(const void *state, const struct indicator_bar *bar, double out[])
{
    struct macd_state copy = *(const struct macd_state *)state;
    return macd_update(&copy, bar, out);
}

static void macd_visit(void *state, const struct indicator_stream_fields *fields)
{
    struct macd_state *s = state;
    struct ema_state *const averages[] = {&s->fast, &s->slow, &s->signal};
    for (size_t i = 0; i < sizeof averages / sizeof *averages; i++) {
        fields->number(fields->ctx, &averages[i]->value);
        stream_visit_u32(fields, &averages[i]->seen, (uint64_t)averages[i]->period);
    }
    stream_visit_u32(fields, &s->wait, (uint64_t)(s->slow.period - s->fast.period));
}

const struct indicator_stream_class stream_macd = {macd_bytes, macd_open, macd_update, macd_peek, macd_visit};
