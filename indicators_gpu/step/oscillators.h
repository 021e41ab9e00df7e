/* Oscillators that are written once, bar by bar (STEPS in indicator_rows.h). See step/dispatch.h for a row's
 * functions. */
#ifndef INDICATORS_GPU_STEP_OSCILLATORS_H
#define INDICATORS_GPU_STEP_OSCILLATORS_H

#include "indicators_gpu/step/momentum.h"

/* PPO without the division. */
struct step_apo {
    struct step_ppo averages;
};

STEP size_t step_apo_cells(const double options[])
{
    return step_ppo_cells(options);
}

STEP void step_apo_start(struct step_apo *s, const double options[])
{
    step_ppo_start(&s->averages, options);
}

STEP bool step_apo_next(struct step_apo *s, const struct indicator_bar *bar, double out[])
{
    double fast, slow;
    if (!ppo_averages(&s->averages, bar->close, &fast, &slow))
        return false;
    out[0] = fast - slow;
    return true;
}

/* T. Chande's momentum oscillator, with Wilder's averages as TA-Lib has it. */
struct step_cmo {
    struct rsi_state rsi;
};

STEP size_t step_cmo_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_cmo_start(struct step_cmo *s, const double options[])
{
    rsi_start(&s->rsi, options[0]);
}

STEP bool step_cmo_next(struct step_cmo *s, const struct indicator_bar *bar, double out[])
{
    double rsi;
    if (!rsi_step(&s->rsi, bar->close, &rsi))
        return false;
    double gain = s->rsi.gain, loss = s->rsi.loss, sum = gain + loss;
    out[0] = sum < RSI_FADED ? 0.0 : 100.0 * ((gain - loss) / sum);
    return true;
}

/* MACD of 12 and 26 bars with G. Appel's rounded weights. */
struct step_macdfix {
    struct macd_state macd;
};

#define MACDFIX_FAST 0.15
#define MACDFIX_SLOW 0.075

STEP size_t step_macdfix_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_macdfix_start(struct step_macdfix *s, const double options[])
{
    macd_start(&s->macd, 12.0, 26.0, options[0]);
    s->macd.fast.k = MACDFIX_FAST;
    s->macd.slow.k = MACDFIX_SLOW;
}

STEP bool step_macdfix_next(struct step_macdfix *s, const struct indicator_bar *bar, double out[])
{
    struct macd_values values;
    if (!macd_step(&s->macd, bar->close, &values))
        return false;
    out[0] = values.macd;
    out[1] = values.signal;
    out[2] = values.hist;
    return true;
}

/* MACD of simple averages: MACDEXT with its three types 0. Cells: the closes, then the signal's window. */
struct step_macdext {
    struct ring closes, signal;
    uint32_t fast, slow;
};

STEP size_t step_macdext_cells(const double options[])
{
    return (size_t)(options[0] > options[1] ? options[0] : options[1]) + (size_t)options[2];
}

STEP void step_macdext_start(struct step_macdext *s, const double options[])
{
    bool reversed = options[0] > options[1];
    s->fast = (uint32_t)options[reversed ? 1 : 0];
    s->slow = (uint32_t)options[reversed ? 0 : 1];
    ring_start(&s->closes, (double)s->slow);
    ring_start(&s->signal, options[2]);
}

STEP bool step_macdext_next(struct step_macdext *s, const struct indicator_bar *bar, double out[])
{
    double *closes = (double *)(s + 1), *window = closes + s->closes.length, slow, signal;
    if (!ring_mean(&s->closes, closes, bar->close, &slow))
        return false;
    double macd = ring_sum_newest(&s->closes, closes, s->fast) / (double)s->fast - slow;
    if (!ring_mean(&s->signal, window, macd, &signal))
        return false;
    out[0] = macd;
    out[1] = signal;
    out[2] = macd - signal;
    return true;
}

#endif
