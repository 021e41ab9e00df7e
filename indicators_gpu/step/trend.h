/* Trend, one bar at a time. See step/dispatch.h for what a row gives. */
#ifndef INDICATORS_GPU_STEP_TREND_H
#define INDICATORS_GPU_STEP_TREND_H

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/recurrence.h"

#define STEP_ROWS_TREND(X)

#endif
