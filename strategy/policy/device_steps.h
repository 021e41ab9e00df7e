/* A model as a device takes it: its parameters, and the steps of a forward pass of its policy. */
#ifndef STRATEGY_POLICY_DEVICE_STEPS_H
#define STRATEGY_POLICY_DEVICE_STEPS_H

#include "strategy/policy/cuda/abi.h"
#include "strategy/policy/model_internal.h"

/* Owned, and the model's no more: it may go while a device is still at it. */
struct device_model {
    struct gpu_policy_setup setup;
    float *floats;
    struct gpu_policy_step *steps;
};

/* 0, for policy_device_model_finish(); -ENOMEM. */
int policy_device_model_init(struct device_model *ret, const struct net_model *model);
void policy_device_model_finish(struct device_model *model); /* fine on a zeroed one */

#endif
