/* Statistics, one bar at a time. See step/dispatch.h for what a row gives. */
#ifndef INDICATORS_GPU_STEP_STATISTICS_H
#define INDICATORS_GPU_STEP_STATISTICS_H

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/recurrence.h"

#define STEP_ROWS_STATISTICS(X)

#endif
