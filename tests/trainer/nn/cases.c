#include "tests/trainer/nn/cases.h"

#include "tests/check.h"
#include "tests/random.h"

#define LOSS .clip_range = 0.2, .vf_coef = 0.5, .ent_coef = 0.01

struct nn_case nn_cases[] = {
    {"64x64",
     {.observation = 36, .actions = 3, .n_pi = 2, .pi = {64, 64}, .n_vf = 2, .vf = {64, 64}},
     .rows = 70,
     LOSS},
    {"odd widths",
     {.observation = 7, .actions = 2, .n_pi = 3, .pi = {5, 17, 33}, .n_vf = 1, .vf = {13}},
     .rows = 37,
     LOSS,
     .clip_range_vf = 0.3},
    {"one of each",
     {.observation = 1, .actions = 1, .n_pi = 1, .pi = {1}, .n_vf = 1, .vf = {1}, .activation = NET_SILU},
     .rows = 1,
     LOSS},
    {"no hidden layer", {.observation = 11, .actions = 4}, .rows = 19, LOSS},
    {"no hidden layer, discrete",
     {.observation = 11, .actions = 2, .levels = 3, .n_vf = 1, .vf = {20}},
     .rows = 19,
     LOSS},
    {"relu",
     {.observation = 18,
      .actions = 2,
      .n_pi = 2,
      .pi = {31, 16},
      .n_vf = 2,
      .vf = {16, 31},
      .activation = NET_RELU},
     .rows = 33,
     LOSS},
    {"silu",
     {.observation = 18,
      .actions = 2,
      .n_pi = 2,
      .pi = {31, 16},
      .n_vf = 2,
      .vf = {16, 40},
      .activation = NET_SILU},
     .rows = 33,
     LOSS},
    {"layer norm",
     {.observation = 9,
      .actions = 3,
      .n_pi = 2,
      .pi = {24, 15},
      .n_vf = 2,
      .vf = {18, 7},
      .layer_norm = true},
     .rows = 25,
     LOSS},
    {"layer norm, silu",
     {.observation = 9,
      .actions = 3,
      .n_pi = 2,
      .pi = {24, 15},
      .n_vf = 1,
      .vf = {16},
      .layer_norm = true,
      .activation = NET_SILU},
     .rows = 25,
     LOSS},
    {"shared",
     {.observation = 12, .actions = 5, .n_pi = 2, .pi = {32, 21}, .shared = true},
     .rows = 30,
     LOSS},
    {"shared, no trunk", {.observation = 12, .actions = 5, .shared = true}, .rows = 30, LOSS},
    {"shared, silu, norm, discrete",
     {.observation = 12,
      .actions = 2,
      .levels = 9,
      .n_pi = 2,
      .pi = {32, 21},
      .shared = true,
      .layer_norm = true,
      .activation = NET_SILU},
     .rows = 30,
     LOSS},
    {"discrete",
     {.observation = 4, .actions = 1, .levels = 2, .n_pi = 2, .pi = {16, 16}, .n_vf = 2, .vf = {16, 16}},
     .rows = 40,
     LOSS,
     .clip_range_vf = 0.2},
    {"discrete, three actions",
     {.observation = 10,
      .actions = 3,
      .levels = 7,
      .n_pi = 1,
      .pi = {23},
      .n_vf = 1,
      .vf = {23},
      .activation = NET_RELU},
     .rows = 28,
     LOSS},
    {"entropy bounded",
     {.observation = 6, .actions = 3, .n_pi = 1, .pi = {16}, .n_vf = 1, .vf = {16}},
     .rows = 20,
     LOSS,
     .entropy_bound = 1.0,
     .value_bound = 1e3},
    {"value bounded",
     {.observation = 6, .actions = 1, .levels = 4, .n_pi = 1, .pi = {16}, .n_vf = 1, .vf = {16}},
     .rows = 20,
     LOSS,
     .entropy_bound = 10,
     .value_bound = 0.5},
    {"recurrent",
     {.observation = 8, .actions = 2, .n_pi = 1, .pi = {20}, .n_vf = 1, .vf = {12}, .recurrent = 16},
     .rows = 40,
     .steps = 8,
     .has_starts = true,
     .has_hidden = true,
     LOSS},
    {"recurrent, zeros before",
     {.observation = 8, .actions = 2, .n_pi = 1, .pi = {20}, .recurrent = 16},
     .rows = 15,
     .steps = 5,
     LOSS},
    {"recurrent, no hidden layer",
     {.observation = 5, .actions = 1, .levels = 3, .recurrent = 32},
     .rows = 21,
     .steps = 7,
     .has_starts = true,
     .has_hidden = true,
     LOSS},
    {"recurrent, shared, norm",
     {.observation = 5,
      .actions = 2,
      .n_pi = 2,
      .pi = {17, 9},
      .shared = true,
      .layer_norm = true,
      .activation = NET_RELU,
      .recurrent = 16},
     .rows = 24,
     .steps = 6,
     .has_starts = true,
     .has_hidden = true,
     LOSS},
    {"one step",
     {.observation = 5, .actions = 2, .n_pi = 1, .pi = {17}, .n_vf = 1, .vf = {8}, .recurrent = 16},
     .rows = 9,
     .steps = 1,
     .has_starts = true,
     .has_hidden = true,
     LOSS},
    {"large",
     {.observation = 150, .actions = 9, .n_pi = 2, .pi = {300, 257}, .n_vf = 2, .vf = {140, 129}},
     .rows = 150,
     .large = true,
     LOSS},
    {"large, few rows",
     {.observation = 70, .actions = 4, .n_pi = 2, .pi = {256, 513}, .n_vf = 1, .vf = {145}},
     .rows = 11,
     .large = true,
     LOSS},
    {"large, shared, recurrent",
     {.observation = 130,
      .actions = 5,
      .levels = 4,
      .n_pi = 2,
      .pi = {200, 90},
      .shared = true,
      .activation = NET_SILU,
      .recurrent = 144},
     .rows = 140,
     .steps = 14,
     .has_starts = true,
     .has_hidden = true,
     .large = true,
     LOSS},
    {"large enough for OpenBLAS",
     {.observation = 90,
      .actions = 2,
      .n_pi = 3,
      .pi = {530, 500, 301},
      .n_vf = 2,
      .vf = {560, 480},
      .activation = NET_SILU},
     .rows = 160,
     .large = true,
     LOSS},
};
const int nn_n_cases = sizeof nn_cases / sizeof *nn_cases;

static double even(struct random *random, double low, double high)
{
    return low + (high - low) * (double)(random_next(random) >> 11) * 0x1p-53;
}

static double *draw(struct random *random, size_t n, double low, double high)
{
    double *ret = malloc(n * sizeof *ret + 1);
    for (size_t i = 0; i < n; i++)
        ret[i] = even(random, low, high);
    return ret;
}

static void draw_params(struct nn_case *c, struct random *random)
{
    c->params = calloc(c->layout.n_params, sizeof *c->params);
    for (int t = 0; t < c->layout.n_tensors; t++) {
        const struct net_tensor *tensor = &c->layout.tensors[t];
        const double size = tensor->kind == NET_WEIGHT ? 1.5 / sqrt(tensor->rows) : 0.5;
        for (int i = 0; i < tensor->rows; i++)
            for (int j = 0; j < tensor->cols; j++)
                c->params[tensor->offset + (size_t)(i * tensor->stride + j)] =
                    (tensor->kind == NET_NORM_WEIGHT) + even(random, -size, size);
    }
}

void case_draw(struct nn_case *c, uint64_t seed)
{
    struct random random = {seed};
    char err[NET_ERROR_MAX];
    if (policy_net_layout_init(&c->layout, &c->shape, err) != 0) {
        fprintf(stderr, "%s: %s\n", c->name, err);
        abort();
    }
    c->steps = c->steps ? c->steps : 1;
    const size_t rows = (size_t)c->rows, actions = (size_t)c->shape.actions;
    draw_params(c, &random);
    c->obs = draw(&random, rows * (size_t)c->shape.observation, -2, 2);
    c->hidden = draw(&random, rows / (size_t)c->steps * (size_t)c->layout.hidden, -1, 1);
    c->actions = draw(&random, rows * actions, -2, 2);
    for (size_t i = 0; c->shape.levels && i < rows * actions; i++)
        c->actions[i] = (double)random_between(&random, 0, c->shape.levels - 1);
    c->starts = calloc(rows, 1);
    for (size_t i = 0; i < rows; i++)
        c->starts[i] = random_chance(&random, 25);
    c->advantages = draw(&random, rows, -2, 2);
    c->returns = draw(&random, rows, -2, 2);
    c->old_logp = draw(&random, rows, -0.5, 0.5); /* beside what the network says: */
    c->old_values = draw(&random, rows, -0.7, 0.7);
    /* As float32 has them, so that both precisions see the same numbers. */
    double *const all[] = {c->params, c->obs, c->hidden, c->actions, c->advantages, c->returns};
    const size_t sizes[] = {c->layout.n_params,
                            rows * (size_t)c->shape.observation,
                            rows / (size_t)c->steps * (size_t)c->layout.hidden,
                            rows * actions,
                            rows,
                            rows};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (size_t i = 0; i < sizes[k]; i++)
            all[k][i] = (double)(float)all[k][i];
    struct nn_outcome outcome;
    outcome_alloc(&outcome, c);
    free(outcome.grads);
    outcome.grads = NULL;
    pass_f64(c, c->params, NULL, 1, &outcome);
    for (size_t i = 0; i < rows; i++) {
        c->old_logp[i] = (double)(float)(c->old_logp[i] + outcome.logp[i]);
        c->old_values[i] = (double)(float)(c->old_values[i] + outcome.values[i]);
    }
    outcome_free(&outcome);
}

void case_free(struct nn_case *c)
{
    double *const all[] = {c->params,   c->obs,        c->hidden,     c->actions,
                           c->old_logp, c->old_values, c->advantages, c->returns};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
    free(c->starts);
}

void outcome_alloc(struct nn_outcome *outcome, const struct nn_case *c)
{
    const size_t rows = (size_t)c->rows;
    *outcome = (struct nn_outcome){.heads = calloc(rows * (size_t)c->layout.outputs, sizeof(double)),
                                   .values = calloc(rows, sizeof(double)),
                                   .logp = calloc(rows, sizeof(double)),
                                   .grads = calloc(c->layout.n_params, sizeof(double))};
}

void outcome_free(struct nn_outcome *outcome)
{
    free(outcome->heads);
    free(outcome->values);
    free(outcome->logp);
    free(outcome->grads);
}
