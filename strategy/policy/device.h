/* Inference on a device, where it is asked for: the same bits as on the CPU (strategy/policy/trained.h), and
 * the CPU does it whenever the device cannot.
 *
 * A device has a thread of its own, which alone talks to it: net_model_heads() and net_model_act() of a model
 * that was put there hand it the observation and wait at most NET_DEVICE_WAIT_MS. Where it fails or does not
 * answer in that time, the CPU answers, with the same bits, and the device is left for good: no caller
 * waits for it again. Any thread may call; one after the other is served. */
#ifndef STRATEGY_POLICY_DEVICE_H
#define STRATEGY_POLICY_DEVICE_H

#include "strategy/policy/trained.h"

struct net_device;

enum { NET_DEVICE_ERROR_MAX = 512, NET_DEVICE_NAME_MAX = 128, NET_DEVICE_WAIT_MS = 50 };

/* Opens the GPU module (`path` as gpu_module_open(); NULL: where it is found) and its device, which takes
 * seconds: not in an event loop's thread. 0, for net_device_close(); -ENOENT, -ENOEXEC, -ENODEV, -EIO,
 * -ENOMEM with a sentence: the CPU is the answer then. */
int net_device_open(const char *path, struct net_device **ret, char err[static NET_DEVICE_ERROR_MAX]);

/* After the models that were put there are destroyed. NULL is fine. Of one that does not answer the thread
 * and what it holds are left behind. */
void net_device_close(struct net_device *device);

/* "gpu: NVIDIA H200". */
const char *net_device_name(const struct net_device *device);

/* Was it left? The sentence says why; err is untouched where it was not. */
bool net_device_is_lost(struct net_device *device, char err[static NET_DEVICE_ERROR_MAX]);

/* Puts a model's parameters there, once; from now on it is computed there. 0; -ENOMEM: no room there; -EIO:
 * it was left; with a sentence, and the model is as it was. Not while another thread computes it. */
int net_model_on_device(const struct net_model *model, struct net_device *device,
                        char err[static NET_DEVICE_ERROR_MAX]);

/* The same of a policy that engines trade by; one that is not trained (a recorded one) has no model: 0. */
int policy_on_device(const struct policy *policy, struct net_device *device,
                     char err[static NET_DEVICE_ERROR_MAX]);

/* What computed its last answer: "cpu", or the device's name. A policy without a model: "cpu". */
const char *net_model_backend(const struct net_model *model);
const char *policy_backend(const struct policy *policy);

#endif
