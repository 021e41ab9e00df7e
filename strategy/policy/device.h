/* Optional inference on a device: the same bits as on the CPU (strategy/policy/trained.h), and the CPU
 * computes whenever the device cannot.
 *
 * A device has a thread of its own, which alone uses it: it opens the device, uploads models, and answers
 * policy_net_model_heads() and policy_net_model_act() of those. Only those two wait for it, at most
 * NET_DEVICE_WAIT_MS, and policy_net_device_settle(). As long as the device is being opened, or a model is
 * being uploaded or freed, the CPU answers; and where the device fails, or does not answer in that time, the
 * CPU answers, with the same bits, and the device is abandoned for good. Any thread may call; calls are
 * served one after the other. */
#ifndef STRATEGY_POLICY_DEVICE_H
#define STRATEGY_POLICY_DEVICE_H

#include "strategy/policy/trained.h"

struct net_device;

enum { NET_DEVICE_ERROR_MAX = 512, NET_DEVICE_NAME_MAX = 300, NET_DEVICE_WAIT_MS = 50 };

/* Starts to open the GPU module (`path` as gpu_module_open(); NULL: the default one) and its device. 0, for
 * policy_net_device_close(); -ENOMEM, -EAGAIN with a sentence. policy_net_device_is_lost() reports later
 * failures. */
int policy_net_device_open(const char *path, struct net_device **ret, char err[static NET_DEVICE_ERROR_MAX]);

/* Before or after its models are destroyed. NULL is fine. Where the device does not answer, its thread and
 * what it holds are abandoned. */
void policy_net_device_close(struct net_device *device);

/* Was a thread ever abandoned? Then the process must end without joining it. */
bool policy_net_device_abandoned(void);

/* How long callers wait for an answer, NET_DEVICE_WAIT_MS unless this says otherwise. */
void policy_net_device_patience(struct net_device *device, int wait_ms);

/* "gpu: NVIDIA H200"; "gpu" until it is open. */
const char *policy_net_device_name(const struct net_device *device);

/* Was it abandoned (there is no module or device, it has no memory, it failed or did not answer)? The
 * sentence says why; err is untouched where it was not. */
bool policy_net_device_is_lost(struct net_device *device, char err[static NET_DEVICE_ERROR_MAX]);

/* Waits at most so long until it is open and every model is uploaded, or it is lost: true when it is open and
 * idle. For tests and benchmarks. */
bool policy_net_device_settle(struct net_device *device, int timeout_ms);

/* Has a model's parameters uploaded, once: from then on the device computes it. 0; -ENOMEM; -EIO: the device
 * was abandoned; -EALREADY: it has a place; with a sentence, and the model is unchanged. Not while another
 * thread computes it. */
int policy_net_model_on_device(struct net_model *model, struct net_device *device,
                               char err[static NET_DEVICE_ERROR_MAX]);

/* The same for a policy that engines trade by, of an ensemble all members; a recorded one has no model: 0. */
int policy_on_device(const struct policy *policy, struct net_device *device,
                     char err[static NET_DEVICE_ERROR_MAX]);

/* Where its last answer was computed: the device's name, or policy_net_model_cpu(), of an ensemble where the
 * CPU computed any member; a policy without a model: its backend. The text lives as long as the device. */
const char *policy_net_model_backend(const struct net_model *model);
const char *policy_backend(const struct policy *policy);

#endif
