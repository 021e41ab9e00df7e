/* A study's device. A context does not survive a fork: the process that workers are forked from has none, and
 * each opens its own. */
#ifndef TRAINER_STUDY_DEVICE_H
#define TRAINER_STUDY_DEVICE_H

#include "indicators_gpu/module.h"
#include "trainer/study/trial.h"

/* Keeps the device's context from one learner to the next, while this process trains. 0, and *ret for
 * gpu_module_close(), NULL where the configuration wants no device, or auto found none; with device = cuda
 * the error of gpu_module_open() and its sentence. */
int study_device_open(const struct train_config *config, struct gpu_module **ret,
                      char err[static TRIAL_ERROR_MAX]);

/* Is there the device that device = cuda requires? Opened in another process, so that this one may still
 * fork. 0, or as study_device_open(). */
int study_device_check(const struct train_config *config, char err[static TRIAL_ERROR_MAX]);

#endif
