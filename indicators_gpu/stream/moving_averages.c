#include "indicators_gpu/recurrence.h"
#include "indicators_gpu/stream/classes.h"

/* The window, in a ring: `next` is where the next value goes, and so where the oldest stands once full. */
struct sma_state {
    double period;
    size_t next, seen;
    double ring[];
};

static size_t sma_bytes(const double options[])
{
    return sizeof(struct sma_state) + (size_t)options[0] * sizeof(double);
}

static void sma_start(void *state, const double options[])
{
    struct sma_state *s = state;
    s->period = options[0];
    s->next = s->seen = 0;
}

/* The mean of the window that ends with x: the ring without its oldest value, oldest first, then x. */
static double sma_mean(const struct sma_state *s, double x)
{
    size_t period = (size_t)s->period;
    double sum = 0.0;
    for (size_t i = s->next + 1; i < period; i++)
        sum += s->ring[i];
    for (size_t i = 0; i < s->next; i++)
        sum += s->ring[i];
    return (sum + x) / s->period;
}

static bool sma_peek(const void *state, const struct indicator_bar *bar, double out[])
{
    const struct sma_state *s = state;
    if (s->seen + 1 < (size_t)s->period)
        return false;
    out[0] = sma_mean(s, bar->close);
    return true;
}

static bool sma_update(void *state, const struct indicator_bar *bar, double out[])
{
    struct sma_state *s = state;
    size_t period = (size_t)s->period;
    bool ready = sma_peek(state, bar, out);
    s->ring[s->next] = bar->close;
    s->next = s->next + 1 == period ? 0 : s->next + 1;
    if (s->seen < period)
        s->seen++;
    return ready;
}

static void sma_visit(void *state, const struct indicator_stream_fields *fields)
{
    struct sma_state *s = state;
    uint64_t period = (uint64_t)s->period, next = s->next, seen = s->seen;
    fields->count(fields->ctx, &next, period - 1);
    fields->count(fields->ctx, &seen, period);
    s->next = (size_t)next;
    s->seen = (size_t)seen;
    for (size_t i = 0; i < s->seen; i++)
        fields->number(fields->ctx, &s->ring[i]);
}

const struct indicator_stream_class stream_sma = {sma_bytes, sma_start, sma_update, sma_peek, sma_visit};

static size_t ema_bytes(const double options[])
{
    (void)options;
    return sizeof(struct ema_state);
}

static void ema_open(void *state, const double options[])
{
    ema_start(state, options[0]);
}

static bool ema_update(void *state, const struct indicator_bar *bar, double out[])
{
    struct ema_state *s = state;
    if (!ema_step(s, bar->close))
        return false;
    out[0] = s->value;
    return true;
}

static bool ema_peek(const void *state, const struct indicator_bar *bar, double out[])
{
    struct ema_state copy = *(const struct ema_state *)state;
    return ema_update(&copy, bar, out);
}

static void ema_visit(void *state, const struct indicator_stream_fields *fields)
{
    struct ema_state *s = state;
    fields->number(fields->ctx, &s->value);
    stream_visit_u32(fields, &s->seen, (uint64_t)s->period);
}

const struct indicator_stream_class stream_ema = {ema_bytes, ema_open, ema_update, ema_peek, ema_visit};
