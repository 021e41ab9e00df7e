/* Inference against the forward pass that trains: the same networks, fed the same sequences. */
#include "strategy/policy/trained.h"
#include "tests/check.h"
#include "tests/strategy/trained_made.h"
#include "trainer/nn/train.h"

enum { STEPS = 6 };

static double worst;
static size_t n_numbers;

static size_t off(const float *a, const float *b, size_t n)
{
    size_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        double difference = fabs((double)a[i] - (double)b[i]) / (1 + fabs((double)b[i]));
        worst = difference > worst ? difference : worst;
        bad += !(difference <= 1e-5);
    }
    n_numbers += n;
    return bad;
}

static void compare(const struct trained_made *made, struct random *random)
{
    const struct net_layout *layout = &made->layout;
    size_t n = (size_t)layout->shape.observation, outputs = (size_t)layout->outputs,
           hidden = (size_t)layout->hidden, n_hidden;
    float *obs = malloc(STEPS * n * sizeof *obs), *seen = malloc(STEPS * n * sizeof *seen),
          *heads = malloc(STEPS * outputs * sizeof *heads), *own = malloc(outputs * sizeof *own),
          *after = calloc(hidden + 1, sizeof *after), values[STEPS];
    struct net_model *model;
    struct net_memory *memory;
    struct nn_work_f32 *work;
    if (!obs || !seen || !heads || !own || !after)
        abort();
    CHECK_INT(policy_net_model_create(layout, made->params, made->mean, made->scale, made->source.clip,
                                      NET_BEST, &model),
              0);
    CHECK_INT(policy_net_memory_create(model, &memory), 0);
    CHECK_INT(nn_work_create_f32(layout, STEPS, false, &work), 0);
    for (size_t i = 0; i < STEPS * n; i++) {
        obs[i] = (float)(6 * trained_uniform(random));
        seen[i] = (obs[i] - made->mean[i % n]) * made->scale[i % n];
        seen[i] = fminf(fmaxf(seen[i], -made->source.clip), made->source.clip);
    }
    const struct nn_rows_f32 rows = {.rows = STEPS, .obs = seen, .steps = STEPS};
    nn_forward_f32(work, made->params, &rows, heads, values, hidden ? after : NULL);
    size_t bad = 0;
    for (size_t s = 0; s < STEPS; s++) {
        float value = policy_net_model_value(model, memory, obs + s * n);
        policy_net_model_heads(model, memory, obs + s * n, own);
        bad += off(&value, &values[s], 1) + off(own, heads + s * outputs, outputs);
    }
    bad += off(policy_net_memory_hidden(memory, &n_hidden), after, hidden);
    CHECK_INT(bad, 0);
    nn_work_destroy_f32(work);
    policy_net_memory_destroy(memory);
    policy_net_model_destroy(model);
    free(obs);
    free(seen);
    free(heads);
    free(own);
    free(after);
}

int main(void)
{
    struct random random = random_seeded("inference_training", 20261122);
    int n = getenv("PAPERTAPE_LONG") ? 2000 : 120;
    for (int k = 0; k <= n; k++) {
        static struct trained_made made;
        struct net_shape shape = {
            .observation = (int)random_between(&random, 1, 150),
            .actions = (int)random_between(&random, 1, 9),
            .levels = random_chance(&random, 40) ? (int)random_between(&random, 2, 11) : 0,
            .n_pi = (int)random_between(&random, 0, 3),
            .n_vf = (int)random_between(&random, 0, 3),
            .shared = random_chance(&random, 30),
            .layer_norm = random_chance(&random, 30),
            .activation = (enum net_activation)random_between(&random, 0, 2),
            .recurrent = random_chance(&random, 30) ? NET_LANES * (int)random_between(&random, 1, 4) : 0};
        for (int l = 0; l < NET_LAYERS_MAX; l++) {
            shape.pi[l] = (int)random_between(&random, 1, 150);
            shape.vf[l] = (int)random_between(&random, 1, 150);
        }
        if (k == n)
            shape = (struct net_shape){.observation = 256,
                                       .actions = 5,
                                       .n_pi = 3,
                                       .n_vf = 3,
                                       .pi = {2048, 1024, 512},
                                       .vf = {2048, 1024, 512}};
        trained_made_open(&made, &random, shape, 0, NULL, 0, NULL);
        compare(&made, &random);
        trained_made_close(&made);
    }
    printf("counts: %d networks, %zu numbers; within %.1e of training's, relative\n", n + 1, n_numbers,
           worst);
    return check_done("strategy/inference_training");
}
