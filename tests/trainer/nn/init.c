/* nn_init(): orthogonal weights of their gains, biases 0, the same for the same seed; and whether the numbers
 * behind them are normal: a weight of one column is a vector of even direction. */
#include "tests/check.h"
#include "tests/random.h"
#include "trainer/nn/train.h"

/* W W^T or W^T W, of the lesser side, is gain^2 times the identity. */
static void check_orthogonal(const struct net_tensor *tensor, const float *params, int first, int cols,
                             double gain)
{
    const float *w = params + tensor->offset + first;
    const int rows = tensor->rows, least = rows < cols ? rows : cols, most = rows < cols ? cols : rows;
    const size_t step = (size_t)tensor->stride;
    for (int a = 0; a < least; a++)
        for (int b = a; b < least; b++) {
            double dot = 0;
            for (int i = 0; i < most; i++)
                dot +=
                    rows < cols
                        ? (double)w[(size_t)a * step + (size_t)i] * (double)w[(size_t)b * step + (size_t)i]
                        : (double)w[(size_t)i * step + (size_t)a] * (double)w[(size_t)i * step + (size_t)b];
            CHECK_NEAR(dot / (gain * gain), a == b ? 1 : 0, 2e-6);
        }
}

static void check_value(const struct net_layout *layout, const char *name, const float *params, float value)
{
    const struct net_tensor *tensor = &layout->tensors[policy_net_layout_find(layout, name)];
    for (int i = 0; i < tensor->stride; i++)
        CHECK(params[tensor->offset + (size_t)i] == (i < tensor->cols ? value : 0));
}

static void check_shape(const struct net_shape *shape, uint64_t seed)
{
    struct net_layout layout;
    char err[NET_ERROR_MAX];
    CHECK_INT(policy_net_layout_init(&layout, shape, err), 0);
    float *params = malloc(layout.n_params * sizeof *params),
          *again = malloc(layout.n_params * sizeof *again);
    for (size_t i = 0; i < layout.n_params; i++)
        params[i] = again[i] = NAN;
    CHECK_INT(nn_init(&layout, seed, 0.01, -0.5, params), 0);
    CHECK_INT(nn_init(&layout, seed, 0.01, -0.5, again), 0);
    CHECK(memcmp(params, again, layout.n_params * sizeof *params) == 0);
    for (int t = 0; t < layout.n_tensors; t++) {
        const struct net_tensor *tensor = &layout.tensors[t];
        const bool recurrent = strstr(tensor->name, "recurrent") != NULL;
        const bool policy = t == layout.chains[NET_PI].head.weight,
                   value = t == layout.chains[NET_VF].head.weight;
        if (tensor->kind != NET_WEIGHT) {
            check_value(&layout, tensor->name, params,
                        tensor->kind == NET_NORM_WEIGHT ? 1.0f
                        : tensor->kind == NET_LOG_STD   ? -0.5f
                                                        : 0.0f);
            continue;
        }
        const int parts = recurrent ? 2 : 1, cols = tensor->cols / parts;
        for (int part = 0; part < parts; part++)
            check_orthogonal(tensor, params, part * cols, cols,
                             recurrent || value ? 1
                             : policy           ? 0.01
                                                : sqrt(2));
        for (int i = 0; i < tensor->rows_padded; i++)
            for (int j = 0; j < tensor->stride; j++)
                if (i >= tensor->rows || j >= tensor->cols)
                    CHECK(params[tensor->offset + (size_t)(i * tensor->stride + j)] == 0);
    }
    CHECK_INT(nn_init(&layout, seed + 1, 0.01, -0.5, again), 0);
    CHECK(memcmp(params, again, layout.n_params * sizeof *params) != 0);
    free(params);
    free(again);
}

/* One column of normals, normalised, is an even direction: moments of its components times sqrt(n). */
static void moments(uint64_t seed)
{
    struct net_layout layout;
    char err[NET_ERROR_MAX];
    const struct net_shape shape = {.observation = 60000, .actions = 1};
    CHECK_INT(policy_net_layout_init(&layout, &shape, err), 0);
    float *params = malloc(layout.n_params * sizeof *params);
    CHECK_INT(nn_init(&layout, seed, 1, 0, params), 0);
    const struct net_tensor *tensor = &layout.tensors[layout.chains[NET_PI].head.weight];
    double sums[5] = {0}, n = shape.observation, lag = 0, before = 0;
    for (int i = 0; i < shape.observation; i++) {
        const double x = (double)params[tensor->offset + (size_t)i * (size_t)tensor->stride] * sqrt(n);
        double power = 1;
        for (int k = 1; k <= 4; k++)
            sums[k] += power *= x;
        lag += before * x;
        before = x;
    }
    const double error = 6 / sqrt(n); /* six deviations of a mean of ones */
    CHECK_NEAR(sums[1] / n, 0, error);
    CHECK_NEAR(sums[3] / n, 0, error * sqrt(15));
    CHECK_NEAR(sums[4] / n, 3, error * sqrt(96));
    CHECK_NEAR(lag / n, 0, error);
    free(params);
}

int main(void)
{
    struct random random = random_seeded("init", 77);
    check_shape(
        &(struct net_shape){
            .observation = 36, .actions = 3, .n_pi = 2, .pi = {64, 64}, .n_vf = 2, .vf = {64, 64}},
        random_next(&random));
    check_shape(&(struct net_shape){.observation = 5,
                                    .actions = 2,
                                    .levels = 3,
                                    .n_pi = 3,
                                    .pi = {100, 7, 41},
                                    .n_vf = 1,
                                    .vf = {1},
                                    .layer_norm = true},
                random_next(&random));
    check_shape(
        &(struct net_shape){
            .observation = 50, .actions = 70, .n_pi = 1, .pi = {33}, .shared = true, .recurrent = 48},
        random_next(&random));
    moments(random_next(&random));
    return check_done("trainer/nn/init");
}
