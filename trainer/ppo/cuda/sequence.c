#include "trainer/ppo/cuda/sequence.h"

#include <string.h>

/* ---- places in memory ---- */

static const struct net_tensor *tensor(const struct sequence *s, int index)
{
    return &s->layout->tensors[index];
}

static float *param(const struct sequence *s, int index)
{
    return (float *)sequence_at(s, s->plan.params) + tensor(s, index)->offset;
}

static float *grad(const struct sequence *s, int index)
{
    return (float *)sequence_at(s, s->plan.grads) + tensor(s, index)->offset;
}

/* A tensor as products read it. */
static void *operand(const struct sequence *s, int index)
{
    if (s->plan.half)
        return (uint16_t *)sequence_at(s, s->plan.halves) + tensor(s, index)->offset;
    return param(s, index);
}

static bool is_recurrent(const struct sequence *s, enum net_part part, int k)
{
    const struct net_chain *chain = &s->layout->chains[part];
    return chain->has_recurrent && k == chain->n_hidden;
}

/* Layers before the head. */
static int depth_of(const struct sequence *s, enum net_part part)
{
    const struct net_chain *chain = &s->layout->chains[part];
    return chain->n_hidden + chain->has_recurrent;
}

static int layers_of(const struct sequence *s, enum net_part part)
{
    return depth_of(s, part) + s->layout->chains[part].has_head;
}

static const struct net_layer *layer_of(const struct sequence *s, enum net_part part, int k)
{
    const struct net_chain *chain = &s->layout->chains[part];
    if (k < chain->n_hidden)
        return &chain->hidden[k];
    return is_recurrent(s, part, k) ? &chain->recurrent : &chain->head;
}

static int stride_of(const struct sequence *s, const struct net_layer *layer)
{
    return tensor(s, layer->weight)->stride;
}

/* The stride of a layer's result. */
static int y_stride_of(const struct sequence *s, enum net_part part, int k)
{
    return is_recurrent(s, part, k) ? s->layout->shape.recurrent : stride_of(s, layer_of(s, part, k));
}

static struct kernel_matrix rows_of(const struct sequence *s, enum net_part part, int k, size_t offset)
{
    return sequence_matrix(s, offset, y_stride_of(s, part, k), s->plan.half);
}

/* A recurrent layer's gates and their gradients. */
static struct kernel_matrix gates_of(const struct sequence *s, enum net_part part, int k, size_t offset)
{
    return sequence_matrix(s, offset, stride_of(s, layer_of(s, part, k)), s->plan.half);
}

/* What layer k of a chain reads: observations, the layer before, or the shared trunk's last. NULL: the
 * observations. */
static const struct plan_layer *below(const struct sequence *s, enum net_part part, int k,
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

static int x_stride_of(const struct sequence *s, enum net_part part, int k)
{
    enum net_part from;
    int at;
    return below(s, part, k, &from, &at) ? y_stride_of(s, from, at) : s->plan.x_stride;
}

static bool has_norm(const struct net_layer *layer)
{
    return layer->norm_weight >= 0;
}

/* ---- plans ---- */

static struct queue_product describe(const struct sequence *s, enum queue_kind kind, size_t rows,
                                     enum net_part part, int k)
{
    const struct net_layer *layer = layer_of(s, part, k);
    const struct net_tensor *w = tensor(s, layer->weight);
    enum queue_type type = s->plan.half ? QUEUE_BF16 : QUEUE_F32;
    struct queue_product p = {.kind = kind,
                              .rows = rows,
                              .in = w->rows_padded,
                              .out = w->stride,
                              .x_stride = x_stride_of(s, part, k),
                              .w_stride = w->stride,
                              .y_stride = w->stride,
                              .operands = type,
                              .result = type,
                              .tf32 = s->params->precision == PPO_TF32};
    return p;
}

static int plan(struct sequence *s, struct queue_product *p, struct sequence_product *ret, char *reason,
                size_t cap)
{
    int r = ppo_queue_plan(s->queue, p, &ret->id, reason, cap);
    ret->relu = p->relu;
    ret->bias = p->bias;
    return r;
}

static int plan_forward(struct sequence *s, enum sequence_pass pass, size_t rows, enum net_part part,
                        char *reason, size_t cap)
{
    int r = 0;
    for (int k = 0; k < layers_of(s, part) && r == 0; k++) {
        struct queue_product p = describe(s, QUEUE_FORWARD, rows, part, k);
        bool head = k == depth_of(s, part);
        p.bias = true;
        p.relu = !head && !is_recurrent(s, part, k) && s->layout->shape.activation == NET_RELU &&
                 !has_norm(layer_of(s, part, k));
        p.keep = p.relu && pass == PASS_TRAIN;
        if (head)
            p.result = QUEUE_F32;
        r = plan(s, &p, &s->forward[pass][part][k], reason, cap);
    }
    return r;
}

static int plan_back(struct sequence *s, enum net_part part, char *reason, size_t cap)
{
    int r = 0;
    for (int k = 0; k < layers_of(s, part) && r == 0; k++) {
        bool head = k == depth_of(s, part);
        struct queue_product p = describe(s, QUEUE_WEIGHT, s->plan.minibatch, part, k);
        p.result = QUEUE_F32;
        /* Only where no kernel passes over these rows anyway. */
        p.bias = !head && (s->input[part][k + 1].relu || is_recurrent(s, part, k));
        r = plan(s, &p, &s->weight[part][k], reason, cap);
        double flops = 2.0 * (double)p.rows * p.in * p.out;
        if (flops > s->largest_flops) {
            s->largest_flops = flops;
            s->largest = s->forward[PASS_TRAIN][part][k];
        }
    }
    return r;
}

/* Plans the gradients by a layer's input, and by the activation before it where the product does that too. */
static int plan_inputs(struct sequence *s, enum net_part part, char *reason, size_t cap)
{
    int r = 0;
    for (int k = 0; k < layers_of(s, part) && r == 0; k++) {
        enum net_part from;
        int at;
        if (!below(s, part, k, &from, &at))
            continue;
        struct queue_product p = describe(s, QUEUE_INPUT, s->plan.minibatch, part, k);
        bool joins = from != part; /* two heads on one trunk */
        p.add = joins && part == NET_VF;
        p.relu = !joins && s->forward[PASS_TRAIN][from][at].relu; /* never of a recurrent layer */
        r = plan(s, &p, &s->input[part][k], reason, cap);
    }
    return r;
}

static void add_job(struct sequence *s, const float *from, int index, size_t tiles, int stride)
{
    const struct net_tensor *t = tensor(s, index);
    struct kernel_job *job = &s->sums.jobs[s->sums.n++];
    *job = (struct kernel_job){.from = from,
                               .to = grad(s, index),
                               .tiles = (uint32_t)tiles,
                               .stride = (uint32_t)stride,
                               .cols = (uint32_t)t->cols,
                               .padded = (uint32_t)t->stride};
}

static void list_sums(struct sequence *s)
{
    const struct ppo_plan *p = &s->plan;
    const size_t tiles = kernel_tiles(p->minibatch, KERNEL_SUM_TILE),
                 loss_tiles = kernel_tiles(p->minibatch, KERNEL_LOSS_TILE);
    for (int part = 0; part < 3; part++)
        for (int k = 0; k < depth_of(s, (enum net_part)part); k++) {
            const struct net_layer *layer = layer_of(s, (enum net_part)part, k);
            const struct plan_layer *at = &p->layers[part][k];
            int stride = stride_of(s, layer);
            if (!s->weight[part][k].bias)
                add_job(s, sequence_at(s, at->bias_sums), layer->bias, tiles, stride);
            if (has_norm(layer)) {
                add_job(s, sequence_at(s, at->norm_weight_sums), layer->norm_weight, tiles, stride);
                add_job(s, sequence_at(s, at->norm_bias_sums), layer->norm_bias, tiles, stride);
            }
        }
    add_job(s, sequence_at(s, p->head_sums), s->layout->chains[NET_PI].head.bias, loss_tiles, p->head_stride);
    add_job(s, sequence_at(s, p->value_sums), s->layout->chains[NET_VF].head.bias, loss_tiles,
            p->value_stride);
    if (s->layout->log_std >= 0)
        add_job(s, sequence_at(s, p->log_std_sums), s->layout->log_std, loss_tiles,
                tensor(s, s->layout->log_std)->stride);
}

int ppo_sequence_init(struct sequence *s, struct ppo_queue *queue, const struct ppo_params *params,
                      const struct net_layout *layout, const struct ppo_plan *ppo_plan, void *base,
                      char *reason, size_t cap)
{
    *s = (struct sequence){
        .queue = queue, .params = params, .layout = layout, .plan = *ppo_plan, .base = base};
    const size_t rows[PASSES] = {ppo_plan->copies, ppo_plan->value_rows, ppo_plan->final_rows,
                                 ppo_plan->minibatch};
    int r = 0;
    for (int pass = 0; pass < PASSES && r == 0; pass++)
        for (int part = 0; part < 3 && r == 0; part++) {
            bool unused = (pass == PASS_ROLLOUT && part == NET_VF) ||
                          ((pass == PASS_VALUES || pass == PASS_FINALS) && part == NET_PI);
            if (!unused)
                r = plan_forward(s, (enum sequence_pass)pass, rows[pass], (enum net_part)part, reason, cap);
        }
    for (int part = 0; part < 3 && r == 0; part++)
        r = plan_inputs(s, (enum net_part)part, reason, cap);
    for (int part = 0; part < 3 && r == 0; part++)
        r = plan_back(s, (enum net_part)part, reason, cap);
    if (r == 0)
        list_sums(s);
    return r;
}

/* ---- forward ---- */

static struct kernel_layer layer_kernel(const struct sequence *s, enum net_part part, int k, size_t rows)
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

/* Where a part's units begin in a copy's state. */
static size_t state_of(const struct sequence *s, enum net_part part)
{
    return part == NET_VF ? (size_t)s->layout->shape.recurrent : 0;
}

static struct kernel_scan train_scan(struct sequence *s, enum net_part part, int k)
{
    const struct plan_layer *at = &s->plan.layers[part][k];
    return (struct kernel_scan){.sequences = (uint32_t)(s->plan.minibatch / s->plan.sequence),
                                .steps = (uint32_t)s->plan.sequence,
                                .units = (uint32_t)s->layout->shape.recurrent,
                                .x = gates_of(s, part, k, at->z),
                                .starts = sequence_at(s, s->plan.to_starts),
                                .before = (float *)sequence_at(s, s->plan.to_hidden) + state_of(s, part),
                                .before_stride = (uint32_t)s->layout->hidden,
                                .y = rows_of(s, part, k, at->y)};
}

/* The recurrent layer of a pass. Returns its result. */
static struct kernel_matrix scan(struct sequence *s, enum sequence_pass pass, enum net_part part, int k,
                                 int lane, size_t rows, size_t first)
{
    const struct ppo_plan *p = &s->plan;
    const size_t hidden = (size_t)s->layout->hidden, offset = state_of(s, part), step = first / p->copies;
    const bool last = step == p->steps;
    struct kernel_scan scan = train_scan(s, part, k);
    struct kernel_matrix all = rows_of(s, part, k, p->recurrent_y);
    float *state =
        (float *)sequence_at(s, part == NET_SHARED && pass == PASS_VALUES ? p->value_state : p->state);
    if (pass != PASS_TRAIN) {
        scan.sequences = (uint32_t)rows;
        scan.steps = 1;
        scan.starts = NULL;
        scan.before = NULL;
    }
    if (pass == PASS_ROLLOUT || pass == PASS_VALUES) {
        scan.starts = (uint8_t *)sequence_at(s, p->starts) + (pass == PASS_VALUES ? first : 0);
        scan.before = state + offset;
        scan.after = pass == PASS_VALUES && last ? NULL : state + offset;
        scan.keep_every = (uint32_t)p->sequence;
        scan.keep_stride = (uint32_t)hidden;
        scan.keep = (float *)sequence_at(s, p->kept) + offset;
    }
    if (pass == PASS_ROLLOUT)
        scan.clock = sequence_at(s, p->clock);
    if (pass == PASS_VALUES) {
        scan.keep = part == NET_SHARED || last || step % p->sequence
                        ? NULL
                        : scan.keep + step / p->sequence * p->copies * hidden;
        scan.y = all;
        scan.y.at = (unsigned char *)all.at + kernel_matrix_bytes(first, all.stride, all.half);
    }
    if (pass == PASS_FINALS) {
        scan.from = all;
        scan.from_rows = (uint32_t *)sequence_at(s, p->final_of) + first;
    }
    ppo_launch_scan(&scan, ppo_queue_stream(s->queue, lane));
    ppo_queue_launched(s->queue);
    return scan.y;
}

/* A chain's layers over `x`, its head into `head`. Returns the result of the layer before the head. */
static struct kernel_matrix forward(struct sequence *s, enum sequence_pass pass, enum net_part part, int lane,
                                    size_t rows, size_t first, struct kernel_matrix x, float *head)
{
    for (int k = 0; k < layers_of(s, part); k++) {
        const struct net_layer *layer = layer_of(s, part, k);
        const struct sequence_product *product = &s->forward[pass][part][k];
        const bool is_head = k == depth_of(s, part);
        const struct plan_layer *at = is_head ? NULL : &s->plan.layers[part][k];
        struct queue_operands operands = {.x = x.at,
                                          .w = operand(s, layer->weight),
                                          .y = is_head ? head : sequence_at(s, at->z),
                                          .bias = is_head ? param(s, layer->bias) : operand(s, layer->bias)};
        if (!is_head && at->mask)
            operands.mask = sequence_at(s, at->mask);
        if (product->id == s->largest.id)
            s->largest_operands = operands;
        ppo_queue_product(s->queue, lane, product->id, &operands);
        if (is_head)
            break;
        if (is_recurrent(s, part, k)) {
            x = scan(s, pass, part, k, lane, rows, first);
            continue;
        }
        if (!product->relu) {
            struct kernel_layer kernel = layer_kernel(s, part, k, rows);
            ppo_launch_activate(&kernel, ppo_queue_stream(s->queue, lane));
            ppo_queue_launched(s->queue);
        }
        x = rows_of(s, part, k, at->y);
    }
    return x;
}

void ppo_sequence_forward(struct sequence *s, enum sequence_pass pass, struct kernel_matrix x, size_t first)
{
    const size_t rows = pass == PASS_ROLLOUT  ? s->plan.copies
                        : pass == PASS_VALUES ? s->plan.value_rows
                                              : s->plan.final_rows;
    const bool policy = pass == PASS_ROLLOUT;
    if (s->layout->shape.shared)
        x = forward(s, pass, NET_SHARED, 0, rows, first, x, NULL);
    forward(s, pass, policy ? NET_PI : NET_VF, 0, rows, first, x,
            sequence_at(s, policy ? s->plan.heads : s->plan.value_heads));
}

void ppo_sequence_train(struct sequence *s)
{
    struct kernel_matrix x = sequence_matrix(s, s->plan.x, s->plan.x_stride, s->plan.half);
    const size_t rows = s->plan.minibatch;
    float *heads = sequence_at(s, s->plan.heads), *values = sequence_at(s, s->plan.value_heads);
    if (s->layout->shape.shared) {
        x = forward(s, PASS_TRAIN, NET_SHARED, 0, rows, 0, x, NULL);
        forward(s, PASS_TRAIN, NET_PI, 0, rows, 0, x, heads);
        forward(s, PASS_TRAIN, NET_VF, 0, rows, 0, x, values);
        return;
    }
    ppo_queue_fork(s->queue);
    forward(s, PASS_TRAIN, NET_PI, 0, rows, 0, x, heads);
    forward(s, PASS_TRAIN, NET_VF, 1, rows, 0, x, values);
    ppo_queue_join(s->queue);
}

/* ---- backward ---- */

/* Layer k: from the gradients by its linear result to those by its parameters and its input. */
static void back_linear(struct sequence *s, enum net_part part, int k, int lane, void *dy)
{
    const struct net_layer *layer = layer_of(s, part, k);
    enum net_part from;
    int at;
    const struct plan_layer *lower = below(s, part, k, &from, &at);
    struct queue_operands weight = {.x = sequence_at(s, lower ? lower->y : s->plan.x),
                                    .w = grad(s, layer->weight),
                                    .y = dy,
                                    .bias = grad(s, layer->bias)};
    ppo_queue_product(s->queue, lane, s->weight[part][k].id, &weight);
    if (!lower)
        return;
    struct queue_operands input = {.x = sequence_at(s, lower->dy), .w = operand(s, layer->weight), .y = dy};
    if (s->input[part][k].relu)
        input.mask = sequence_at(s, lower->mask);
    ppo_queue_product(s->queue, lane, s->input[part][k].id, &input);
}

/* Hidden layer k: from the gradients by its result to those by its linear result, in place. `pulled`: the
 * product has done that. */
static void back_activation(struct sequence *s, enum net_part part, int k, int lane, bool pulled)
{
    const struct net_layer *layer = layer_of(s, part, k);
    const struct plan_layer *at = &s->plan.layers[part][k];
    struct kernel_layer kernel = layer_kernel(s, part, k, s->plan.minibatch);
    if (pulled && s->weight[part][k].bias)
        return;
    kernel.dy = rows_of(s, part, k, at->dy);
    kernel.bias_sums = sequence_at(s, at->bias_sums);
    if (pulled) {
        kernel.activation = KERNEL_IDENTITY;
    } else {
        kernel.dx = kernel.dy;
        if (has_norm(layer)) {
            kernel.norm_pulls = sequence_at(s, at->pulls);
            kernel.norm_weight_sums = sequence_at(s, at->norm_weight_sums);
            kernel.norm_bias_sums = sequence_at(s, at->norm_bias_sums);
        }
    }
    ppo_launch_pull_back(&kernel, ppo_queue_stream(s->queue, lane));
    ppo_queue_launched(s->queue);
}

/* Through the recurrent layer's sequences, and its linear part. */
static void back_recurrent(struct sequence *s, enum net_part part, int k, int lane)
{
    const struct plan_layer *at = &s->plan.layers[part][k];
    struct kernel_scan scan = train_scan(s, part, k);
    scan.dy = rows_of(s, part, k, at->dy);
    scan.dx = gates_of(s, part, k, at->pulls);
    ppo_launch_scan_back(&scan, ppo_queue_stream(s->queue, lane));
    if (!s->weight[part][k].bias) {
        struct kernel_layer sums = {.rows = (uint32_t)s->plan.minibatch,
                                    .cols = (uint32_t)layer_of(s, part, k)->out,
                                    .activation = KERNEL_IDENTITY,
                                    .dy = scan.dx,
                                    .bias_sums = sequence_at(s, at->bias_sums)};
        ppo_launch_pull_back(&sums, ppo_queue_stream(s->queue, lane));
    }
    ppo_queue_launched(s->queue);
    back_linear(s, part, k, lane, scan.dx.at);
}

/* The layers before the head, from the last one's dy on. `pulled`: of the last. */
static void back_hidden(struct sequence *s, enum net_part part, int lane, bool pulled)
{
    const int n_hidden = s->layout->chains[part].n_hidden;
    if (s->layout->chains[part].has_recurrent) {
        back_recurrent(s, part, n_hidden, lane);
        pulled = s->input[part][n_hidden].relu;
    }
    for (int k = n_hidden - 1; k >= 0; k--) {
        back_activation(s, part, k, lane, pulled);
        back_linear(s, part, k, lane, sequence_at(s, s->plan.layers[part][k].dy));
        pulled = s->input[part][k].relu;
    }
}

static void back_head(struct sequence *s, enum net_part part, int lane)
{
    back_linear(s, part, depth_of(s, part), lane,
                sequence_at(s, part == NET_PI ? s->plan.d_heads : s->plan.d_values));
}

void ppo_sequence_back(struct sequence *s)
{
    if (s->layout->shape.shared) {
        back_head(s, NET_PI, 0);
        back_head(s, NET_VF, 0);
        back_hidden(s, NET_SHARED, 0, false);
    } else {
        ppo_queue_fork(s->queue);
        for (int lane = 0; lane < 2; lane++) {
            enum net_part part = lane == 0 ? NET_PI : NET_VF;
            back_head(s, part, lane);
            back_hidden(s, part, lane, s->input[part][depth_of(s, part)].relu);
        }
        ppo_queue_join(s->queue);
    }
    ppo_launch_add_sums(&s->sums, ppo_queue_stream(s->queue, 0));
    ppo_queue_launched(s->queue);
}
