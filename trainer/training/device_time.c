#include "trainer/training/device_time.h"

struct device_rates {
    double launch_s, minibatch_s;
    double flops_s[PPO_BF16 + 1];
};

static const struct device_rates fast = {DEVICE_LAUNCH_US_FAST * 1e-6,
                                         DEVICE_MINIBATCH_MS_FAST * 1e-3,
                                         {[PPO_FLOAT32] = DEVICE_TFLOPS_F32_FAST * 1e12,
                                          [PPO_TF32] = DEVICE_TFLOPS_TF32_FAST * 1e12,
                                          [PPO_BF16] = DEVICE_TFLOPS_BF16_FAST * 1e12}},
                                 slow = {DEVICE_LAUNCH_US_SLOW * 1e-6,
                                         DEVICE_MINIBATCH_MS_SLOW * 1e-3,
                                         {[PPO_FLOAT32] = DEVICE_TFLOPS_F32_SLOW * 1e12,
                                          [PPO_TF32] = DEVICE_TFLOPS_TF32_SLOW * 1e12,
                                          [PPO_BF16] = DEVICE_TFLOPS_BF16_SLOW * 1e12}};

static double seconds(const struct device_iteration *it, const struct device_rates *rates,
                      enum ppo_precision precision)
{
    return (double)it->launches * rates->launch_s + (double)it->minibatches * rates->minibatch_s +
           (it->flops_rollout + it->flops_update) / rates->flops_s[precision];
}

struct device_time training_device_time(const struct device_iteration *iteration, int64_t iterations,
                                        enum ppo_precision precision)
{
    return (struct device_time){(double)iterations * seconds(iteration, &fast, precision),
                                (double)iterations * seconds(iteration, &slow, precision)};
}
