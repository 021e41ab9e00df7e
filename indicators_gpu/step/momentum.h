/* Momentum, one bar at a time. See step/dispatch.h for what a row gives. */
#ifndef INDICATORS_GPU_STEP_MOMENTUM_H
#define INDICATORS_GPU_STEP_MOMENTUM_H

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/recurrence.h"

#define STEP_ROWS_MOMENTUM(X) X(RSI, rsi) X(MACD, macd)

struct step_rsi {
    struct rsi_state rsi;
};

STEP size_t step_rsi_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_rsi_start(struct step_rsi *s, const double options[])
{
    rsi_start(&s->rsi, options[0]);
}

STEP bool step_rsi_next(struct step_rsi *s, const struct indicator_bar *bar, double out[])
{
    return rsi_step(&s->rsi, bar->close, &out[0]);
}

struct step_macd {
    struct macd_state macd;
};

STEP size_t step_macd_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_macd_start(struct step_macd *s, const double options[])
{
    macd_start(&s->macd, options[0], options[1], options[2]);
}

STEP bool step_macd_next(struct step_macd *s, const struct indicator_bar *bar, double out[])
{
    struct macd_values values;
    if (!macd_step(&s->macd, bar->close, &values))
        return false;
    out[0] = values.macd;
    out[1] = values.signal;
    out[2] = values.hist;
    return true;
}

#endif
