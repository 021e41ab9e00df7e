/* How long a training takes on a device that is not here: a range, predicted from counts and stated rates. No
 * device has been measured yet; docs/gpu-results.md has where the rates of the fast end are from. */
#ifndef TRAINER_TRAINING_DEVICE_TIME_H
#define TRAINER_TRAINING_DEVICE_TIME_H

#include <stdint.h>

#include "trainer/ppo/params.h"

/* The rates, of the fast end and the slow one. Fast is an H100 as docs/gpu-results.md predicts it:
 * reference-4080's rollout has 51 us a step of 10 launches, 64x64 has 0.13 ms a minibatch, and the matrix
 * rate. Slow has a quarter of the launches' rate and a twentieth of the products', some card of several years
 * ago. */
#define DEVICE_LAUNCH_US_FAST    5.1 /* of a rollout's step: a launch and its latency */
#define DEVICE_LAUNCH_US_SLOW    20
#define DEVICE_MINIBATCH_MS_FAST 0.13 /* launches and latency, whatever the networks */
#define DEVICE_MINIBATCH_MS_SLOW 0.5
#define DEVICE_TFLOPS_BF16_FAST  620
#define DEVICE_TFLOPS_BF16_SLOW  31
#define DEVICE_TFLOPS_TF32_FAST  310
#define DEVICE_TFLOPS_TF32_SLOW  15
#define DEVICE_TFLOPS_F32_FAST   50
#define DEVICE_TFLOPS_F32_SLOW   5

/* They, for people. */
#define DEVICE_TIME_TEXT(x)            #x
#define DEVICE_TIME_RANGE(of)          DEVICE_TIME_RANGE_(of##_FAST, of##_SLOW)
#define DEVICE_TIME_RANGE_(fast, slow) DEVICE_TIME_TEXT(fast) " to " DEVICE_TIME_TEXT(slow)
#define DEVICE_TIME_STEPS              DEVICE_TIME_RANGE(DEVICE_LAUNCH_US) " us a launch of a step, "
#define DEVICE_TIME_MINIBATCH          DEVICE_TIME_RANGE(DEVICE_MINIBATCH_MS) " ms a minibatch"
#define DEVICE_TIME_BF16               DEVICE_TIME_RANGE(DEVICE_TFLOPS_BF16) " TFLOP/s in bf16, "
#define DEVICE_TIME_TF32               DEVICE_TIME_RANGE(DEVICE_TFLOPS_TF32) " in tf32, "
#define DEVICE_TIME_F32                DEVICE_TIME_RANGE(DEVICE_TFLOPS_F32) " in float32"
#define DEVICE_TIME_LAUNCHES           DEVICE_TIME_STEPS DEVICE_TIME_MINIBATCH
#define DEVICE_TIME_PRODUCTS           "products at " DEVICE_TIME_BF16 DEVICE_TIME_TF32 DEVICE_TIME_F32
#define DEVICE_TIME_WORDS              "predicted, not measured: " DEVICE_TIME_LAUNCHES ", " DEVICE_TIME_PRODUCTS

/* An iteration's launches of all its rollout's steps (ppo_learner_launches() a step), minibatches, and
 * floating-point operations. */
struct device_iteration {
    int64_t launches, minibatches;
    double flops_rollout, flops_update;
};
struct device_time {
    double least_s, most_s;
};

struct device_time training_device_time(const struct device_iteration *iteration, int64_t iterations,
                                        enum ppo_precision precision);

#endif
