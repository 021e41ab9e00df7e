/* Every backend against the scalar one over the shapes that vectors are bad at: no whole block, one copy more
 * or less than a block, one asset, more assets than lanes; copies that rest or are reset among those that
 * step; outputs poisoned, and guard cells past their ends. */
#include "tests/check.h"
#include "tests/counts.h"
#include "tests/trainer/env/walks.h"

enum { ROWS = 300, STEPS = 160, GUARDS = 16, POISON = 0xa5, ROUNDS = 1, ROUNDS_LONG = 20 };

static const size_t copies_tried[] = {1, 3, 4, 5, 15, 16, 17, 31, 32, 33, 100};
static const int assets_tried[] = {1, 2, 3, 4, 5, 8, 9, 17, WALKS_ASSETS};

struct side {
    struct env_market *market;
    struct env *env;
    size_t bytes[5]; /* of rewards, terminated, truncated, final observations, observations */
    uint8_t *output[5];
};

static bool side_begin(struct side *side, const struct walks *walks, const struct env_params *params,
                       const struct env_options *options)
{
    if (!walks_env(walks, params, options, &side->market, &side->env))
        return false;
    size_t observations = options->copies * (size_t)env_observation_size(side->env) * sizeof(float);
    const size_t bytes[5] = {options->copies * sizeof(float), options->copies, options->copies, observations,
                             observations};
    for (int i = 0; i < 5; i++) {
        side->bytes[i] = bytes[i] + GUARDS;
        side->output[i] = malloc(side->bytes[i]);
        memset(side->output[i], POISON, side->bytes[i]);
    }
    return true;
}

static void side_end(struct side *side)
{
    env_destroy(side->env);
    env_market_destroy(side->market);
    for (int i = 0; i < 5; i++)
        free(side->output[i]);
}

static void side_step(struct side *side, const float *actions, bool by_column, const uint8_t *mask)
{
    char err[ENV_ERROR_MAX] = "";
    struct env_io io = {.actions = actions,
                        .actions_by_column = by_column,
                        .rewards = (float *)side->output[0],
                        .terminated = side->output[1],
                        .truncated = side->output[2],
                        .final_obs = (float *)side->output[3]};
    CHECK_INT(env_step(side->env, &io, err), 0);
    env_observe(side->env, (float *)side->output[4]);
    if (mask)
        env_reset(side->env, mask);
}

static bool same(const struct side *a, const struct side *b)
{
    for (int i = 0; i < 5; i++) {
        if (memcmp(a->output[i], b->output[i], a->bytes[i]) != 0)
            return false;
        for (size_t k = a->bytes[i] - GUARDS; k < a->bytes[i]; k++)
            if (a->output[i][k] != POISON)
                return false;
    }
    return true;
}

static bool same_state(const struct side *a, const struct side *b)
{
    size_t bytes = env_state_bytes(a->env);
    uint8_t *states = malloc(2 * bytes);
    env_save(a->env, states);
    env_save(b->env, states + bytes);
    bool equal = memcmp(states, states + bytes, bytes) == 0;
    free(states);
    return equal;
}

static void compare(struct random *random, enum env_execution execution, size_t copies, int n,
                    enum env_backend backend)
{
    struct walks walks;
    walks_make(&walks, random, ROWS, n, execution == ENV_MARKET && random_chance(random, 50));
    struct env_params params = walks_params(random, execution, ENV_PORTFOLIO);
    params.autoreset = (enum env_autoreset)random_between(random, ENV_NEXT_STEP, ENV_NO_RESET);
    if (random_chance(random, 20))
        params.forced_exit_pct = 0;
    struct env_options options = {.copies = copies, .seed = random_next(random), .backend = ENV_SCALAR};
    struct side sides[2];
    bool made = side_begin(&sides[0], &walks, &params, &options);
    options.backend = backend;
    made = made && side_begin(&sides[1], &walks, &params, &options);
    CHECK(made);
    if (!made) {
        walks_finish(&walks);
        return;
    }
    float *actions = calloc(copies * (size_t)n, sizeof *actions);
    uint8_t *mask = calloc(copies, 1);
    int step = 0;
    bool equal = true;
    for (; step < STEPS && equal; step++) {
        walks_actions(random, &params, actions, copies * (size_t)n);
        bool resets = random_chance(random, 10);
        for (size_t e = 0; e < copies; e++)
            mask[e] = random_chance(random, 10);
        bool by_column = random_chance(random, 50);
        for (int i = 0; i < 2; i++)
            side_step(&sides[i], actions, by_column, resets ? mask : NULL);
        equal = same(&sides[0], &sides[1]);
    }
    equal = equal && same_state(&sides[0], &sides[1]);
    CHECK(equal);
    if (!equal)
        fprintf(stderr, "%s: execution %d, %zu copies, %d assets: step %d: not the scalar kernel's bits\n",
                env_backend_name(backend), (int)execution, copies, n, step);
    side_end(&sides[0]);
    side_end(&sides[1]);
    free(actions);
    free(mask);
    walks_finish(&walks);
}

int main(void)
{
    struct random random = random_seeded("trainer/env/shapes", 20261122);
    int rounds = getenv("PAPERTAPE_LONG") ? ROUNDS_LONG : ROUNDS;
    if (COUNTS_PART)
        printf("counts: every second pair of copies and assets (without a sanitizer: all)\n");
    for (enum env_backend backend = ENV_BASELINE; backend <= ENV_AVX512; backend++) {
        if (!env_backend_works(backend)) {
            printf("%s: not on this processor\n", env_backend_name(backend));
            continue;
        }
        for (int i = 0; i < rounds; i++)
            for (size_t c = 0; c < sizeof copies_tried / sizeof *copies_tried; c++)
                for (size_t n = COUNTS_PART ? c % 2 : 0; n < sizeof assets_tried / sizeof *assets_tried;
                     n += COUNTS_PART ? 2 : 1)
                    for (int execution = ENV_REFERENCE; execution <= ENV_MARKET; execution++)
                        compare(&random, (enum env_execution)execution, copies_tried[c], assets_tried[n],
                                backend);
    }
    return check_done("trainer/env/shapes");
}
