#include "indicators_gpu/fast/rsi.h"

void fast_rsi(struct rsi_state *s, const double close[], size_t n, double rsi[])
{
    size_t i = 0, period = (size_t)s->period;
    for (; i < n && s->seen <= period; i++)
        if (!rsi_step(s, close[i], &rsi[i]))
            rsi[i] = 0.0;

    double before = s->before, gain = s->gain, loss = s->loss, p = s->period;
    for (; i < n; i++) {
        double change = close[i] - before;
        before = close[i];
        gain = wilder_next(gain, change > 0.0 ? change : 0.0, p);
        loss = wilder_next(loss, change < 0.0 ? -change : 0.0, p);
        rsi[i] = rsi_value(gain, loss);
    }
    s->before = before;
    s->gain = gain;
    s->loss = loss;
}
