#include "strategy/policy/device_steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 1 + 2 * NET_LAYERS_MAX + 2 + 1 };

struct steps {
    const struct net_model *model;
    struct gpu_policy_step *at;
    size_t n;
    uint64_t from, a, b; /* the inputs of the layers, and the two buffers that they use in turn */
};

static size_t padded(size_t n)
{
    return (n + NET_LANES - 1) / NET_LANES * NET_LANES;
}

static uint64_t place(const struct steps *steps, const float *floats)
{
    return floats ? (uint64_t)(floats - steps->model->floats) : 0;
}

static uint32_t activation_of(const struct net_model *model)
{
    static const uint32_t activations[] = {
        [NET_TANH] = GPU_POLICY_TANH, [NET_RELU] = GPU_POLICY_RELU, [NET_SILU] = GPU_POLICY_SILU};
    return activations[model->layout.shape.activation];
}

static void add_layer(struct steps *steps, const struct model_layer *layer, uint64_t to, uint32_t activation)
{
    steps->at[steps->n++] = (struct gpu_policy_step){.kind = GPU_POLICY_LAYER,
                                                     .activation = activation,
                                                     .in = (uint32_t)layer->in,
                                                     .out = (uint32_t)layer->out_padded,
                                                     .from = steps->from,
                                                     .to = to,
                                                     .weight = place(steps, layer->packed),
                                                     .a = place(steps, layer->bias)};
}

static void add_hidden(struct steps *steps, const struct model_layer *layer)
{
    uint32_t activation = activation_of(steps->model);
    add_layer(steps, layer, steps->b, layer->norm_weight ? GPU_POLICY_IDENTITY : activation);
    if (layer->norm_weight)
        steps->at[steps->n++] = (struct gpu_policy_step){.kind = GPU_POLICY_NORM,
                                                         .activation = activation,
                                                         .out = (uint32_t)layer->out,
                                                         .to = steps->b,
                                                         .a = place(steps, layer->norm_weight),
                                                         .b = place(steps, layer->norm_bias)};
    steps->from = steps->b;
    steps->b = steps->a;
    steps->a = steps->from;
}

int policy_device_model_init(struct device_model *ret, const struct net_model *model)
{
    const struct net_shape *shape = &model->layout.shape;
    const struct model_chain *body = &model->chains[shape->shared ? NET_SHARED : NET_PI];
    const size_t hidden = body->has_recurrent ? body->recurrent.out / 2 : 0;
    const size_t outputs = (size_t)model->layout.outputs, observation = (size_t)shape->observation;
    const uint64_t state = padded(outputs), seen = state + padded(hidden);
    const uint64_t normalised = seen + padded(observation), rooms = normalised + padded(observation);
    const size_t width = policy_net_model_widest(model);
    struct device_model made = {.floats = malloc(model->n_floats * sizeof(float)),
                                .steps = calloc(STEPS_MAX, sizeof *made.steps)};
    if (!made.floats || !made.steps) {
        policy_device_model_finish(&made);
        return -ENOMEM;
    }
    memcpy(made.floats, model->floats, model->n_floats * sizeof(float));
    struct steps steps = {
        .model = model, .at = made.steps, .from = normalised, .a = rooms, .b = rooms + width};
    steps.at[steps.n++] = (struct gpu_policy_step){.kind = GPU_POLICY_OBSERVE,
                                                   .out = (uint32_t)observation,
                                                   .from = seen,
                                                   .to = normalised,
                                                   .a = place(&steps, model->mean),
                                                   .b = place(&steps, model->scale),
                                                   .limit = model->clip};
    for (int i = 0; i < body->n_hidden; i++)
        add_hidden(&steps, &body->hidden[i]);
    if (body->has_recurrent) {
        add_layer(&steps, &body->recurrent, steps.b, GPU_POLICY_IDENTITY);
        steps.at[steps.n++] = (struct gpu_policy_step){
            .kind = GPU_POLICY_GATE, .out = (uint32_t)hidden, .from = steps.b, .to = state};
        steps.from = state;
    }
    add_layer(&steps, &model->chains[NET_PI].head, 0, GPU_POLICY_IDENTITY);
    made.setup = (struct gpu_policy_setup){.floats = made.floats,
                                           .n_floats = model->n_floats,
                                           .n_values = rooms + 2 * width,
                                           .steps = made.steps,
                                           .n_steps = steps.n,
                                           .outputs = outputs,
                                           .hidden = hidden,
                                           .observation = observation};
    *ret = made;
    return 0;
}

void policy_device_model_finish(struct device_model *model)
{
    free(model->floats);
    free(model->steps);
    *model = (struct device_model){0};
}
