#include "trainer/training/device_time.h"

struct device_rates {
    double step_s, minibatch_s; /* launches and latency, whatever the networks */
    double flops_s[PPO_BF16 + 1];
};

/* The fast end is an H100 as docs/gpu-results.md predicts it: reference-4080's rollout has 66 us a step,
 * 64x64 0.13 ms a minibatch, and the matrix rate. The slow end has a quarter of the launches' rate and a
 * twentieth of the products', some card of several years ago. */
static const struct device_rates fast = {66e-6,
                                         0.13e-3,
                                         {[PPO_FLOAT32] = 50e12, [PPO_TF32] = 310e12, 620e12}},
                                 slow = {260e-6, 0.5e-3, {[PPO_FLOAT32] = 5e12, [PPO_TF32] = 15e12, 31e12}};

static double seconds(const struct device_iteration *it, const struct device_rates *rates,
                      enum ppo_precision precision)
{
    return (double)it->steps * rates->step_s + (double)it->minibatches * rates->minibatch_s +
           (it->flops_rollout + it->flops_update) / rates->flops_s[precision];
}

struct device_time training_device_time(const struct device_iteration *iteration, int64_t iterations,
                                        enum ppo_precision precision)
{
    return (struct device_time){(double)iterations * seconds(iteration, &fast, precision),
                                (double)iterations * seconds(iteration, &slow, precision)};
}
