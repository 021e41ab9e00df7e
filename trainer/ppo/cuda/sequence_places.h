/* Where a sequence's tensors and rows lie, and the arguments of the kernels over them: for its planning
 * (sequence_plan.c) and its work (sequence.c) alone. */
#ifndef TRAINER_PPO_CUDA_SEQUENCE_PLACES_H
#define TRAINER_PPO_CUDA_SEQUENCE_PLACES_H

#include "trainer/ppo/cuda/sequence.h"

static inline const struct net_tensor *tensor(const struct sequence *s, int index)
{
    return &s->layout->tensors[index];
}

static inline float *param(const struct sequence *s, int index)
{
    return (float *)sequence_at(s, s->plan.params) + tensor(s, index)->offset;
}

static inline float *grad(const struct sequence *s, int index)
{
    return (float *)sequence_at(s, s->plan.grads) + tensor(s, index)->offset;
}

/* A tensor as products read it. */
static inline void *operand(const struct sequence *s, int index)
{
    if (s->plan.half)
        return (uint16_t *)sequence_at(s, s->plan.halves) + tensor(s, index)->offset;
    return param(s, index);
}

static inline bool is_recurrent(const struct sequence *s, enum net_part part, int k)
{
    const struct net_chain *chain = &s->layout->chains[part];
    return chain->has_recurrent && k == chain->n_hidden;
}

/* Layers before the head. */
static inline int depth_of(const struct sequence *s, enum net_part part)
{
    const struct net_chain *chain = &s->layout->chains[part];
    return chain->n_hidden + chain->has_recurrent;
}

static inline int layers_of(const struct sequence *s, enum net_part part)
{
    return depth_of(s, part) + s->layout->chains[part].has_head;
}

static inline const struct net_layer *layer_of(const struct sequence *s, enum net_part part, int k)
{
    const struct net_chain *chain = &s->layout->chains[part];
    if (k < chain->n_hidden)
        return &chain->hidden[k];
    return is_recurrent(s, part, k) ? &chain->recurrent : &chain->head;
}

static inline int stride_of(const struct sequence *s, const struct net_layer *layer)
{
    return tensor(s, layer->weight)->stride;
}

/* The stride of a layer's result. */
static inline int y_stride_of(const struct sequence *s, enum net_part part, int k)
{
    return is_recurrent(s, part, k) ? s->layout->shape.recurrent : stride_of(s, layer_of(s, part, k));
}

static inline struct kernel_matrix rows_of(const struct sequence *s, enum net_part part, int k, size_t offset)
{
    return sequence_matrix(s, offset, y_stride_of(s, part, k), s->plan.half);
}

/* A recurrent layer's gates and their gradients. */
static inline struct kernel_matrix gates_of(const struct sequence *s, enum net_part part, int k,
                                            size_t offset)
{
    return sequence_matrix(s, offset, stride_of(s, layer_of(s, part, k)), s->plan.half);
}

/* What layer k of a chain reads: observations, the layer before, or the shared trunk's last. NULL: the
 * observations. */
static inline const struct plan_layer *below(const struct sequence *s, enum net_part part, int k,
                                             enum net_part *ret_part, int *ret_k)
{
    if (k == 0 && s->layout->shape.shared && part != NET_SHARED) {
        part = NET_SHARED;
        k = depth_of(s, NET_SHARED);
    }
    if (k == 0)
        return NULL;
    *ret_part = part;
    *ret_k = k - 1;
    return &s->plan.layers[part][k - 1];
}

static inline int x_stride_of(const struct sequence *s, enum net_part part, int k)
{
    enum net_part from;
    int at;
    return below(s, part, k, &from, &at) ? y_stride_of(s, from, at) : s->plan.x_stride;
}

static inline bool has_norm(const struct net_layer *layer)
{
    return layer->norm_weight >= 0;
}

static inline struct kernel_layer layer_kernel(const struct sequence *s, enum net_part part, int k,
                                               size_t rows)
{
    const struct net_layer *layer = layer_of(s, part, k);
    const struct plan_layer *at = &s->plan.layers[part][k];
    struct kernel_layer ret = {.rows = (uint32_t)rows,
                               .cols = (uint32_t)layer->out,
                               .activation = (enum kernel_activation)s->layout->shape.activation,
                               .x = rows_of(s, part, k, at->z),
                               .y = rows_of(s, part, k, at->y)};
    if (has_norm(layer)) {
        ret.norm_weight = param(s, layer->norm_weight);
        ret.norm_bias = param(s, layer->norm_bias);
        ret.norm_stats = sequence_at(s, at->stats);
    }
    return ret;
}

/* The sums over the rows of dy, for layer k's bias. */
static inline struct kernel_layer sums_kernel(const struct sequence *s, enum net_part part, int k,
                                              struct kernel_matrix dy)
{
    return (struct kernel_layer){.rows = (uint32_t)s->plan.minibatch,
                                 .cols = (uint32_t)layer_of(s, part, k)->out,
                                 .activation = KERNEL_IDENTITY,
                                 .dy = dy,
                                 .bias_sums = sequence_at(s, s->plan.layers[part][k].bias_sums)};
}

/* Hidden layer k backward. `pulled`: the sums alone are missing. */
static inline struct kernel_layer pull_kernel(const struct sequence *s, enum net_part part, int k,
                                              bool pulled)
{
    const struct net_layer *layer = layer_of(s, part, k);
    const struct plan_layer *at = &s->plan.layers[part][k];
    const struct kernel_matrix dy = rows_of(s, part, k, at->dy);
    if (pulled)
        return sums_kernel(s, part, k, dy);
    struct kernel_layer ret = layer_kernel(s, part, k, s->plan.minibatch);
    ret.dx = ret.dy = dy;
    ret.bias_sums = sequence_at(s, at->bias_sums);
    if (has_norm(layer)) {
        ret.norm_pulls = sequence_at(s, at->pulls);
        ret.norm_weight_sums = sequence_at(s, at->norm_weight_sums);
        ret.norm_bias_sums = sequence_at(s, at->norm_bias_sums);
    }
    return ret;
}

#endif
