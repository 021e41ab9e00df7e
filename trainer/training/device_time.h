/* How long a training takes on a device that is not here: a range, predicted from counts and stated rates. No
 * device has been measured yet; docs/gpu-results.md has where the rates of the fast end are from. */
#ifndef TRAINER_TRAINING_DEVICE_TIME_H
#define TRAINER_TRAINING_DEVICE_TIME_H

#include <stdint.h>

#include "trainer/ppo/params.h"

/* The assumptions, for people. */
#define DEVICE_TIME_LAUNCHES "66 to 260 us a step of all copies, 0.13 to 0.5 ms a minibatch"
#define DEVICE_TIME_PRODUCTS "products at 620 to 31 TFLOP/s in bf16, 310 to 15 in tf32, 50 to 5 in float32"
#define DEVICE_TIME_WORDS    "predicted, not measured: " DEVICE_TIME_LAUNCHES ", " DEVICE_TIME_PRODUCTS

/* An iteration's steps of all copies, minibatches, and floating-point operations. */
struct device_iteration {
    int64_t steps, minibatches;
    double flops_rollout, flops_update;
};
struct device_time {
    double least_s, most_s;
};

struct device_time training_device_time(const struct device_iteration *iteration, int64_t iterations,
                                        enum ppo_precision precision);

#endif
