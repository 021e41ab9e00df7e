/* Every backend against the scalar one: 65 copies (no multiple of a vector or a warp) from the same states
 * with the same actions. Rewards, flags, observations and all that is saved are the same bytes. A backend
 * without a kernel of its own takes the scalar one: then its observations and threads are compared, once. */
#include "tests/check.h"
#include "tests/trainer/env/walks.h"
#include "trainer/env/internal.h"

enum { COPIES = 65, ROWS = 700 };

struct side {
    struct env *env;
    float *rewards, *observations, *final;
    uint8_t *terminated, *truncated, *state;
    size_t state_bytes, observation_bytes;
};

static void side_begin(struct side *side, struct env *env)
{
    size_t size = (size_t)env_observation_size(env);
    *side = (struct side){.env = env,
                          .rewards = calloc(COPIES, sizeof(float)),
                          .observations = calloc(COPIES * size, sizeof(float)),
                          .final = calloc(COPIES * size, sizeof(float)),
                          .terminated = calloc(COPIES, 1),
                          .truncated = calloc(COPIES, 1),
                          .state = calloc(env_state_bytes(env), 1),
                          .state_bytes = env_state_bytes(env),
                          .observation_bytes = COPIES * size * sizeof(float)};
}

static void side_end(struct side *side)
{
    free(side->rewards);
    free(side->observations);
    free(side->final);
    free(side->terminated);
    free(side->truncated);
    free(side->state);
    env_destroy(side->env);
}

static void side_step(struct side *side, const float *actions, bool by_column)
{
    char err[ENV_ERROR_MAX] = "";
    struct env_io io = {.actions = actions,
                        .actions_by_column = by_column,
                        .rewards = side->rewards,
                        .terminated = side->terminated,
                        .truncated = side->truncated,
                        .final_obs = side->final};
    CHECK_INT(env_step(side->env, &io, err), 0);
}

static bool same(const struct side *a, const struct side *b, bool whole)
{
    if (memcmp(a->rewards, b->rewards, COPIES * sizeof(float)) != 0 ||
        memcmp(a->terminated, b->terminated, COPIES) != 0 ||
        memcmp(a->truncated, b->truncated, COPIES) != 0 ||
        memcmp(a->final, b->final, a->observation_bytes) != 0)
        return false;
    if (!whole)
        return true;
    env_observe(a->env, a->observations);
    env_observe(b->env, b->observations);
    env_save(a->env, a->state);
    env_save(b->env, b->state);
    return memcmp(a->observations, b->observations, a->observation_bytes) == 0 &&
           memcmp(a->state, b->state, a->state_bytes) == 0;
}

/* Names the first column that differs. */
static void print_difference(const struct side *a, const struct side *b, const char *backend, long step)
{
    size_t n;
    const struct env_column *columns = env_columns(&n);
    const struct env_view *va = &a->env->view, *vb = &b->env->view;
    fprintf(stderr, "%s: execution %d, task %d: step %ld: not the scalar kernel's bits", backend,
            (int)va->params.execution, (int)va->params.task, step);
    for (size_t e = 0; e < COPIES; e++)
        if (memcmp(&a->rewards[e], &b->rewards[e], sizeof(float)) != 0) {
            fprintf(stderr, ": copy %zu: reward %.9g, not %.9g", e, (double)b->rewards[e],
                    (double)a->rewards[e]);
            break;
        }
    for (size_t i = 0; i < n; i++) {
        if (!env_column_used(&columns[i], &va->params))
            continue;
        size_t size = env_column_size(&columns[i], &va->params);
        const char *ca = env_column_data(&columns[i], va), *cb = env_column_data(&columns[i], vb);
        for (size_t k = 0; k < (columns[i].assets ? (size_t)va->state.n : 1); k++)
            for (size_t e = 0; e < COPIES; e++)
                if (memcmp(ca + (k * va->state.stride + e) * size, cb + (k * vb->state.stride + e) * size,
                           size)) {
                    fprintf(stderr, ": %s of copy %zu, asset %zu", columns[i].name, e, k);
                    goto done;
                }
    }
done:
    fprintf(stderr, "\n");
}

static bool compare(struct random *random, enum env_execution execution, enum env_task task,
                    enum env_backend backend, long steps)
{
    struct walks walks;
    int n = task == ENV_DAY_TRADE       ? 1
            : random_chance(random, 50) ? 5
                                        : (int)random_between(random, 1, WALKS_ASSETS);
    walks_make(&walks, random, ROWS, n, execution == ENV_MARKET && random_chance(random, 50));
    struct env_params params = walks_params(random, execution, task);
    struct env_options options = {.copies = COPIES, .seed = random_next(random), .backend = ENV_SCALAR};
    struct env_market *markets[2];
    struct env *envs[2];
    bool made = walks_env(&walks, &params, &options, &markets[0], &envs[0]);
    CHECK(made);
    if (!made) {
        walks_finish(&walks);
        return false;
    }
    options.backend = backend;
    options.threads = (int)random_between(random, 1, 3);
    made = walks_env(&walks, &params, &options, &markets[1], &envs[1]);
    CHECK(made);
    struct side sides[2];
    side_begin(&sides[0], envs[0]);
    side_begin(&sides[1], envs[1]);
    size_t actions_n = COPIES * (size_t)env_action_size(envs[0]);
    float *actions = calloc(actions_n, sizeof *actions);
    bool equal = same(&sides[0], &sides[1], true);
    long step = 0;
    for (; step < steps && equal; step++) {
        walks_actions(random, &params, actions, actions_n);
        bool by_column = random_chance(random, 50);
        side_step(&sides[0], actions, by_column);
        side_step(&sides[1], actions, by_column);
        equal = same(&sides[0], &sides[1], step % 16 == 0 || step + 1 == steps);
    }
    CHECK(equal);
    if (!equal)
        print_difference(&sides[0], &sides[1], env_backend_name(backend), step);
    free(actions);
    side_end(&sides[0]);
    side_end(&sides[1]);
    env_market_destroy(markets[0]);
    env_market_destroy(markets[1]);
    walks_finish(&walks);
    return equal;
}

int main(void)
{
    struct random random = random_seeded("trainer/env/side_by_side", 20260131);
    bool whole = getenv("PAPERTAPE_LONG") != NULL;
    long steps = 4096, rounds = whole ? 40 : 1;
    printf("counts: %ld round of each kernel (PAPERTAPE_LONG: 40)\n", rounds);
    for (enum env_backend backend = ENV_BASELINE; backend <= ENV_AVX512; backend++) {
        if (!env_backend_works(backend)) {
            printf("%s: not on this processor\n", env_backend_name(backend));
            continue;
        }
        for (int execution = ENV_REFERENCE; execution <= ENV_MARKET; execution++)
            for (int task = ENV_PORTFOLIO; task <= ENV_DAY_TRADE; task++) {
                if (!env_scalar_kernels.step[execution][task])
                    continue;
                bool own = env_backend_kernels(backend)->step[execution][task] != NULL;
                long done = 0;
                for (long i = 0; i < (own ? rounds : 1); i++)
                    done +=
                        compare(&random, (enum env_execution)execution, (enum env_task)task, backend, steps);
                if (own)
                    printf("%s, execution %d, task %d: %ld of %ld rounds of %d copies x %ld steps\n",
                           env_backend_name(backend), execution, task, done, rounds, COPIES, steps);
                else
                    printf("%s, execution %d, task %d: no kernel of its own\n", env_backend_name(backend),
                           execution, task);
            }
    }
    return check_done("trainer/env/side_by_side");
}
