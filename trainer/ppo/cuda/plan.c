#include "trainer/ppo/cuda/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/fail.h"
#include "trainer/ppo/cuda/kernels.h"
#include "trainer/ppo/cuda/queue.h"

/* Values are computed in passes of at least so many rows. */
static const size_t VALUE_ROWS = 8192;

/* Reserves n elements of `each` bytes: returns their offset. */
static size_t place(struct ppo_plan *p, size_t n, size_t each)
{
    size_t at = p->bytes;
    p->bytes += (n * each + PLAN_ALIGNMENT - 1) / PLAN_ALIGNMENT * PLAN_ALIGNMENT;
    return at;
}

static size_t largest(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void place_layer(struct ppo_plan *p, const struct net_layout *layout, const struct net_layer *layer,
                        struct plan_layer *ret)
{
    size_t stride = (size_t)layout->tensors[layer->weight].stride, element = p->half ? 2 : 4;
    size_t sums = (size_t)kernel_tiles(p->minibatch, KERNEL_SUM_TILE) * stride;
    bool norm = layer->norm_weight >= 0, apart = norm || layout->shape.activation == NET_SILU;
    ret->y = place(p, p->pass_rows * stride, element);
    ret->z = apart ? place(p, p->pass_rows * stride, element) : ret->y;
    ret->dy = place(p, p->minibatch * stride, element);
    if (!norm && layout->shape.activation == NET_RELU)
        ret->mask = place(p, p->minibatch, queue_mask_bytes((int)stride));
    ret->bias_sums = place(p, sums, sizeof(float));
    if (norm) {
        ret->stats = place(p, 2 * p->pass_rows, sizeof(float));
        ret->pulls = place(p, 2 * p->minibatch, sizeof(float));
        ret->norm_weight_sums = place(p, sums, sizeof(float));
        ret->norm_bias_sums = place(p, sums, sizeof(float));
    }
}

/* The gates in z and their gradients in `pulls`; what the layer gives in y, and dy. */
static void place_recurrent(struct ppo_plan *p, const struct net_layout *layout,
                            const struct net_layer *layer, struct plan_layer *ret)
{
    size_t stride = (size_t)layout->tensors[layer->weight].stride, units = (size_t)layout->shape.recurrent,
           element = p->half ? 2 : 4;
    ret->z = place(p, p->pass_rows * stride, element);
    ret->y = place(p, p->pass_rows * units, element);
    ret->dy = place(p, p->minibatch * units, element);
    ret->pulls = place(p, p->minibatch * stride, element);
    ret->bias_sums = place(p, (size_t)kernel_tiles(p->minibatch, KERNEL_SUM_TILE) * stride, sizeof(float));
}

static void place_memory(struct ppo_plan *p, const struct net_layout *layout)
{
    size_t hidden = (size_t)layout->hidden, f = sizeof(float);
    p->state = place(p, p->copies * hidden, f);
    p->value_state = place(p, p->copies * hidden, f);
    p->kept = place(p, p->rows / p->sequence * hidden, f);
    p->starts = place(p, p->rows + p->copies, 1);
    p->to_hidden = place(p, p->minibatch / p->sequence * hidden, f);
    p->to_starts = place(p, p->minibatch, 1);
    p->recurrent_y =
        place(p, (p->rows + p->copies) * (size_t)layout->shape.recurrent, p->half ? 2 : sizeof(float));
}

static void place_state(struct ppo_plan *p, const struct net_layout *layout)
{
    size_t size = (size_t)layout->shape.observation, n = layout->n_params;
    p->clock = place(p, 1, sizeof(struct kernel_clock));
    p->rates = place(p, 1, sizeof(struct kernel_rates));
    p->figures = place(p, 1, sizeof(struct kernel_figures));
    p->params = place(p, n, sizeof(float));
    p->m = place(p, n, sizeof(float));
    p->v = place(p, n, sizeof(float));
    p->grads = place(p, n, sizeof(float));
    p->halves = p->half ? place(p, n, sizeof(uint16_t)) : 0;
    p->moments = place(p, size, sizeof(struct kernel_moments));
    p->mean = place(p, size, sizeof(float));
    p->scale = place(p, size, sizeof(float));
    p->reward_moments = place(p, 1, sizeof(struct kernel_moments));
    p->reward_scale = place(p, 1, sizeof(float));
    p->copy_columns = place(p, p->copies * KERNEL_COPY_COLUMNS, sizeof(double));
    p->started = place(p, p->copies, 1);
    p->n_truncated = place(p, p->copies, sizeof(uint32_t));
    p->observe_sums = place(p, kernel_observe_sums_bytes((uint32_t)p->copies, (uint32_t)size), 1);
    p->explained_partials = place(p, kernel_tiles(p->rows, KERNEL_FLAT_TILE), 4 * sizeof(double));
}

static void place_rollout(struct ppo_plan *p, const struct net_layout *layout)
{
    size_t x = (size_t)p->x_stride * (p->half ? 2 : 4), finals = p->slots * p->copies;
    p->obs = place(p, p->rows + p->copies, x);
    p->actions = place(p, p->rows * (size_t)layout->shape.actions, sizeof(float));
    p->logp = place(p, p->rows, sizeof(float));
    p->values = place(p, p->rows + p->copies, sizeof(float));
    p->rewards = place(p, p->rows, sizeof(float));
    p->ends = place(p, p->rows, 1);
    p->advantages = place(p, p->rows, sizeof(float));
    p->returns = place(p, p->rows, sizeof(float));
    p->final_of = place(p, finals, sizeof(uint32_t));
    p->finals = place(p, finals, x);
    p->final_values = place(p, finals, sizeof(float));
    p->x_now = place(p, p->copies, x);
}

static void place_minibatch(struct ppo_plan *p, const struct net_layout *layout)
{
    size_t rows = p->minibatch, element = p->half ? 2 : 4, f = sizeof(float);
    size_t head = (size_t)p->head_stride, value = (size_t)p->value_stride;
    size_t tiles = kernel_tiles(rows, KERNEL_LOSS_TILE);
    p->x = place(p, rows * (size_t)p->x_stride, element);
    p->taken = place(p, rows * (size_t)layout->shape.actions, f);
    p->old_logp = place(p, rows, f);
    p->old_values = place(p, rows, f);
    p->to_advantages = place(p, rows, f);
    p->to_returns = place(p, rows, f);
    p->new_logp = place(p, rows, f);
    if (layout->log_std < 0)
        p->soft = place(p, 2 * rows * (size_t)layout->shape.actions, f);
    p->advantage_sums = place(p, kernel_tiles(rows, KERNEL_GATHER_TILE), 2 * sizeof(double));
    p->loss_partials = place(p, tiles, KERNEL_LOSS_SUMS * sizeof(double));
    p->grad_partials = place(p, kernel_tiles(layout->n_params, KERNEL_FLAT_TILE), sizeof(double));
    p->heads = place(p, p->pass_rows * head, f);
    p->value_heads = place(p, p->pass_rows * value, f);
    p->d_heads = place(p, rows * head, element);
    p->d_values = place(p, rows * value, element);
    p->head_sums = place(p, tiles * head, f);
    p->value_sums = place(p, tiles * value, f);
    if (layout->log_std >= 0)
        p->log_std_sums = place(p, tiles * (size_t)layout->tensors[layout->log_std].stride, f);
    for (int part = 0; part < 3; part++) {
        const struct net_chain *chain = &layout->chains[part];
        for (int k = 0; k < chain->n_hidden; k++)
            place_layer(p, layout, &chain->hidden[k], &p->layers[part][k]);
        if (chain->has_recurrent)
            place_recurrent(p, layout, &chain->recurrent, &p->layers[part][chain->n_hidden]);
    }
    if (layout->hidden > 0)
        place_memory(p, layout);
}

int ppo_plan_make(const struct ppo_params *params, const struct net_layout *layout, uint32_t shortest_episode,
                  struct ppo_plan *ret, char err[static PPO_ERROR_MAX])
{
    struct ppo_plan p = {.half = params->precision == PPO_BF16};
    p.copies = (size_t)params->copies;
    p.steps = (size_t)params->steps;
    p.rows = p.copies * p.steps;
    p.minibatch = (size_t)params->minibatch;
    if (p.rows > INT32_MAX - p.copies || p.minibatch > p.rows)
        return fail_with(
            -EINVAL, err, PPO_ERROR_MAX,
            "copies, steps: %zu rows of a rollout: a device takes minibatch (%zu) to 2^31 - 1 rows", p.rows,
            p.minibatch);
    p.slots = (uint32_t)((p.steps - 1) / (shortest_episode > 0 ? shortest_episode : 1)) + 1;
    p.pass_rows = largest(largest(p.copies, p.minibatch), p.rows < VALUE_ROWS ? p.rows : VALUE_ROWS);
    p.sequence = layout->hidden > 0 ? (size_t)params->sequence : 1;
    p.value_rows = layout->hidden > 0 ? p.copies : p.pass_rows; /* the rollout has as many; or a step's */
    p.final_rows = p.slots * p.copies < p.pass_rows ? p.slots * p.copies : p.pass_rows;
    const struct net_chain *pi = &layout->chains[NET_PI], *vf = &layout->chains[NET_VF];
    p.x_stride = layout->tensors[0].rows_padded; /* the first weight of all */
    p.head_stride = layout->tensors[pi->head.weight].stride;
    p.value_stride = layout->tensors[vf->head.weight].stride;
    place(&p, QUEUE_LANES, QUEUE_WORKSPACE);
    place_state(&p, layout);
    place_rollout(&p, layout);
    place_minibatch(&p, layout);
    *ret = p;
    return 0;
}
