#include "trainer/ppo/cuda/sequence.h"

#include "trainer/ppo/cuda/sequence_places.h"

static void multiply(struct sequence *s, int lane, const struct sequence_product *product,
                     const struct queue_operands *operands)
{
    s->last[product->id] = *operands;
    ppo_queue_product(s->queue, lane, product->id, operands);
}

/* ---- forward ---- */

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
        multiply(s, lane, product, &operands);
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
    multiply(s, lane, &s->weight[part][k], &weight);
    if (!lower)
        return;
    struct queue_operands input = {.x = sequence_at(s, lower->dy), .w = operand(s, layer->weight), .y = dy};
    if (s->input[part][k].relu)
        input.mask = sequence_at(s, lower->mask);
    multiply(s, lane, &s->input[part][k], &input);
}

/* Hidden layer k: from the gradients by its result to those by its linear result, in place. `pulled`: the
 * product has done that. */
static void back_activation(struct sequence *s, enum net_part part, int k, int lane, bool pulled)
{
    if (pulled && s->weight[part][k].bias)
        return;
    struct kernel_layer kernel = pull_kernel(s, part, k, pulled);
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
        struct kernel_layer sums = sums_kernel(s, part, k, scan.dx);
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
