/* The policy in one kernel against what wider networks have: products by plain loops in order, then the
 * kernels of activations and actions: the same bits. */
#include "tests/trainer/ppo/blocks_try.h"

enum { STEP = 3 };

struct shape {
    uint32_t copies, size, n, widths[4]; /* hidden */
    uint32_t actions, levels;
};

struct net {
    struct kernel_policy policy;
    bool half;
    struct kernel_act apart; /* act's results of the kernels apart */
};

static float rounded(float x, bool half, bool tf32)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    if (half)
        bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000u;
    else if (tf32)
        bits = (bits + 0xFFF + (bits >> 13 & 1)) & ~0x1FFFu;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static void *params_of(struct try *t, size_t n, bool half)
{
    float *floats = try_floats(t, n, -0.5, 0.5);
    if (!half)
        return floats;
    uint16_t *ret = try_room(t, n * sizeof(*ret));
    for (size_t i = 0; i < n; i++) {
        float x = rounded(floats[i], true, false);
        uint32_t bits;
        memcpy(&bits, &x, sizeof(bits));
        ret[i] = (uint16_t)(bits >> 16);
    }
    return ret;
}

/* Zeros behind the columns, as parameters have them. */
static void add_layer(struct try *t, struct net *net, uint32_t in, uint32_t cols, bool head)
{
    struct kernel_policy_layer *layer = &net->policy.layers[net->policy.n_layers++];
    layer->in = try_stride(in, 8);
    layer->out = try_stride(cols, 16);
    layer->cols = cols;
    layer->weight = params_of(t, (size_t)layer->in * layer->out, net->half);
    layer->bias = params_of(t, layer->out, net->half && !head);
    for (uint32_t row = 0; row < layer->in; row++)
        for (uint32_t c = 0; c < layer->out; c++) {
            const struct kernel_matrix w = {(void *)(uintptr_t)layer->weight, layer->out, net->half},
                                       b = {(void *)(uintptr_t)layer->bias, layer->out, net->half && !head};
            if (row >= in || c >= cols)
                try_set(&w, row, c, 0);
            if (c >= cols)
                try_set(&b, 0, c, 0);
        }
}

static struct kernel_act act_of(struct try *t, const struct shape *s, struct kernel_clock *clock,
                                uint32_t stride, const float *log_std)
{
    const size_t rows = (size_t)s->copies * (STEP + 1);
    return (struct kernel_act){.clock = clock,
                               .seed = 5,
                               .heads = try_room(t, (size_t)s->copies * stride * sizeof(float)),
                               .head_stride = stride,
                               .copies = s->copies,
                               .actions = s->actions,
                               .levels = s->levels,
                               .log_std = log_std,
                               .env_actions = try_room(t, (size_t)s->copies * s->actions * sizeof(float)),
                               .taken = try_room(t, rows * s->actions * sizeof(float)),
                               .logp = try_room(t, rows * sizeof(float))};
}

static void make(struct try *t, const struct shape *s, struct net *net, bool half, bool tf32,
                 enum kernel_activation activation)
{
    *net = (struct net){.policy = {.tf32 = tf32, .activation = activation}, .half = half};
    uint32_t in = s->size, outputs = s->actions * (s->levels ? s->levels : 1);
    for (uint32_t i = 0; i < s->n; i++) {
        add_layer(t, net, in, s->widths[i], false);
        in = s->widths[i];
    }
    add_layer(t, net, in, outputs, true);
    struct kernel_clock *clock = try_zeros(t, sizeof(*clock));
    const float *log_std = s->levels ? NULL : try_floats(t, s->actions, -2, 0.5);
    clock->step = STEP;
    clock->run_step = 77;
    net->policy.x = try_random_rows(t, s->copies, s->size, try_stride(s->size, 8), half, -3, 3);
    net->policy.act = act_of(t, s, clock, try_stride(outputs, 16), log_std);
    net->policy.heads = (float *)(uintptr_t)net->policy.act.heads;
    net->apart = act_of(t, s, clock, try_stride(outputs, 16), log_std);
}

/* y = x w + bias, in order. */
static void product(const struct net *net, const struct kernel_policy_layer *layer,
                    const struct kernel_matrix *x, const struct kernel_matrix *y, bool head)
{
    const struct kernel_matrix w = {(void *)(uintptr_t)layer->weight, layer->out, net->half},
                               b = {(void *)(uintptr_t)layer->bias, layer->out, net->half && !head};
    for (uint32_t row = 0; row < net->policy.act.copies; row++)
        for (uint32_t c = 0; c < layer->out; c++) {
            float sum = 0;
            for (uint32_t l = 0; l < layer->in; l++)
                sum += rounded(try_at(x, row, l), false, net->policy.tf32) *
                       rounded(try_at(&w, l, c), false, net->policy.tf32);
            sum += try_at(&b, 0, c);
            try_set(y, row, c, rounded(sum, y->half, false));
        }
}

static void run_apart(struct try *t, struct net *net)
{
    const uint32_t n = net->policy.n_layers, copies = net->policy.act.copies;
    struct kernel_matrix x = net->policy.x;
    for (uint32_t i = 0; i < n; i++) {
        const struct kernel_policy_layer *layer = &net->policy.layers[i];
        if (i + 1 == n) {
            const struct kernel_matrix heads = {(void *)(uintptr_t)net->apart.heads, layer->out, false};
            product(net, layer, &x, &heads, true);
            break;
        }
        struct kernel_layer kernel = {.rows = copies,
                                      .cols = layer->cols,
                                      .activation = net->policy.activation,
                                      .x = try_rows(t, copies, layer->out, net->half),
                                      .y = try_rows(t, copies, layer->out, net->half)};
        product(net, layer, &x, &kernel.x, false);
        ppo_launch_activate(&kernel, NULL);
        x = kernel.y;
    }
    ppo_launch_act(&net->apart, NULL);
}

static void try_policy(struct try *t, const struct shape *s, bool half, bool tf32,
                       enum kernel_activation activation)
{
    struct net net;
    make(t, s, &net, half, tf32, activation);
    const struct kernel_act *act = &net.policy.act;
    const size_t taken = (size_t)s->copies * s->actions * sizeof(float),
                 heads = (size_t)s->copies * act->head_stride * sizeof(float),
                 first = (size_t)STEP * s->copies;
    run_apart(t, &net);
    TRY_RUN(t, ppo_launch_policy(&net.policy, NULL));
    CHECK(memcmp(act->heads, net.apart.heads, heads) == 0);
    CHECK(memcmp(act->env_actions, net.apart.env_actions, taken) == 0);
    CHECK(memcmp(act->taken + first * s->actions, net.apart.taken + first * s->actions, taken) == 0);
    CHECK(memcmp(act->logp + first, net.apart.logp + first, s->copies * sizeof(float)) == 0);
    CHECK(isnan(act->taken[first * s->actions - 1]) && isnan(act->logp[first - 1])); /* no other step's */
    try_end(t);
}

int main(void)
{
    static const struct shape shapes[] = {
        {1, 5, 0, {0}, 1, 0},   {31, 36, 2, {64, 64}, 3, 0},           {33, 350, 3, {128, 48, 17}, 30, 0},
        {65, 8, 1, {16}, 5, 7}, {32, 13, 4, {1, 100, 127, 33}, 33, 3},
    };
    struct try t = {.random = random_seeded("trainer/ppo/blocks_policy", 20261124)};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        for (int activation = KERNEL_TANH; activation <= KERNEL_SILU; activation++)
            for (int precision = 0; precision < 3; precision++) /* float32, TF32, bfloat16 */
                try_policy(&t, &shapes[i], precision == 2, precision == 1,
                           (enum kernel_activation)activation);
    return check_done("trainer/ppo/blocks_policy");
}
