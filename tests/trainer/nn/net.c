/* How parameters lie in memory: tensors by name, offsets, padding; and shapes that cannot be. */
#include "strategy/policy/net.h"

#include <errno.h>

#include "tests/check.h"
#include "tests/random.h"

static struct net_layout laid_out(const struct net_shape *shape)
{
    struct net_layout layout;
    char err[NET_ERROR_MAX] = "";
    CHECK_INT(policy_net_layout_init(&layout, shape, err), 0);
    CHECK_STR(err, "");
    return layout;
}

static void check_tensor(const struct net_layout *layout, const char *name, enum net_kind kind,
                         enum net_part part, int rows, int cols, int rows_padded, int stride)
{
    int i = policy_net_layout_find(layout, name);
    CHECK(i >= 0);
    if (i < 0) {
        fprintf(stderr, "no tensor %s\n", name);
        return;
    }
    const struct net_tensor *tensor = &layout->tensors[i];
    CHECK_STR(tensor->name, name);
    CHECK_INT(tensor->kind, kind);
    CHECK_INT(tensor->part, part);
    CHECK_INT(tensor->rows, rows);
    CHECK_INT(tensor->cols, cols);
    CHECK_INT(tensor->rows_padded, rows_padded);
    CHECK_INT(tensor->stride, stride);
}

/* Tensors follow one another without gaps and without overlap. */
static void check_places(const struct net_layout *layout)
{
    size_t at = 0, learned = 0;
    for (int i = 0; i < layout->n_tensors; i++) {
        const struct net_tensor *tensor = &layout->tensors[i];
        CHECK_INT(tensor->offset, at);
        CHECK_INT(tensor->offset % NET_LANES, 0);
        CHECK(tensor->stride % NET_LANES == 0 && tensor->stride >= tensor->cols &&
              tensor->stride < tensor->cols + NET_LANES);
        CHECK_INT(policy_net_layout_find(layout, tensor->name), i);
        at += (size_t)tensor->rows_padded * (size_t)tensor->stride;
        learned += (size_t)tensor->rows * (size_t)tensor->cols;
    }
    CHECK_INT(layout->n_params, at);
    CHECK_INT(layout->n_learned, learned);
    CHECK_INT(policy_net_layout_find(layout, "pi.99.weight"), -1);
}

static void separate(void)
{
    struct net_layout layout = laid_out(&(struct net_shape){.observation = 37,
                                                            .actions = 3,
                                                            .n_pi = 2,
                                                            .pi = {65, 16},
                                                            .n_vf = 1,
                                                            .vf = {7},
                                                            .layer_norm = true});
    check_places(&layout);
    CHECK_INT(layout.outputs, 3);
    CHECK_INT(layout.hidden, 0);
    CHECK_INT(layout.n_tensors, 4 + 4 + 2 + 4 + 2 + 1);
    check_tensor(&layout, "pi.0.weight", NET_WEIGHT, NET_PI, 37, 65, 40, 80);
    check_tensor(&layout, "pi.0.bias", NET_BIAS, NET_PI, 1, 65, 1, 80);
    check_tensor(&layout, "pi.0.norm.weight", NET_NORM_WEIGHT, NET_PI, 1, 65, 1, 80);
    check_tensor(&layout, "pi.1.norm.bias", NET_NORM_BIAS, NET_PI, 1, 16, 1, 16);
    check_tensor(&layout, "pi.2.weight", NET_WEIGHT, NET_PI, 16, 3, 16, 16);
    check_tensor(&layout, "vf.0.weight", NET_WEIGHT, NET_VF, 37, 7, 40, 16);
    check_tensor(&layout, "vf.1.weight", NET_WEIGHT, NET_VF, 7, 1, 8, 16);
    check_tensor(&layout, "log_std", NET_LOG_STD, NET_PI, 1, 3, 1, 16);
    CHECK_INT(layout.log_std, layout.n_tensors - 1);
    CHECK_INT(policy_net_layout_find(&layout, "vf.1.norm.weight"), -1);
    CHECK_INT(layout.chains[NET_PI].n_hidden, 2);
    CHECK_INT(layout.chains[NET_PI].hidden[1].weight, policy_net_layout_find(&layout, "pi.1.weight"));
    CHECK_INT(layout.chains[NET_PI].head.weight, policy_net_layout_find(&layout, "pi.2.weight"));
    CHECK_INT(layout.chains[NET_PI].head.norm_weight, -1);
    CHECK(layout.chains[NET_VF].has_head && !layout.chains[NET_VF].has_recurrent);
    CHECK(!layout.chains[NET_SHARED].has_head);
}

static void shared_recurrent_discrete(void)
{
    struct net_layout layout = laid_out(&(struct net_shape){.observation = 8,
                                                            .actions = 2,
                                                            .levels = 5,
                                                            .n_pi = 1,
                                                            .pi = {24},
                                                            .n_vf = 77 /* not looked at */,
                                                            .shared = true,
                                                            .recurrent = 32});
    check_places(&layout);
    CHECK_INT(layout.outputs, 10);
    CHECK_INT(layout.hidden, 32);
    CHECK_INT(layout.log_std, -1);
    CHECK_STR(layout.tensors[0].name, "shared.0.weight");
    check_tensor(&layout, "shared.recurrent.weight", NET_WEIGHT, NET_SHARED, 24, 64, 24, 64);
    check_tensor(&layout, "shared.recurrent.bias", NET_BIAS, NET_SHARED, 1, 64, 1, 64);
    check_tensor(&layout, "pi.0.weight", NET_WEIGHT, NET_PI, 32, 10, 32, 16);
    check_tensor(&layout, "vf.0.bias", NET_BIAS, NET_VF, 1, 1, 1, 16);
    CHECK(layout.chains[NET_SHARED].has_recurrent && !layout.chains[NET_SHARED].has_head);
    CHECK(layout.chains[NET_PI].has_head && !layout.chains[NET_PI].has_recurrent);
    CHECK_INT(layout.chains[NET_SHARED].recurrent.out, 64);

    struct net_shape bare = {.observation = 5, .actions = 1, .n_vf = 1, .vf = {3}, .recurrent = 16};
    layout = laid_out(&bare);
    check_places(&layout);
    CHECK_INT(layout.hidden, 32);
    check_tensor(&layout, "pi.recurrent.weight", NET_WEIGHT, NET_PI, 5, 32, 8, 32);
    check_tensor(&layout, "pi.0.weight", NET_WEIGHT, NET_PI, 16, 1, 16, 16);
    check_tensor(&layout, "vf.recurrent.weight", NET_WEIGHT, NET_VF, 3, 32, 8, 32);
}

static void many(void)
{
    struct random random = random_seeded("net", 811);
    for (int i = 0; i < 300; i++) {
        struct net_shape shape = {
            .observation = (int)random_between(&random, 1, 300),
            .actions = (int)random_between(&random, 1, 40),
            .levels = random_chance(&random, 40) ? (int)random_between(&random, 2, 9) : 0,
            .n_pi = (int)random_between(&random, 0, NET_LAYERS_MAX),
            .n_vf = (int)random_between(&random, 0, NET_LAYERS_MAX),
            .shared = random_chance(&random, 30),
            .layer_norm = random_chance(&random, 50),
            .recurrent = random_chance(&random, 50) ? 16 * (int)random_between(&random, 1, 9) : 0,
            .activation = (enum net_activation)random_between(&random, NET_TANH, NET_SILU)};
        for (int layer = 0; layer < NET_LAYERS_MAX; layer++) {
            shape.pi[layer] = (int)random_between(&random, 1, 130);
            shape.vf[layer] = (int)random_between(&random, 1, 130);
        }
        struct net_layout layout = laid_out(&shape);
        check_places(&layout);
        CHECK(layout.n_tensors <= NET_TENSORS_MAX);
    }
}

static void refused(struct net_shape shape, const char *expected)
{
    struct net_layout layout = {.n_tensors = 4711};
    char err[NET_ERROR_MAX] = "";
    CHECK_INT(policy_net_layout_init(&layout, &shape, err), -EINVAL);
    CHECK_STR(err, expected);
    CHECK_INT(layout.n_tensors, 4711);
}

static void bad_shapes(void)
{
    refused((struct net_shape){.actions = 1}, "observation: 0: 1 to 65536");
    refused((struct net_shape){.observation = 4, .actions = 5000}, "actions: 5000: 1 to 4096");
    refused((struct net_shape){.observation = 4, .actions = 1, .levels = 1},
            "levels: 1 of 1 actions: 0 (continuous) or at least 2, and at most 4096 with the actions");
    refused((struct net_shape){.observation = 4, .actions = 3, .levels = 1366},
            "levels: 1366 of 3 actions: 0 (continuous) or at least 2, and at most 4096 with the actions");
    refused((struct net_shape){.observation = 4, .actions = 1, .n_pi = 9},
            "policy_layers: 9 hidden layers: 0 to 8");
    refused((struct net_shape){.observation = 4, .actions = 1, .n_pi = 1, .n_vf = 1, .pi = {8}},
            "value_layers: 0: 1 to 8192");
    refused((struct net_shape){.observation = 4, .actions = 1, .n_pi = 1, .pi = {8193}, .shared = true},
            "shared layers: 8193: 1 to 8192");
    refused((struct net_shape){.observation = 4, .actions = 1, .recurrent = 24},
            "recurrent: 24: 0 (none) or a multiple of 16 up to 8192");
    refused((struct net_shape){.observation = 4, .actions = 1, .activation = (enum net_activation)3},
            "activation: 3: tanh, relu or silu");
}

static void activations(void)
{
    for (enum net_activation i = NET_TANH; i <= NET_SILU; i++) {
        enum net_activation parsed = (enum net_activation) - 1;
        CHECK(policy_net_activation_parse(policy_net_activation_name(i), &parsed));
        CHECK_INT(parsed, i);
    }
    enum net_activation parsed = NET_RELU;
    CHECK(!policy_net_activation_parse("Tanh", &parsed));
    CHECK(!policy_net_activation_parse("", &parsed));
    CHECK_INT(parsed, NET_RELU);
}

int main(void)
{
    separate();
    shared_recurrent_discrete();
    many();
    bad_shapes();
    activations();
    return check_done("trainer/nn/net");
}
