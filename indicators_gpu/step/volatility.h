/* Volatility and channels, one bar at a time. See step/dispatch.h for what a row gives. */
#ifndef INDICATORS_GPU_STEP_VOLATILITY_H
#define INDICATORS_GPU_STEP_VOLATILITY_H

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/recurrence.h"

#define STEP_ROWS_VOLATILITY(X) X(ATR, atr)

struct step_atr {
    struct atr_state atr;
};

STEP size_t step_atr_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_atr_start(struct step_atr *s, const double options[])
{
    atr_start(&s->atr, options[0]);
}

STEP bool step_atr_next(struct step_atr *s, const struct indicator_bar *bar, double out[])
{
    return atr_step(&s->atr, bar->high, bar->low, bar->close, &out[0]);
}

#endif
