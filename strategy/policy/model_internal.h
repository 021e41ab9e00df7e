/* Between strategy/policy/model.c and device.c. */
#ifndef STRATEGY_POLICY_MODEL_INTERNAL_H
#define STRATEGY_POLICY_MODEL_INTERNAL_H

#include "strategy/policy/infer.h"
#include "strategy/policy/trained.h"

/* A layer in the kernels' form; `norm_weight` NULL: it has no normalisation. */
struct model_layer {
    const float *packed, *bias, *norm_weight, *norm_bias;
    size_t in, out, out_padded;
};

struct model_chain {
    int n_hidden;
    bool has_recurrent, has_head;
    struct model_layer hidden[NET_LAYERS_MAX], recurrent, head;
};

struct net_slot; /* a model's place on a device: device.c */

struct net_model {
    struct net_layout layout;
    const struct infer_kernels *kernels;
    struct model_chain chains[3];
    float clip;
    float *floats; /* all parameters: normalisers, then the chains in the order in which they are computed */
    size_t n_floats;
    const float *mean, *scale;
    struct net_slot *slot; /* NULL: only the CPU computes it */
};

/* Most outputs of a layer, padding included. */
size_t policy_net_model_widest(const struct net_model *model);

/* Computes the policy's heads on the device; false: the CPU must. `hidden` is the policy's recurrent
 * state. */
bool policy_net_slot_heads(struct net_slot *slot, const float *observation, float *hidden, float *ret);
/* Its model is destroyed. */
void policy_net_slot_leave(struct net_slot *slot);

#endif
