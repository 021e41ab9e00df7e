/* Rows that are an average of something, written once, bar by bar (STEPS in indicator_rows.h). See
 * step/dispatch.h for a row's functions.
 *
 * Sources: TA-Lib's definitions (RMA, ZLEMA, EFI, ERI, PVO, CVI, MASSI); J. W. Wilder for RMA, J. Ehlers
 * for ZLEMA, A. Elder, Trading for a Living, 1993, for EFI and ERI, M. Chaikin for CVI, D. Dorsey for MASSI.
 */
#ifndef INDICATORS_GPU_STEP_SMOOTHED_H
#define INDICATORS_GPU_STEP_SMOOTHED_H

#include "indicators_gpu/step/momentum.h"

struct step_rma {
    struct wilder_state rma;
};

STEP size_t step_rma_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_rma_start(struct step_rma *s, const double options[])
{
    wilder_start(&s->rma, options[0]);
}

STEP bool step_rma_next(struct step_rma *s, const struct indicator_bar *bar, double out[])
{
    if (!wilder_step(&s->rma, bar->close))
        return false;
    out[0] = s->rma.value;
    return true;
}

/* The average of the close and its change over half the period, by which the average lags. Cells: the closes
 * of that time. */
struct step_zlema {
    struct ema_state ema;
    struct ring closes;
};

/* Bars, rounded down. */
STEP size_t zlema_lag(const double options[])
{
    return ((size_t)options[0] - 1) / 2;
}

STEP size_t step_zlema_cells(const double options[])
{
    return zlema_lag(options) + 1;
}

STEP void step_zlema_start(struct step_zlema *s, const double options[])
{
    ema_start(&s->ema, options[0]);
    ring_start(&s->closes, (double)zlema_lag(options) + 1.0);
}

STEP bool step_zlema_next(struct step_zlema *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1);
    if (!ring_push(&s->closes, cells, bar->close))
        return false;
    if (!ema_step(&s->ema, 2.0 * bar->close - cells[s->closes.next]))
        return false;
    out[0] = s->ema.value;
    return true;
}

/* The average of the close's change times the volume. */
struct step_efi {
    struct ema_state ema;
    struct delta_state close;
};

STEP size_t step_efi_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_efi_start(struct step_efi *s, const double options[])
{
    ema_start(&s->ema, options[0]);
    delta_start(&s->close);
}

/* The average of one value is the value: y + (x - y) is not, where y is far larger. */
STEP bool step_efi_next(struct step_efi *s, const struct indicator_bar *bar, double out[])
{
    double change;
    if (!delta_step(&s->close, bar->close, &change))
        return false;
    double force = change * bar->volume;
    if (!ema_step(&s->ema, force))
        return false;
    out[0] = s->ema.period > 1.0 ? s->ema.value : force;
    return true;
}

/* The high and the low, less the close's average. */
struct step_eri {
    struct ema_state ema;
};

STEP size_t step_eri_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_eri_start(struct step_eri *s, const double options[])
{
    ema_start(&s->ema, options[0]);
}

STEP bool step_eri_next(struct step_eri *s, const struct indicator_bar *bar, double out[])
{
    if (!ema_step(&s->ema, bar->close))
        return false;
    out[0] = bar->high - s->ema.value;
    out[1] = bar->low - s->ema.value;
    return true;
}

/* PPO of the volume. */
struct step_pvo {
    struct step_ppo averages;
};

STEP size_t step_pvo_cells(const double options[])
{
    return step_ppo_cells(options);
}

STEP void step_pvo_start(struct step_pvo *s, const double options[])
{
    step_ppo_start(&s->averages, options);
}

STEP bool step_pvo_next(struct step_pvo *s, const struct indicator_bar *bar, double out[])
{
    double fast, slow;
    if (!ppo_averages(&s->averages, bar->volume, &fast, &slow))
        return false;
    out[0] = ppo_value(fast, slow);
    return true;
}

/* The change of the range's average, in per cent; 0 after one that has faded, whose digits are lost. Cells:
 * the averages since. */
struct step_cvi {
    struct ema_state range;
    struct ring averages;
};

STEP size_t step_cvi_cells(const double options[])
{
    return (size_t)options[1] + 1;
}

STEP void step_cvi_start(struct step_cvi *s, const double options[])
{
    ema_start(&s->range, options[0]);
    ring_start(&s->averages, options[1] + 1.0);
}

STEP bool step_cvi_next(struct step_cvi *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1);
    if (!ema_step(&s->range, bar->high - bar->low) || !ring_push(&s->averages, cells, s->range.value))
        return false;
    double before = cells[s->averages.next];
    out[0] = before >= AVERAGE_FADED ? 100.0 * ((s->range.value - before) / before) : 0.0;
    return true;
}

/* The sum of the range's average as a ratio to its own average, 1 where nothing moved. Cells: the ratios. */
struct step_massi {
    struct ema_state once, twice;
    struct ring ratios;
};

STEP size_t step_massi_cells(const double options[])
{
    return (size_t)options[1];
}

STEP void step_massi_start(struct step_massi *s, const double options[])
{
    ema_start(&s->once, options[0]);
    ema_start(&s->twice, options[0]);
    ring_start(&s->ratios, options[1]);
}

STEP bool step_massi_next(struct step_massi *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1);
    if (!ema_step(&s->once, bar->high - bar->low) || !ema_step(&s->twice, s->once.value))
        return false;
    double ratio = s->twice.value != 0.0 ? s->once.value / s->twice.value : 1.0;
    if (!ring_push(&s->ratios, cells, ratio))
        return false;
    out[0] = ring_sum(&s->ratios, cells);
    return true;
}

#endif
