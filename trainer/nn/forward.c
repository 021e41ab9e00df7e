#include <string.h>

#include "trainer/nn/work.h"

static const real *tensor(const struct REAL(nn_work) * work, const real *params, int i)
{
    return params + work->layout->tensors[i].offset;
}

static void affine(struct REAL(nn_work) * work, const real *params, const struct net_layer *layer,
                   size_t rows, const real *x, size_t x_stride, int activation, real *y, size_t y_stride,
                   real *pre)
{
    const struct REAL(nn_affine) op = {
        .rows = rows,
        .in = layer->in,
        .out = layer->out,
        .x = x,
        .w = tensor(work, params, layer->weight),
        .bias = tensor(work, params, layer->bias),
        .x_stride = x_stride,
        .w_stride = (size_t)work->layout->tensors[layer->weight].stride,
        .activation = activation,
        .y = y,
        .pre = pre,
        .y_stride = y_stride,
    };
    work->kernels->affine(&op, work->scratch);
}

const real *REAL(nn_body)(struct REAL(nn_work) * work, const real *params, enum net_part part,
                          const struct REAL(nn_rows) * rows, real *ret_hidden, size_t *ret_stride)
{
    const struct net_layout *layout = work->layout;
    const struct net_chain *chain = &layout->chains[part];
    struct nn_chain_work *mine = &work->chains[part];
    const real *x = rows->obs;
    size_t stride = (size_t)layout->shape.observation;
    const int activation = (int)layout->shape.activation;
    for (int i = 0; i < chain->n_hidden; i++) {
        const struct net_layer *layer = &chain->hidden[i];
        struct nn_layer_work *kept = &mine->hidden[i];
        if (layer->norm_weight < 0) {
            affine(work, params, layer, rows->rows, x, stride, activation, kept->y, kept->stride, kept->pre);
        } else {
            affine(work, params, layer, rows->rows, x, stride, NN_IDENTITY, kept->centered, kept->stride,
                   NULL);
            const struct REAL(nn_norm) norm = {
                .rows = rows->rows,
                .stride = kept->stride,
                .width = layer->out,
                .weight = tensor(work, params, layer->norm_weight),
                .bias = tensor(work, params, layer->norm_bias),
                .centered = kept->centered,
                .inverse = kept->inverse,
                .y = kept->y,
            };
            work->kernels->norm_forward(&norm);
            work->kernels->activate(&(struct REAL(nn_affine)){
                .rows = rows->rows,
                .out = layer->out,
                .activation = activation,
                .y = kept->y,
                .pre = kept->pre,
                .y_stride = kept->stride,
            });
        }
        x = kept->y;
        stride = kept->stride;
    }
    if (chain->has_recurrent) {
        affine(work, params, &chain->recurrent, rows->rows, x, stride, NN_IDENTITY, mine->gates,
               mine->gates_stride, NULL);
        const struct REAL(nn_scan) scan = {
            .rows = rows->rows,
            .steps = rows->steps,
            .units = layout->shape.recurrent,
            .gates = mine->gates,
            .state = mine->state,
            .gates_stride = mine->gates_stride,
            .state_stride = mine->state_stride,
            .starts = rows->starts,
            .hidden = rows->hidden ? rows->hidden + mine->hidden_at : NULL,
            .ret_hidden = ret_hidden ? ret_hidden + mine->hidden_at : NULL,
            .hidden_stride = (size_t)layout->hidden,
        };
        REAL(nn_scan_forward)(&scan);
        x = mine->state;
        stride = mine->state_stride;
    }
    *ret_stride = stride;
    return x;
}

void REAL(nn_head)(struct REAL(nn_work) * work, const real *params, enum net_part part, size_t rows,
                   const real *x, size_t x_stride)
{
    struct nn_chain_work *mine = &work->chains[part];
    affine(work, params, &work->layout->chains[part].head, rows, x, x_stride, NN_IDENTITY, mine->head,
           mine->head_stride, NULL);
}

void REAL(nn_copy_head)(const struct REAL(nn_work) * work, enum net_part part, size_t rows, real *ret)
{
    const struct nn_chain_work *mine = &work->chains[part];
    const size_t outputs = (size_t)work->layout->chains[part].head.out;
    for (size_t r = 0; r < rows; r++)
        memcpy(ret + r * outputs, mine->head + r * mine->head_stride, outputs * sizeof *ret);
}

void REAL(nn_forward)(struct REAL(nn_work) * work, const real *params, const struct REAL(nn_rows) * rows,
                      real *ret_heads, real *ret_values, real *ret_hidden)
{
    real *const wanted[] = {[NET_PI] = ret_heads, [NET_VF] = ret_values};
    const bool shared = work->layout->shape.shared;
    const real *x = NULL;
    size_t stride = 0;
    if (shared && (ret_heads || ret_values || ret_hidden))
        x = REAL(nn_body)(work, params, NET_SHARED, rows, ret_hidden, &stride);
    for (enum net_part part = NET_PI; part <= NET_VF; part++) {
        if (!shared && (wanted[part] || (ret_hidden && work->layout->shape.recurrent > 0)))
            x = REAL(nn_body)(work, params, part, rows, ret_hidden, &stride);
        if (wanted[part]) {
            REAL(nn_head)(work, params, part, rows->rows, x, stride);
            REAL(nn_copy_head)(work, part, rows->rows, wanted[part]);
        }
    }
}

void REAL(nn_networks)(struct REAL(nn_work) * work, const real *params, const struct REAL(nn_rows) * rows)
{
    const bool shared = work->layout->shape.shared;
    const real *x = NULL;
    size_t stride = 0;
    if (shared)
        x = REAL(nn_body)(work, params, NET_SHARED, rows, NULL, &stride);
    for (enum net_part part = NET_PI; part <= NET_VF; part++) {
        if (!shared)
            x = REAL(nn_body)(work, params, part, rows, NULL, &stride);
        REAL(nn_head)(work, params, part, rows->rows, x, stride);
    }
}
