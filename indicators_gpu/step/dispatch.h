/* Any row by its number, one bar at a time: for the streams on the host and the exact kernels on a device.
 *
 * A row of indicator_rows.h defines, in its family's file,
 *   struct step_name                  its memory without pointers, of 8-byte alignment; doubles ("cells") may
 *                                     follow it, at (double *)(s + 1)
 *   step_name_cells(options)          how many doubles follow
 *   step_name_start(s, options)       the memory after no bar; it need not touch the cells
 *   step_name_next(s, bar, out)       a finite bar in; true and the outputs once they exist
 * The bytes of a memory are the same on host and device, so that it can be copied between them. */
#ifndef INDICATORS_GPU_STEP_DISPATCH_H
#define INDICATORS_GPU_STEP_DISPATCH_H

#include <assert.h>

#include "indicators_gpu/indicator_rows.h"
#include "indicators_gpu/step/cycles.h"
#include "indicators_gpu/step/lines.h"
#include "indicators_gpu/step/momentum.h"
#include "indicators_gpu/step/moving_averages.h"
#include "indicators_gpu/step/oscillators.h"
#include "indicators_gpu/step/smoothed.h"
#include "indicators_gpu/step/statistics.h"
#include "indicators_gpu/step/trend.h"
#include "indicators_gpu/step/volatility.h"
#include "indicators_gpu/step/volume.h"
#include "indicators_gpu/step/window_rows.h"

#define STEP_ALIGNED(number, ID, name, kernels) \
    static_assert(sizeof(struct step_##name) % sizeof(double) == 0, "cells follow step_" #name);
INDICATOR_ROWS(STEP_ALIGNED)
#undef STEP_ALIGNED

/* Bytes of a row's memory; 0 for an unknown number. */
STEP size_t step_bytes(unsigned id, const double options[])
{
#define STEP_CASE(number, ID, name, kernels) \
    case INDICATOR_##ID: \
        return sizeof(struct step_##name) + step_##name##_cells(options) * sizeof(double);
    switch (id) {
        INDICATOR_ROWS(STEP_CASE)
    }
#undef STEP_CASE
    return 0;
}

STEP void step_start(unsigned id, void *state, const double options[])
{
#define STEP_CASE(number, ID, name, kernels) \
    case INDICATOR_##ID: \
        step_##name##_start((struct step_##name *)state, options); \
        break;
    switch (id) {
        INDICATOR_ROWS(STEP_CASE)
    }
#undef STEP_CASE
}

STEP bool step_next(unsigned id, void *state, const struct indicator_bar *bar, double out[])
{
#define STEP_CASE(number, ID, name, kernels) \
    case INDICATOR_##ID: \
        return step_##name##_next((struct step_##name *)state, bar, out);
    switch (id) {
        INDICATOR_ROWS(STEP_CASE)
    }
#undef STEP_CASE
    return false;
}

#endif
