/* Volume, one bar at a time. See step/dispatch.h for what a row gives. */
#ifndef INDICATORS_GPU_STEP_VOLUME_H
#define INDICATORS_GPU_STEP_VOLUME_H

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/recurrence.h"

#define STEP_ROWS_VOLUME(X)

#endif
