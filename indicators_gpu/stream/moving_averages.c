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

const struct indicator_stream_class stream_sma = {sma_bytes, sma_start, sma_update, sma_peek};

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

const struct indicator_stream_class stream_ema = {ema_bytes, ema_open, ema_update, ema_peek};
