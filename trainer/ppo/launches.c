#include "trainer/nn/train.h"
#include "trainer/ppo/cuda/kernels.h"
#include "trainer/ppo/device.h"

enum {
    AROUND = 2,  /* the environment's step, and what follows it */
    ACTIONS = 1, /* a kernel of its own unless the policy is one with it */
    VALUES = 1,  /* what a recurrent network's values of a step take beside their layers */
};

/* Layers of a chain, which a narrow policy's kernel has room for; -1: it has not. */
static int narrow_layers(const struct net_chain *chain)
{
    const int n = chain->n_hidden + chain->has_head;
    if (chain->has_recurrent || (chain->has_head && chain->head.out > KERNEL_POLICY_WIDTH))
        return -1;
    for (int i = 0; i < chain->n_hidden; i++)
        if (chain->hidden[i].out > KERNEL_POLICY_WIDTH || chain->hidden[i].norm_weight >= 0)
            return -1;
    return n;
}

static bool is_narrow(const struct ppo_params *params, const struct net_layout *layout)
{
    const int policy = narrow_layers(&layout->chains[NET_PI]),
              trunk = layout->shape.shared ? narrow_layers(&layout->chains[NET_SHARED]) : 0;
    return params->copies <= KERNEL_POLICY_COPIES && policy >= 0 && trunk >= 0 &&
           policy + trunk <= KERNEL_POLICY_LAYERS;
}

/* A product a layer, and a kernel for an activation that the product does not do; a recurrent layer's
 * product and scan. */
static int launches_of_chain(const struct net_layout *layout, enum net_part part)
{
    const struct net_chain *chain = &layout->chains[part];
    int n = chain->has_head + 2 * chain->has_recurrent;
    for (int i = 0; i < chain->n_hidden; i++)
        n += layout->shape.activation == NET_RELU && chain->hidden[i].norm_weight < 0 ? 1 : 2;
    return n;
}

int ppo_learner_launches(const struct ppo_params *params, const struct net_layout *layout)
{
    const int trunk = layout->shape.shared ? launches_of_chain(layout, NET_SHARED) : 0,
              values = layout->shape.recurrent > 0 ? trunk + launches_of_chain(layout, NET_VF) + VALUES : 0;
    if (is_narrow(params, layout))
        return ACTIONS + AROUND;
    return trunk + launches_of_chain(layout, NET_PI) + ACTIONS + AROUND + values;
}
