/* Whether step_next() may take a bar, for host and device. */
#ifndef INDICATORS_GPU_STEP_BAR_H
#define INDICATORS_GPU_STEP_BAR_H

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/recurrence.h"

enum bar_kind { BAR_FINITE, BAR_HAS_NAN, BAR_HAS_INFINITY };

/* Only the columns in `inputs` are checked; an infinity takes precedence over a NaN. */
STEP enum bar_kind bar_kind(unsigned inputs, const struct indicator_bar *bar)
{
    const double values[INDICATOR_COLUMNS] = {bar->open,  bar->high,   bar->low,
                                              bar->close, bar->volume, bar->time};
    enum bar_kind kind = BAR_FINITE;
    for (unsigned c = 0; c < INDICATOR_COLUMNS; c++) {
        if (!(inputs & 1u << c) || isfinite(values[c]))
            continue;
        if (!isnan(values[c]))
            return BAR_HAS_INFINITY;
        kind = BAR_HAS_NAN;
    }
    return kind;
}

#endif
