/* Inference: every instruction set gives the plain kernels' bits on networks of every kind; values agree with
 * float64 by the plain formulas; nothing is allocated in a call. */
#include "strategy/policy/trained.h"

#include <errno.h>

#include "tests/check.h"
#include "tests/random.h"

/* Counted: the linker leads the library's calls here. */
static size_t allocations;
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t each);
void *__real_aligned_alloc(size_t alignment, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t each);
void *__wrap_aligned_alloc(size_t alignment, size_t n);

void *__wrap_malloc(size_t n)
{
    allocations++;
    return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t each)
{
    allocations++;
    return __real_calloc(n, each);
}

void *__wrap_aligned_alloc(size_t alignment, size_t n)
{
    allocations++;
    return __real_aligned_alloc(alignment, n);
}

enum { STEPS = 5, HIDDEN_MAX = 2 * 4096 };

static const enum net_isa isas[] = {NET_SCALAR, NET_BASELINE, NET_AVX2, NET_AVX512, NET_BEST};
static const char *const isa_names[] = {"scalar", "baseline", "avx2", "avx512", "best"};
enum { ISAS = sizeof isas / sizeof *isas };

static double uniform(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53 * 2 - 1;
}

struct network {
    struct net_layout layout;
    float *params, *mean, *scale, clip;
};

static struct network network_of(struct random *random, const struct net_shape *shape, double size)
{
    struct network net = {.clip = 10};
    char err[NET_ERROR_MAX] = "";
    CHECK_INT(policy_net_layout_init(&net.layout, shape, err), 0);
    CHECK_STR(err, "");
    size_t n = (size_t)shape->observation;
    net.params = calloc(net.layout.n_params, sizeof(float));
    net.mean = calloc(n, sizeof(float));
    net.scale = calloc(n, sizeof(float));
    if (!net.params || !net.mean || !net.scale)
        abort();
    for (int t = 0; t < net.layout.n_tensors; t++) {
        const struct net_tensor *tensor = &net.layout.tensors[t];
        double gain = tensor->kind == NET_WEIGHT ? size / sqrt(tensor->rows) : size;
        for (int i = 0; i < tensor->rows; i++)
            for (int k = 0; k < tensor->cols; k++)
                net.params[tensor->offset + (size_t)i * (size_t)tensor->stride + (size_t)k] =
                    (float)(gain * 1.7 * uniform(random) + (tensor->kind == NET_NORM_WEIGHT));
    }
    for (size_t i = 0; i < n; i++) {
        net.mean[i] = (float)uniform(random);
        net.scale[i] = (float)(1 + 0.5 * uniform(random));
    }
    return net;
}

static void network_finish(struct network *net)
{
    free(net->params);
    free(net->mean);
    free(net->scale);
}

/* ---- the formulas in float64 ---- */

static double weight_at(const struct network *net, int tensor, int row, int col)
{
    const struct net_tensor *t = &net->layout.tensors[tensor];
    return (double)net->params[t->offset + (size_t)row * (size_t)t->stride + (size_t)col];
}

static void plain_layer(const struct network *net, const struct net_layer *layer, const double *x, double *y)
{
    for (int k = 0; k < layer->out; k++) {
        y[k] = weight_at(net, layer->bias, 0, k);
        for (int i = 0; i < layer->in; i++)
            y[k] += x[i] * weight_at(net, layer->weight, i, k);
    }
    if (layer->norm_weight < 0)
        return;
    double mean = 0, var = 0;
    for (int k = 0; k < layer->out; k++)
        mean += y[k] / layer->out;
    for (int k = 0; k < layer->out; k++)
        var += (y[k] - mean) * (y[k] - mean) / layer->out;
    for (int k = 0; k < layer->out; k++)
        y[k] = (y[k] - mean) / sqrt(var + 1e-5) * weight_at(net, layer->norm_weight, 0, k) +
               weight_at(net, layer->norm_bias, 0, k);
}

static double plain_activation(enum net_activation activation, double x)
{
    return activation == NET_TANH ? tanh(x) : activation == NET_RELU ? fmax(x, 0) : x / (1 + exp(-x));
}

/* x in and out; h: the chain's recurrent state. */
static void plain_body(const struct network *net, const struct net_chain *chain, double *x, double *h)
{
    static double y[NET_WIDTH_MAX];
    for (int l = 0; l < chain->n_hidden; l++) {
        plain_layer(net, &chain->hidden[l], x, y);
        for (int k = 0; k < chain->hidden[l].out; k++)
            x[k] = plain_activation(net->layout.shape.activation, y[k]);
    }
    int r = net->layout.shape.recurrent;
    if (!chain->has_recurrent)
        return;
    plain_layer(net, &chain->recurrent, x, y);
    for (int k = 0; k < r; k++) {
        double z = 1 / (1 + exp(-y[k]));
        x[k] = h[k] = (1 - z) * h[k] + z * y[r + k];
    }
}

/* Heads and value; `hidden` is updated. */
static double plain_forward(const struct network *net, const float *observation, double *hidden,
                            double *heads)
{
    static double x[NET_OBSERVATION_MAX], value;
    const struct net_shape *shape = &net->layout.shape;
    for (int part = NET_PI; part <= NET_VF; part++) {
        for (int i = 0; i < shape->observation; i++)
            x[i] = fmin(fmax(((double)observation[i] - (double)net->mean[i]) * (double)net->scale[i],
                             -(double)net->clip),
                        (double)net->clip);
        if (!shape->shared) {
            plain_body(net, &net->layout.chains[part], x, hidden + (part == NET_VF ? shape->recurrent : 0));
        } else {
            double kept[HIDDEN_MAX];
            memcpy(kept, hidden, (size_t)shape->recurrent * sizeof *kept);
            plain_body(net, &net->layout.chains[NET_SHARED], x, part == NET_PI ? kept : hidden);
        }
        plain_layer(net, &net->layout.chains[part].head, x, part == NET_PI ? heads : &value);
    }
    return value;
}

/* ---- comparisons ---- */

static size_t n_networks, n_compared;
static double worst;

struct one {
    struct net_model *model;
    struct net_memory *memory;
};

static bool open_one(const struct network *net, enum net_isa isa, struct one *ret)
{
    *ret = (struct one){0};
    int r = policy_net_model_create(&net->layout, net->params, net->mean, net->scale, net->clip, isa,
                                    &ret->model);
    CHECK(r == 0 || (r == -ENOTSUP && isa > NET_BASELINE));
    if (r == 0)
        CHECK_INT(policy_net_memory_create(ret->model, &ret->memory), 0);
    return r == 0;
}

static void close_one(struct one *one)
{
    policy_net_memory_destroy(one->memory);
    policy_net_model_destroy(one->model);
}

/* The first of the largest, of what float64 has; within `tolerance` another may be it. */
static bool largest(const double *logits, int levels, int chosen, double tolerance)
{
    double most = logits[0];
    for (int k = 1; k < levels; k++)
        most = fmax(most, logits[k]);
    return chosen >= 0 && chosen < levels && logits[chosen] >= most - tolerance;
}

/* `near`: also compare with float64, whose heads have about size 1. */
static void compare(struct random *random, const struct network *net, double size, bool near)
{
    const struct net_shape *shape = &net->layout.shape;
    struct one ones[ISAS];
    bool there[ISAS];
    size_t outputs = (size_t)net->layout.outputs, n = (size_t)shape->observation, hidden_n;
    float *observation = malloc(n * sizeof *observation), *heads = malloc(outputs * sizeof *heads),
          *first = malloc(outputs * sizeof *first), *acts = malloc((size_t)shape->actions * sizeof *acts);
    double *plain = malloc(outputs * sizeof *plain), hidden[HIDDEN_MAX] = {0};
    if (!observation || !heads || !first || !acts || !plain)
        abort();
    for (int k = 0; k < ISAS; k++)
        there[k] = open_one(net, isas[k], &ones[k]);
    size_t bad = 0, bad_act = 0, allocated = allocations;
    for (int step = 0; step < STEPS; step++) {
        for (size_t i = 0; i < n; i++)
            observation[i] = (float)(size * uniform(random));
        float value = 0;
        const float *first_hidden = NULL;
        for (int k = 0; k < ISAS; k++) {
            if (!there[k])
                continue;
            float got = policy_net_model_value(ones[k].model, ones[k].memory, observation);
            if (step == STEPS - 1) /* the last one by what it does: states are as they would be */
                policy_net_model_act(ones[k].model, ones[k].memory, observation, acts);
            else
                policy_net_model_heads(ones[k].model, ones[k].memory, observation, k == 0 ? first : heads);
            const float *now = policy_net_memory_hidden(ones[k].memory, &hidden_n);
            CHECK_INT(hidden_n, net->layout.hidden);
            if (k == 0) {
                value = got;
                first_hidden = now;
            }
            bad += memcmp(&got, &value, sizeof got) != 0;
            if (step < STEPS - 1)
                bad += k > 0 && memcmp(heads, first, outputs * sizeof *heads) != 0;
            bad += memcmp(now, first_hidden, hidden_n * sizeof *now) != 0;
            n_compared += outputs + 1;
        }
        double expected = plain_forward(net, observation, hidden, plain);
        for (size_t i = 0; i < outputs && step < STEPS - 1; i++) {
            double off = fabs((double)first[i] - plain[i]);
            worst = near && off > worst ? off : worst;
            bad += near && !(off <= 1e-5 * (1 + fabs(plain[i])));
        }
        bad += near && !(fabs((double)value - expected) <= 1e-5 * (1 + fabs(expected)));
        for (int a = 0; a < shape->actions && step == STEPS - 1 && near; a++)
            bad_act += shape->levels ? !largest(plain + a * shape->levels, shape->levels, (int)acts[a], 2e-5)
                                     : !(fabs((double)acts[a] - plain[a]) <= 1e-5 * (1 + fabs(plain[a])));
    }
    CHECK_INT(bad, 0);
    CHECK_INT(bad_act, 0);
    CHECK_INT(allocations, allocated);
    if (bad || bad_act)
        fprintf(stderr,
                "  observation %d, layers %d, first %d, actions %d x %d, shared %d, norm %d, %s, r %d\n",
                shape->observation, shape->n_pi, shape->pi[0], shape->actions, shape->levels, shape->shared,
                shape->layer_norm, policy_net_activation_name(shape->activation), shape->recurrent);
    for (int k = 0; k < ISAS; k++)
        if (there[k])
            close_one(&ones[k]);
    n_networks++;
    free(observation);
    free(heads);
    free(first);
    free(acts);
    free(plain);
}

static void random_shapes(struct random *random, int n)
{
    for (int i = 0; i < n; i++) {
        int most = random_chance(random, 20) ? 300 : 70;
        struct net_shape shape = {
            .observation = (int)random_between(random, 1, most),
            .actions = (int)random_between(random, 1, random_chance(random, 20) ? 130 : 9),
            .levels = random_chance(random, 40) ? (int)random_between(random, 2, 21) : 0,
            .n_pi = (int)random_between(random, 0, 3),
            .n_vf = (int)random_between(random, 0, 3),
            .shared = random_chance(random, 30),
            .layer_norm = random_chance(random, 30),
            .activation = (enum net_activation)random_between(random, 0, 2),
            .recurrent = random_chance(random, 30) ? (int)random_between(random, 1, 6) * NET_LANES : 0,
        };
        for (int k = 0; k < NET_LAYERS_MAX; k++) {
            shape.pi[k] = (int)random_between(random, 1, most);
            shape.vf[k] = (int)random_between(random, 1, most);
        }
        struct network net = network_of(random, &shape, 1);
        compare(random, &net, 1, true);
        network_finish(&net);
    }
}

/* Widths around panels and vectors; numbers where rounding is coarse or ends. */
static void edges(struct random *random)
{
    static const int widths[] = {1, 15, 16, 17, 31, 33, 48, 63, 64, 65, 80, 112, 128, 129, 191, 200};
    static const double sizes[] = {1, 1e-20, 1e-38, 1e-42, 1e15, 3e37};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct net_shape shape = {.observation = widths[w],
                                      .actions = (int)(1 + w),
                                      .n_pi = 2,
                                      .n_vf = 1,
                                      .pi = {widths[w], widths[(w + 5) % 16]},
                                      .vf = {widths[(w + 3) % 16]},
                                      .layer_norm = w % 5 == 2,
                                      .activation = (enum net_activation)((w + s) % 3),
                                      .recurrent = w % 4 == 1 ? 48 : 0};
            struct network net = network_of(random, &shape, sizes[s] > 1 ? 1 : sizes[s]);
            net.clip = 3e38f;
            compare(random, &net, sizes[s], sizes[s] == 1);
            network_finish(&net);
        }
}

static void reference_widths(struct random *random)
{
    const struct net_shape shape = {.observation = 256,
                                    .actions = 5,
                                    .n_pi = 3,
                                    .n_vf = 3,
                                    .pi = {2048, 1024, 512},
                                    .vf = {2048, 1024, 512}};
    struct network net = network_of(random, &shape, 1);
    compare(random, &net, 1, true);
    network_finish(&net);
}

int main(void)
{
    struct random random = random_seeded("inference", 20261122);
    for (int k = 0; k < ISAS; k++) {
        struct network net = network_of(&random, &(struct net_shape){.observation = 3, .actions = 2}, 1);
        struct one one;
        printf("%s: %s\n", isa_names[k],
               open_one(&net, isas[k], &one) ? "compared" : "not on this processor");
        close_one(&one);
        network_finish(&net);
    }
    policy_net_model_destroy(NULL);
    policy_net_memory_destroy(NULL);
    random_shapes(&random, getenv("PAPERTAPE_LONG") ? 5000 : 300);
    edges(&random);
    reference_widths(&random);
    CHECK(allocations > 4 * n_networks); /* those of the models themselves were counted */
    printf("counts: %zu networks, %zu outputs compared bit by bit; within %.1e of float64\n", n_networks,
           n_compared, worst);
    return check_done("strategy/inference");
}
