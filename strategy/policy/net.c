#include "strategy/policy/net.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const activations[] = {[NET_TANH] = "tanh", [NET_RELU] = "relu", [NET_SILU] = "silu"};
enum { ACTIVATIONS = sizeof activations / sizeof *activations };

const char *policy_net_activation_name(enum net_activation activation)
{
    return activations[activation];
}

bool policy_net_activation_parse(const char *text, enum net_activation *ret)
{
    for (int i = 0; i < ACTIVATIONS; i++)
        if (strcmp(text, activations[i]) == 0) {
            *ret = (enum net_activation)i;
            return true;
        }
    return false;
}

static bool within(const char *what, int value, int least, int most, char *err)
{
    if (value >= least && value <= most)
        return true;
    snprintf(err, NET_ERROR_MAX, "%s: %d: %d to %d", what, value, least, most);
    return false;
}

static bool widths_fit(const char *what, int n, const int *widths, char *err)
{
    if (n < 0 || n > NET_LAYERS_MAX) {
        snprintf(err, NET_ERROR_MAX, "%s: %d hidden layers: 0 to %d", what, n, NET_LAYERS_MAX);
        return false;
    }
    for (int i = 0; i < n; i++)
        if (!within(what, widths[i], 1, NET_WIDTH_MAX, err))
            return false;
    return true;
}

static bool shape_fits(const struct net_shape *shape, char *err)
{
    if (!within("observation", shape->observation, 1, NET_OBSERVATION_MAX, err) ||
        !within("actions", shape->actions, 1, NET_OUTPUTS_MAX, err))
        return false;
    if (shape->levels != 0 && (shape->levels < 2 || shape->levels > NET_OUTPUTS_MAX / shape->actions)) {
        snprintf(err, NET_ERROR_MAX,
                 "levels: %d of %d actions: 0 (continuous) or at least 2, and at most %d with the actions",
                 shape->levels, shape->actions, NET_OUTPUTS_MAX);
        return false;
    }
    if (!widths_fit(shape->shared ? "shared layers" : "policy_layers", shape->n_pi, shape->pi, err) ||
        (!shape->shared && !widths_fit("value_layers", shape->n_vf, shape->vf, err)))
        return false;
    if ((unsigned)shape->activation >= ACTIVATIONS) {
        snprintf(err, NET_ERROR_MAX, "activation: %d: tanh, relu or silu", (int)shape->activation);
        return false;
    }
    if (shape->recurrent < 0 || shape->recurrent > NET_WIDTH_MAX || shape->recurrent % NET_LANES) {
        snprintf(err, NET_ERROR_MAX, "recurrent: %d: 0 (none) or a multiple of %d up to %d", shape->recurrent,
                 NET_LANES, NET_WIDTH_MAX);
        return false;
    }
    return true;
}

static int round_up(int n, int unit)
{
    return (n + unit - 1) / unit * unit;
}

static const char *const parts[] = {[NET_PI] = "pi", [NET_VF] = "vf", [NET_SHARED] = "shared"};
static const char *const kinds[] = {[NET_WEIGHT] = "weight",
                                    [NET_BIAS] = "bias",
                                    [NET_NORM_WEIGHT] = "norm.weight",
                                    [NET_NORM_BIAS] = "norm.bias"};

/* layer: its number, or -1 for the recurrent one. */
static int add_tensor(struct net_layout *layout, enum net_kind kind, enum net_part part, int layer, int rows,
                      int cols)
{
    struct net_tensor *tensor = &layout->tensors[layout->n_tensors];
    if (kind == NET_LOG_STD)
        snprintf(tensor->name, sizeof tensor->name, "log_std");
    else if (layer < 0)
        snprintf(tensor->name, sizeof tensor->name, "%s.recurrent.%s", parts[part], kinds[kind]);
    else
        snprintf(tensor->name, sizeof tensor->name, "%s.%d.%s", parts[part], layer, kinds[kind]);
    tensor->kind = kind;
    tensor->part = part;
    tensor->rows = rows;
    tensor->cols = cols;
    tensor->rows_padded = kind == NET_WEIGHT ? round_up(rows, NET_ROWS_UNIT) : 1;
    tensor->stride = round_up(cols, NET_LANES);
    tensor->offset = layout->n_params;
    layout->n_params += (size_t)tensor->rows_padded * (size_t)tensor->stride;
    layout->n_learned += (size_t)rows * (size_t)cols;
    return layout->n_tensors++;
}

static struct net_layer add_layer(struct net_layout *layout, enum net_part part, int number, bool norm,
                                  int in, int out)
{
    struct net_layer layer = {.norm_weight = -1, .norm_bias = -1, .in = in, .out = out};
    layer.weight = add_tensor(layout, NET_WEIGHT, part, number, in, out);
    layer.bias = add_tensor(layout, NET_BIAS, part, number, 1, out);
    if (norm) {
        layer.norm_weight = add_tensor(layout, NET_NORM_WEIGHT, part, number, 1, out);
        layer.norm_bias = add_tensor(layout, NET_NORM_BIAS, part, number, 1, out);
    }
    return layer;
}

/* Hidden and recurrent layers over `in` inputs; returns the width of what comes out. */
static int add_body(struct net_layout *layout, enum net_part part, int n, const int *widths, int in)
{
    struct net_chain *chain = &layout->chains[part];
    const struct net_shape *shape = &layout->shape;
    chain->n_hidden = n;
    for (int i = 0; i < n; i++) {
        chain->hidden[i] = add_layer(layout, part, i, shape->layer_norm, in, widths[i]);
        in = widths[i];
    }
    if (shape->recurrent > 0) {
        chain->has_recurrent = true;
        chain->recurrent = add_layer(layout, part, -1, false, in, 2 * shape->recurrent);
        in = shape->recurrent;
        layout->hidden += shape->recurrent;
    }
    return in;
}

static void add_head(struct net_layout *layout, enum net_part part, int in, int out)
{
    struct net_chain *chain = &layout->chains[part];
    chain->has_head = true;
    chain->head = add_layer(layout, part, chain->n_hidden, false, in, out);
}

int policy_net_layout_init(struct net_layout *layout, const struct net_shape *shape,
                           char err[static NET_ERROR_MAX])
{
    if (!shape_fits(shape, err))
        return -EINVAL;
    memset(layout, 0, sizeof *layout);
    layout->shape = *shape;
    layout->outputs = shape->levels ? shape->actions * shape->levels : shape->actions;
    if (shape->shared) {
        int width = add_body(layout, NET_SHARED, shape->n_pi, shape->pi, shape->observation);
        add_head(layout, NET_PI, width, layout->outputs);
        add_head(layout, NET_VF, width, 1);
    } else {
        int width = add_body(layout, NET_PI, shape->n_pi, shape->pi, shape->observation);
        add_head(layout, NET_PI, width, layout->outputs);
        width = add_body(layout, NET_VF, shape->n_vf, shape->vf, shape->observation);
        add_head(layout, NET_VF, width, 1);
    }
    layout->log_std = shape->levels ? -1 : add_tensor(layout, NET_LOG_STD, NET_PI, 0, 1, shape->actions);
    return 0;
}

int policy_net_layout_find(const struct net_layout *layout, const char *name)
{
    for (int i = 0; i < layout->n_tensors; i++)
        if (strcmp(layout->tensors[i].name, name) == 0)
            return i;
    return -1;
}
