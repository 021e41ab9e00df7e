/* Moving averages, one bar at a time. See step/dispatch.h for what a row gives. */
#ifndef INDICATORS_GPU_STEP_MOVING_AVERAGES_H
#define INDICATORS_GPU_STEP_MOVING_AVERAGES_H

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/ring.h"

#define STEP_ROWS_MOVING_AVERAGES(X) X(SMA, sma) X(EMA, ema)

struct step_sma {
    double period;
    struct ring ring;
};

STEP size_t step_sma_cells(const double options[])
{
    return (size_t)options[0];
}

STEP void step_sma_start(struct step_sma *s, const double options[])
{
    s->period = options[0];
    ring_start(&s->ring, options[0]);
}

STEP bool step_sma_next(struct step_sma *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1);
    if (!ring_push(&s->ring, cells, bar->close))
        return false;
    out[0] = ring_sum(&s->ring, cells) / s->period;
    return true;
}

struct step_ema {
    struct ema_state ema;
};

STEP size_t step_ema_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_ema_start(struct step_ema *s, const double options[])
{
    ema_start(&s->ema, options[0]);
}

STEP bool step_ema_next(struct step_ema *s, const struct indicator_bar *bar, double out[])
{
    if (!ema_step(&s->ema, bar->close))
        return false;
    out[0] = s->ema.value;
    return true;
}

#endif
