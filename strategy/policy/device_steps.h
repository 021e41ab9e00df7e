/* A model in the form that a device needs: its parameters, and the steps of a forward pass of its policy. */
#ifndef STRATEGY_POLICY_DEVICE_STEPS_H
#define STRATEGY_POLICY_DEVICE_STEPS_H

#include "strategy/policy/cuda/abi.h"
#include "strategy/policy/model_internal.h"

/* Owned, independent of the model: that may be destroyed while a device still reads it. */
struct device_model {
    struct gpu_policy_setup setup;
    float *floats;
    struct gpu_policy_step *steps;
};

/* 0, for policy_device_model_finish(); -ENOMEM. */
int policy_device_model_init(struct device_model *ret, const struct net_model *model);
void policy_device_model_finish(struct device_model *model); /* fine on a zeroed one */

#endif
