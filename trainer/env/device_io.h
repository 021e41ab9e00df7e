/* What a step on a device reads and writes, all of it in the device's memory (plain memory where the tests'
 * CPU is the device). For callers that queue steps (device.h) and for the module (cuda/abi.h). */
#ifndef TRAINER_ENV_DEVICE_IO_H
#define TRAINER_ENV_DEVICE_IO_H

#include <stdbool.h>

/* Addresses on the device, of the types and shapes of env_io, env_observe() and env_masks(). */
struct env_device_io {
    const void *actions;    /* float; NULL: no step, only observations and masks of the current state */
    bool actions_by_column; /* [action_size][copies] */
    void *rewards;          /* float [copies] */
    void *terminated;       /* uint8_t [copies] */
    void *truncated;        /* uint8_t [copies] */
    void *final_obs;        /* float [copies][observation_size], or NULL; written with ENV_SAME_STEP */
    void *observations;     /* float [copies][observation_size] after the step, or NULL: none */
    void *masks;            /* uint8_t, what may be done next, or NULL: none */
};

#endif
