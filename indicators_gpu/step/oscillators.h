/* Oscillators that are written once, bar by bar (STEPS in indicator_rows.h). See step/dispatch.h for a row's
 * functions.
 *
 * Sources: TA-Lib's definitions (TSI, SMI, KDJ and RVI among them); W. Blau, Momentum, Direction, and
 * Divergence, 1995, for TSI and SMI; G. Lane for the stochastic that KDJ is made of; D. Dorsey, 1993, revised
 * 1995, for RVI. */
#ifndef INDICATORS_GPU_STEP_OSCILLATORS_H
#define INDICATORS_GPU_STEP_OSCILLATORS_H

#include "indicators_gpu/step/momentum.h"
#include "indicators_gpu/step/statistics.h"

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
    out[0] = sum < AVERAGE_FADED ? 0.0 : 100.0 * ((gain - loss) / sum);
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

/* W. Blau's double smoothing: a value, and what it is measured by, each averaged, and averaged again. */
struct blau_state {
    struct ema_state value[2], measure[2];
};

STEP void blau_start(struct blau_state *s, double first, double second)
{
    ema_start(&s->value[0], first);
    ema_start(&s->value[1], second);
    ema_start(&s->measure[0], first);
    ema_start(&s->measure[1], second);
}

/* True, and the value in per cent of its measure, 0 where that has faded, once there are averages. */
STEP bool blau_step(struct blau_state *s, double value, double measure, double *ret)
{
    bool first = ema_step(&s->value[0], value);
    ema_step(&s->measure[0], measure);
    if (!first)
        return false;
    bool second = ema_step(&s->value[1], s->value[0].value);
    ema_step(&s->measure[1], s->measure[0].value);
    if (!second)
        return false;
    *ret = s->measure[1].value >= AVERAGE_FADED ? 100.0 * s->value[1].value / s->measure[1].value : 0.0;
    return true;
}

/* True strength: the change as a share of its size. */
struct step_tsi {
    struct blau_state smooth;
    struct delta_state close;
};

STEP size_t step_tsi_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_tsi_start(struct step_tsi *s, const double options[])
{
    blau_start(&s->smooth, options[0], options[1]);
    delta_start(&s->close);
}

STEP bool step_tsi_next(struct step_tsi *s, const struct indicator_bar *bar, double out[])
{
    double change;
    return delta_step(&s->close, bar->close, &change) && blau_step(&s->smooth, change, fabs(change), out);
}

/* Stochastic momentum: the close's distance from the window's middle as a share of half its range. Options:
 * the window, the second average's period, the first one's, and the signal's. */
struct step_smi {
    struct range_window window;
    struct blau_state smooth;
    struct ema_state signal;
};

STEP size_t step_smi_cells(const double options[])
{
    return range_window_cells(options[0]);
}

STEP void step_smi_start(struct step_smi *s, const double options[])
{
    range_window_start(&s->window, options[0]);
    blau_start(&s->smooth, options[2], options[1]);
    ema_start(&s->signal, options[3]);
}

STEP bool step_smi_next(struct step_smi *s, const struct indicator_bar *bar, double out[])
{
    double lowest, highest, smi;
    if (!range_window_push(&s->window, (double *)(s + 1), bar->high, bar->low, &lowest, &highest))
        return false;
    double off = bar->close - (highest + lowest) * 0.5, half = 0.5 * (highest - lowest);
    if (!blau_step(&s->smooth, off, half, &smi) || !ema_step(&s->signal, smi))
        return false;
    out[0] = smi;
    out[1] = s->signal.value;
    return true;
}

/* The stochastic with Wilder's averages, and J, which overshoots. */
struct step_kdj {
    struct range_window window;
    struct wilder_state k, d;
};

STEP size_t step_kdj_cells(const double options[])
{
    return range_window_cells(options[0]);
}

STEP void step_kdj_start(struct step_kdj *s, const double options[])
{
    range_window_start(&s->window, options[0]);
    wilder_start(&s->k, options[1]);
    wilder_start(&s->d, options[2]);
}

STEP bool step_kdj_next(struct step_kdj *s, const struct indicator_bar *bar, double out[])
{
    double lowest, highest;
    if (!range_window_push(&s->window, (double *)(s + 1), bar->high, bar->low, &lowest, &highest))
        return false;
    if (!wilder_step(&s->k, stochastic_value(bar->close, lowest, highest)) || !wilder_step(&s->d, s->k.value))
        return false;
    out[0] = s->k.value;
    out[1] = s->d.value;
    out[2] = 3.0 * s->k.value - 2.0 * s->d.value;
    return true;
}

/* D. Dorsey's relative volatility: RSI of the deviation, which counts as a gain where the close rose and as a
 * loss where it fell. Cells: the closes. */
struct step_rvi {
    struct ring closes;
    struct wilder_state up, down;
};

STEP size_t step_rvi_cells(const double options[])
{
    return (size_t)options[1];
}

STEP void step_rvi_start(struct step_rvi *s, const double options[])
{
    ring_start(&s->closes, options[1]);
    wilder_start(&s->up, options[0]);
    wilder_start(&s->down, options[0]);
}

STEP bool step_rvi_next(struct step_rvi *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1);
    if (!ring_push(&s->closes, cells, bar->close))
        return false;
    double before = ring_at(&s->closes, cells, 1);
    double deviation = sqrt(spread_of_ring(&s->closes, cells).variance);
    bool there = wilder_step(&s->up, bar->close > before ? deviation : 0.0);
    wilder_step(&s->down, bar->close < before ? deviation : 0.0);
    if (!there)
        return false;
    double sum = s->up.value + s->down.value;
    out[0] = sum >= AVERAGE_FADED ? 100.0 * (s->up.value / sum) : 50.0;
    return true;
}

#endif
