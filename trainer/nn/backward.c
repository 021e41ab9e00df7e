#include <string.h>

#include "trainer/nn/work.h"

/* What the gradients pass through: parameters, the array of their gradients, and the two arrays that
 * alternately hold the loss' derivatives by a layer's results. */
struct pass {
    struct REAL(nn_work) * work;
    const real *params;
    real *grads;
    size_t rows;
};

static const struct net_tensor *tensor(const struct pass *pass, int i)
{
    return &pass->work->layout->tensors[i];
}

static real *other(const struct pass *pass, const real *delta)
{
    return pass->work->delta[delta == pass->work->delta[0]];
}

static void gradient(const struct pass *pass, const struct net_layer *layer, const real *x, size_t x_stride,
                     const real *dy, size_t dy_stride)
{
    const struct net_tensor *weight = tensor(pass, layer->weight);
    const struct REAL(nn_gradient) op = {
        .rows = pass->rows,
        .in = layer->in,
        .out = layer->out,
        .x = x,
        .dy = dy,
        .x_stride = x_stride,
        .dy_stride = dy_stride,
        .w_stride = (size_t)weight->stride,
        .dw = pass->grads + weight->offset,
        .db = pass->grads + tensor(pass, layer->bias)->offset,
    };
    pass->work->kernels->gradient(&op, pass->work->scratch);
    memset(op.dw + (size_t)weight->rows * op.w_stride, 0,
           (size_t)(weight->rows_padded - weight->rows) * op.w_stride * sizeof(real));
}

/* Writes dx, with the stride of the layer below; `below`: the hidden layer whose slope to apply, or NULL. */
static void pull(const struct pass *pass, const struct net_layer *layer, const real *dy, size_t dy_stride,
                 const struct nn_layer_work *below, bool add, real *dx, size_t dx_stride)
{
    const struct net_tensor *weight = tensor(pass, layer->weight);
    const struct REAL(nn_pull) op = {
        .rows = pass->rows,
        .in = layer->in,
        .out = layer->out,
        .dy = dy,
        .w = pass->params + weight->offset,
        .kept = below ? below->pre ? below->pre : below->y : NULL,
        .dy_stride = dy_stride,
        .w_stride = (size_t)weight->stride,
        .activation = below ? (int)pass->work->layout->shape.activation : NN_IDENTITY,
        .add = add,
        .dx = dx,
        .dx_stride = dx_stride,
    };
    pass->work->kernels->pull(&op, pass->work->scratch);
}

/* The result of a chain's body and its stride. */
static const real *body_result(const struct pass *pass, enum net_part part, size_t *ret_stride)
{
    const struct net_chain *chain = &pass->work->layout->chains[part];
    const struct nn_chain_work *mine = &pass->work->chains[part];
    if (chain->has_recurrent) {
        *ret_stride = mine->state_stride;
        return mine->state;
    }
    if (chain->n_hidden > 0) {
        *ret_stride = mine->hidden[chain->n_hidden - 1].stride;
        return mine->hidden[chain->n_hidden - 1].y;
    }
    *ret_stride = (size_t)pass->work->layout->shape.observation;
    return pass->work->rows.obs;
}

/* The hidden layer whose activation is the chain's result; NULL: that is the recurrent layer or the
 * observation. */
static const struct nn_layer_work *body_layer(const struct pass *pass, enum net_part part)
{
    const struct net_chain *chain = &pass->work->layout->chains[part];
    return !chain->has_recurrent && chain->n_hidden > 0
               ? &pass->work->chains[part].hidden[chain->n_hidden - 1]
               : NULL;
}

static bool body_learns(const struct pass *pass, enum net_part part)
{
    const struct net_chain *chain = &pass->work->layout->chains[part];
    return chain->has_recurrent || chain->n_hidden > 0;
}

/* delta: by the body's result (recurrent), or by the argument of its last activation. */
static void body(const struct pass *pass, enum net_part part, real *delta)
{
    struct REAL(nn_work) *work = pass->work;
    const struct net_layout *layout = work->layout;
    const struct net_chain *chain = &layout->chains[part];
    const struct nn_chain_work *mine = &work->chains[part];
    const size_t observation = (size_t)layout->shape.observation;
    if (chain->has_recurrent) {
        real *dgates = other(pass, delta);
        const struct REAL(nn_scan) scan = {
            .rows = pass->rows,
            .steps = work->rows.steps,
            .units = layout->shape.recurrent,
            .gates = mine->gates,
            .state = mine->state,
            .gates_stride = mine->gates_stride,
            .state_stride = mine->state_stride,
            .starts = work->rows.starts,
            .hidden = work->rows.hidden ? work->rows.hidden + mine->hidden_at : NULL,
            .hidden_stride = (size_t)layout->hidden,
            .carry = work->carry,
        };
        REAL(nn_scan_backward)(&scan, delta, dgates);
        const struct nn_layer_work *below = chain->n_hidden > 0 ? &mine->hidden[chain->n_hidden - 1] : NULL;
        gradient(pass, &chain->recurrent, below ? below->y : work->rows.obs,
                 below ? below->stride : observation, dgates, mine->gates_stride);
        if (below)
            pull(pass, &chain->recurrent, dgates, mine->gates_stride, below, false, delta, below->stride);
    }
    for (int i = chain->n_hidden - 1; i >= 0; i--) {
        const struct net_layer *layer = &chain->hidden[i];
        const struct nn_layer_work *kept = &mine->hidden[i], *below = i > 0 ? &mine->hidden[i - 1] : NULL;
        if (layer->norm_weight >= 0) {
            const struct REAL(nn_norm) norm = {
                .rows = pass->rows,
                .stride = kept->stride,
                .width = layer->out,
                .weight = pass->params + tensor(pass, layer->norm_weight)->offset,
                .centered = kept->centered,
                .inverse = kept->inverse,
            };
            work->kernels->norm_backward(&norm, delta, pass->grads + tensor(pass, layer->norm_weight)->offset,
                                         pass->grads + tensor(pass, layer->norm_bias)->offset);
        }
        gradient(pass, layer, below ? below->y : work->rows.obs, below ? below->stride : observation, delta,
                 kept->stride);
        if (below) { /* the first layer needs no gradient for its input */
            real *dx = other(pass, delta);
            pull(pass, layer, delta, kept->stride, below, false, dx, below->stride);
            delta = dx;
        }
    }
}

/* The value's head: delta [rows][stride], padding 0. */
static void value_delta(const struct REAL(nn_work) * work, const struct nn_terms *terms, real *delta)
{
    const size_t stride = work->chains[NET_VF].head_stride;
    const real pull_value = (real)terms->pull_value;
    for (size_t r = 0; r < work->rows.rows; r++) {
        memset(delta + r * stride, 0, stride * sizeof *delta);
        delta[r * stride] = pull_value * work->pull_values[r];
    }
}

void REAL(nn_backward)(struct REAL(nn_work) * work, const real *params, const struct nn_terms *terms,
                       real *grads)
{
    const struct net_layout *layout = work->layout;
    const struct pass pass = {work, params, grads, work->rows.rows};
    const bool shared = layout->shape.shared;
    real *log_std = NULL;
    if (pass.rows == 0) {
        memset(grads, 0, layout->n_params * sizeof *grads);
        return;
    }
    if (layout->log_std >= 0) {
        const struct net_tensor *place = &layout->tensors[layout->log_std];
        log_std = grads + place->offset;
        memset(log_std, 0, (size_t)place->stride * sizeof *log_std);
    }
    for (enum net_part part = NET_PI; part <= NET_VF; part++) {
        const struct net_layer *head = &layout->chains[part].head;
        const enum net_part under = shared ? NET_SHARED : part;
        real *delta = work->head_delta, *dx = work->delta[0];
        if (part == NET_PI)
            REAL(nn_policy_delta)(work, params, terms, delta, log_std);
        else
            value_delta(work, terms, delta);
        size_t stride;
        const real *x = body_result(&pass, under, &stride);
        gradient(&pass, head, x, stride, delta, work->chains[part].head_stride);
        if (!body_learns(&pass, under))
            continue;
        /* A trunk's derivatives are the sum of both heads', before its activation's slope. */
        const bool last = !shared || part == NET_VF;
        pull(&pass, head, delta, work->chains[part].head_stride, last ? body_layer(&pass, under) : NULL,
             shared && part == NET_VF, dx, stride);
        if (last)
            body(&pass, under, dx);
    }
}
