/* Lines that add up from the first bar on, written once (STEPS in indicator_rows.h). See step/dispatch.h for
 * a row's functions.
 *
 * Sources: TA-Lib's definitions (PVT, NVI, PVI, WAD); P. Dysart and N. Fosback for the two volume indices,
 * which begin at 1000, L. Williams for WAD, without volume as S. Achelis, Technical Analysis from A to Z, has
 * it. */
#ifndef INDICATORS_GPU_STEP_LINES_H
#define INDICATORS_GPU_STEP_LINES_H

#include <float.h>

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/recurrence.h"

#define VOLUME_INDEX_START 1000.0

/* The change of a close as a share of the one before; 0 after 0. */
STEP double share_of_change(double close, double before)
{
    return before != 0.0 ? (close - before) / before : 0.0;
}

struct step_pvt {
    struct line_state line;
};

STEP size_t step_pvt_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_pvt_start(struct step_pvt *s, const double options[])
{
    (void)options;
    line_start(&s->line);
}

STEP bool step_pvt_next(struct step_pvt *s, const struct indicator_bar *bar, double out[])
{
    if (s->line.any)
        s->line.value += share_of_change(bar->close, s->line.before) * bar->volume;
    s->line.before = bar->close;
    s->line.any = 1;
    out[0] = s->line.value;
    return true;
}

/* A product of the changes of those bars whose volume is below, or above, that of the bar before. */
struct volume_index {
    double close, volume, value; /* the last bar's, the product */
    uint64_t any;                /* whether there was a bar */
};

STEP void volume_index_start(struct volume_index *s)
{
    s->close = s->volume = 0.0;
    s->value = VOLUME_INDEX_START;
    s->any = 0;
}

/* `counts`: whether this bar's change does. The last finite value stays where the next is none. */
STEP double volume_index_next(struct volume_index *s, const struct indicator_bar *bar, bool counts)
{
    double next = s->value + share_of_change(bar->close, s->close) * s->value;
    if (s->any && counts && fabs(next) <= DBL_MAX)
        s->value = next;
    s->close = bar->close;
    s->volume = bar->volume;
    s->any = 1;
    return s->value;
}

struct step_nvi {
    struct volume_index index;
};

STEP size_t step_nvi_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_nvi_start(struct step_nvi *s, const double options[])
{
    (void)options;
    volume_index_start(&s->index);
}

STEP bool step_nvi_next(struct step_nvi *s, const struct indicator_bar *bar, double out[])
{
    out[0] = volume_index_next(&s->index, bar, bar->volume < s->index.volume);
    return true;
}

struct step_pvi {
    struct volume_index index;
};

STEP size_t step_pvi_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_pvi_start(struct step_pvi *s, const double options[])
{
    (void)options;
    volume_index_start(&s->index);
}

STEP bool step_pvi_next(struct step_pvi *s, const struct indicator_bar *bar, double out[])
{
    out[0] = volume_index_next(&s->index, bar, bar->volume > s->index.volume);
    return true;
}

struct step_wad {
    struct line_state line;
};

STEP size_t step_wad_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_wad_start(struct step_wad *s, const double options[])
{
    (void)options;
    line_start(&s->line);
}

STEP bool step_wad_next(struct step_wad *s, const struct indicator_bar *bar, double out[])
{
    double before = s->line.before, low = before < bar->low ? before : bar->low;
    double high = before > bar->high ? before : bar->high;
    if (s->line.any && bar->close > before)
        s->line.value += bar->close - low;
    else if (s->line.any && bar->close < before)
        s->line.value += bar->close - high;
    s->line.before = bar->close;
    s->line.any = 1;
    out[0] = s->line.value;
    return true;
}

#endif
