/* Inference on a device, where it is asked for: the same bits as on the CPU (strategy/policy/trained.h), and
 * the CPU does it whenever the device cannot.
 *
 * A device has a thread of its own, which alone talks to it: it opens the device, takes models there, and
 * answers policy_net_model_heads() and policy_net_model_act() of those. Nothing on this page waits for it but
 * those two, at most NET_DEVICE_WAIT_MS, and policy_net_device_settle(). As long as the device is being
 * opened, or a model is on its way there or from there, the CPU answers; and where the device fails, or does
 * not answer in that time, the CPU answers, with the same bits, and the device is left for good. Any thread
 * may call; one after the other is served. */
#ifndef STRATEGY_POLICY_DEVICE_H
#define STRATEGY_POLICY_DEVICE_H

#include "strategy/policy/trained.h"

struct net_device;

enum { NET_DEVICE_ERROR_MAX = 512, NET_DEVICE_NAME_MAX = 300, NET_DEVICE_WAIT_MS = 50 };

/* Begins to open the GPU module (`path` as gpu_module_open(); NULL: where it is found) and its device. 0, for
 * policy_net_device_close(); -ENOMEM, -EAGAIN with a sentence. What fails later, policy_net_device_is_lost()
 * tells. */
int policy_net_device_open(const char *path, struct net_device **ret, char err[static NET_DEVICE_ERROR_MAX]);

/* Before or after the models that were put there are destroyed. NULL is fine. Where the device does not
 * answer its thread is left behind, and what it holds. */
void policy_net_device_close(struct net_device *device);

/* Was a thread left behind, ever? Then the process must end without waiting for it. */
bool policy_net_device_abandoned(void);

/* How long callers wait for an answer, NET_DEVICE_WAIT_MS unless this says otherwise. */
void policy_net_device_patience(struct net_device *device, int wait_ms);

/* "gpu: NVIDIA H200"; "gpu" as long as it is not open. */
const char *policy_net_device_name(const struct net_device *device);

/* Was it left (there is no module or device, it has no memory, it failed or did not answer)? The sentence
 * says why; err is untouched where it was not. */
bool policy_net_device_is_lost(struct net_device *device, char err[static NET_DEVICE_ERROR_MAX]);

/* Waits until it is open and every model is there, or it is lost, at most so long: true when it is open and
 * idle. For tests and benchmarks. */
bool policy_net_device_settle(struct net_device *device, int timeout_ms);

/* Has a model's parameters taken there, once: as soon as they are, it is computed there. 0; -ENOMEM; -EIO:
 * the device was left; -EALREADY: it has a place; with a sentence, and the model is as it was. Not while
 * another thread computes it. */
int policy_net_model_on_device(struct net_model *model, struct net_device *device,
                               char err[static NET_DEVICE_ERROR_MAX]);

/* The same of a policy that engines trade by, of an ensemble all members; a recorded one has no model: 0. */
int policy_on_device(const struct policy *policy, struct net_device *device,
                     char err[static NET_DEVICE_ERROR_MAX]);

/* What computed its last answer: the device's name, or policy_net_model_cpu(), of an ensemble where the CPU
 * computed any member; a policy without a model: its backend. The text lives as long as the device. */
const char *policy_net_model_backend(const struct net_model *model);
const char *policy_backend(const struct policy *policy);

#endif
