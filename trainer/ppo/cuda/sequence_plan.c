#include "trainer/ppo/cuda/sequence_places.h"

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

/* A product's place in the networks. */
struct place {
    struct sequence *s;
    enum sequence_pass pass;
    enum net_part part;
    int k;
    struct queue_product asked;
};

/* Policy and value beside each other. */
static int lanes_of(const struct place *p)
{
    return p->pass == PASS_TRAIN && !p->s->layout->shape.shared ? 2 : 1;
}

/* What a pass reads: its layer's input. */
static void *input_of(const struct place *p)
{
    const size_t observations[PASSES] = {p->s->plan.x_now, p->s->plan.obs, p->s->plan.finals, p->s->plan.x};
    enum net_part from;
    int at;
    const struct plan_layer *lower = below(p->s, p->part, p->k, &from, &at);
    return sequence_at(p->s, lower ? lower->y : observations[p->pass]);
}

/* The gradients by layer k's linear result. */
static struct kernel_matrix gradients_of(const struct place *p)
{
    const struct ppo_plan *plan = &p->s->plan;
    if (p->k == depth_of(p->s, p->part))
        return sequence_matrix(p->s, p->part == NET_PI ? plan->d_heads : plan->d_values,
                               p->part == NET_PI ? plan->head_stride : plan->value_stride, plan->half);
    const struct plan_layer *at = &plan->layers[p->part][p->k];
    return is_recurrent(p->s, p->part, p->k) ? gates_of(p->s, p->part, p->k, at->pulls)
                                             : rows_of(p->s, p->part, p->k, at->dy);
}

static struct queue_operands operands_of(const struct place *p)
{
    const struct sequence *s = p->s;
    const struct net_layer *layer = layer_of(s, p->part, p->k);
    const bool head = p->k == depth_of(s, p->part);
    const struct plan_layer *own = head ? NULL : &s->plan.layers[p->part][p->k];
    struct queue_operands ret = {.x = input_of(p), .w = operand(s, layer->weight)};
    enum net_part from = p->part;
    int at = 0;
    switch (p->asked.kind) {
    case QUEUE_FORWARD:
        ret.bias = head ? param(s, layer->bias) : operand(s, layer->bias);
        ret.y = sequence_at(s, own ? own->z : p->part == NET_PI ? s->plan.heads : s->plan.value_heads);
        ret.mask = own && own->mask ? sequence_at(s, own->mask) : NULL;
        break;
    case QUEUE_INPUT:
        ret.y = gradients_of(p).at;
        below(s, p->part, p->k, &from, &at);
        ret.x = sequence_at(s, s->plan.layers[from][at].dy);
        ret.mask = p->asked.relu ? sequence_at(s, s->plan.layers[from][at].mask) : NULL;
        break;
    case QUEUE_WEIGHT:
        ret.y = gradients_of(p).at;
        ret.w = grad(s, layer->weight);
        ret.bias = grad(s, layer->bias);
        break;
    }
    return ret;
}

/* Of a product by the input that does ReLU's part, the sums for the bias are still missing. */
static void queue_rest(void *ctx, const struct queue_product *got, void *stream)
{
    const struct place *p = ctx;
    struct sequence *s = p->s;
    struct kernel_layer kernel;
    enum net_part from = p->part;
    int at = 0;
    if (p->asked.kind == QUEUE_FORWARD && p->asked.relu && !got->relu) {
        kernel = layer_kernel(s, p->part, p->k, p->asked.rows);
        ppo_launch_activate(&kernel, stream);
    } else if (p->asked.kind == QUEUE_INPUT && p->asked.relu) {
        below(s, p->part, p->k, &from, &at);
        kernel = pull_kernel(s, from, at, got->relu);
        ppo_launch_pull_back(&kernel, stream);
    } else if (p->asked.kind == QUEUE_WEIGHT && p->asked.bias && !got->bias) {
        kernel = sums_kernel(s, p->part, p->k, gradients_of(p));
        ppo_launch_pull_back(&kernel, stream);
    } else {
        return;
    }
    ppo_queue_launched(s->queue);
}

static int plan(struct place place, struct sequence_product *ret, char *reason, size_t cap)
{
    const struct queue_use use = {operands_of(&place), lanes_of(&place), queue_rest, &place};
    struct queue_product got = place.asked, *p = &got;
    int r = ppo_queue_plan(place.s->queue, p, &use, &ret->id, reason, cap);
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
        r = plan((struct place){s, pass, part, k, p}, &s->forward[pass][part][k], reason, cap);
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
        r = plan((struct place){s, PASS_TRAIN, part, k, p}, &s->weight[part][k], reason, cap);
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
        r = plan((struct place){s, PASS_TRAIN, part, k, p}, &s->input[part][k], reason, cap);
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

static bool add_policy_layers(const struct sequence *s, enum net_part part, struct kernel_policy *to)
{
    for (int k = 0; k < layers_of(s, part); k++) {
        const struct net_layer *layer = layer_of(s, part, k);
        const struct net_tensor *w = tensor(s, layer->weight);
        const bool head = k == depth_of(s, part);
        if (to->n_layers == KERNEL_POLICY_LAYERS || w->stride > KERNEL_POLICY_WIDTH || has_norm(layer) ||
            is_recurrent(s, part, k))
            return false;
        to->layers[to->n_layers++] =
            (struct kernel_policy_layer){.weight = operand(s, layer->weight),
                                         .bias = head ? param(s, layer->bias) : operand(s, layer->bias),
                                         .in = (uint32_t)w->rows_padded,
                                         .out = (uint32_t)w->stride,
                                         .cols = (uint32_t)w->cols};
    }
    return true;
}

bool ppo_sequence_policy(const struct sequence *s, struct kernel_policy *ret)
{
    *ret = (struct kernel_policy){
        .x = sequence_matrix(s, s->plan.x_now, s->plan.x_stride, s->plan.half),
        .tf32 = s->params->precision == PPO_TF32,
        .activation = (enum kernel_activation)s->layout->shape.activation,
        .heads = sequence_at(s, s->plan.heads),
    };
    return s->plan.copies <= KERNEL_POLICY_COPIES &&
           (!s->layout->shape.shared || add_policy_layers(s, NET_SHARED, ret)) &&
           add_policy_layers(s, NET_PI, ret);
}

int ppo_sequence_init(struct sequence *s, struct ppo_queue *queue, const struct ppo_params *params,
                      const struct net_layout *layout, const struct ppo_plan *ppo_plan, void *base,
                      char *reason, size_t cap)
{
    *s = (struct sequence){
        .queue = queue, .params = params, .layout = layout, .plan = *ppo_plan, .base = base};
    struct kernel_policy policy;
    s->narrow = ppo_sequence_policy(s, &policy);
    const size_t rows[PASSES] = {ppo_plan->copies, ppo_plan->value_rows, ppo_plan->final_rows,
                                 ppo_plan->minibatch};
    int r = 0;
    for (int pass = 0; pass < PASSES && r == 0; pass++)
        for (int part = 0; part < 3 && r == 0; part++) {
            bool unused = (pass == PASS_ROLLOUT && (part == NET_VF || s->narrow)) ||
                          ((pass == PASS_VALUES || pass == PASS_FINALS) && part == NET_PI);
            if (!unused)
                r = plan_forward(s, (enum sequence_pass)pass, rows[pass], (enum net_part)part, reason, cap);
        }
    for (int part = 0; part < 3 && r == 0; part++)
        r = plan_inputs(s, (enum net_part)part, reason, cap);
    for (int part = 0; part < 3 && r == 0; part++)
        r = plan_back(s, (enum net_part)part, reason, cap);
    if (r == 0)
        r = ppo_queue_plan_end(queue, reason, cap);
    if (r == 0)
        list_sums(s);
    return r;
}
