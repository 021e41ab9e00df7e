/* The trading environment as a world: what is refused, what it shows, and that a learner in it continues from
 * what was saved to the bit. */
#include <errno.h>

#include "tests/check.h"
#include "tests/random.h"
#include "trainer/ppo/learner.h"

enum { ROWS = 400, ASSETS = 2, ROOM = 1 << 22 };

static char err[ENV_ERROR_MAX];

/* Two assets that walk at random. */
static struct env_market *market_of(const struct env_params *params)
{
    static double columns[ASSETS][5][ROWS];
    static const char *const names[ASSETS] = {"A", "B"};
    struct random random = random_seeded("trainer/ppo/trading", 11);
    struct env_asset_source assets[ASSETS] = {0};
    for (int i = 0; i < ASSETS; i++) {
        double price = 100 * (i + 1);
        for (int row = 0; row < ROWS; row++) {
            columns[i][0][row] = price;
            price *= 1 + (double)random_between(&random, -1000, 1000) * 1e-5;
            columns[i][3][row] = price;
            columns[i][1][row] = fmax(columns[i][0][row], price);
            columns[i][2][row] = fmin(columns[i][0][row], price);
            columns[i][4][row] = (double)random_between(&random, 1, 100);
        }
        assets[i] = (struct env_asset_source){.name = names[i],
                                              .open = columns[i][0],
                                              .high = columns[i][1],
                                              .low = columns[i][2],
                                              .close = columns[i][3],
                                              .volume = columns[i][4]};
    }
    const struct env_market_source source = {
        .rows = ROWS, .n_assets = ASSETS, .assets = assets, .interval_ns = 300000000000};
    struct env_market *market = NULL;
    CHECK_INT(env_market_create(&source, params, &market, err), 0);
    return market;
}

static struct env_params params_of(enum env_actions actions)
{
    struct env_params params;
    CHECK_INT(env_params_preset("reference", &params, err), 0);
    params.autoreset = ENV_SAME_STEP;
    params.actions = actions;
    params.levels = 5;
    params.random_start = true;
    params.episode_bars = 30;
    return params;
}

/* A learner's pieces, one behind the other. */
struct pieces {
    char *bytes;
    size_t n, at[16], sizes[16];
    char names[16][16];
    int count;
};

static int put(void *ctx, const char *name, const void *bytes, size_t n)
{
    struct pieces *pieces = ctx;
    if (pieces->n + n > ROOM)
        return -ENOSPC;
    memcpy(pieces->bytes + pieces->n, bytes, n);
    snprintf(pieces->names[pieces->count], sizeof pieces->names[0], "%s", name);
    pieces->at[pieces->count] = pieces->n;
    pieces->sizes[pieces->count++] = n;
    pieces->n += (n + 7) / 8 * 8;
    return 0;
}

static const void *get(void *ctx, const char *name, size_t *ret_n)
{
    const struct pieces *pieces = ctx;
    for (int i = 0; i < pieces->count; i++)
        if (strcmp(pieces->names[i], name) == 0) {
            *ret_n = pieces->sizes[i];
            return pieces->bytes + pieces->at[i];
        }
    *ret_n = 0;
    return NULL;
}

static struct pieces saved(struct learner *l)
{
    struct pieces pieces = {.bytes = calloc(1, ROOM)};
    const struct ppo_sink sink = {&pieces, put};
    CHECK_INT(ppo_learner_save(l, &sink, err), 0);
    return pieces;
}

static struct learner *learner_in(const struct env_params *env_params, const struct env_market *market,
                                  struct ppo_world *ret_world)
{
    struct ppo_params params;
    struct env *env = NULL;
    struct learner *l = NULL;
    CHECK_INT(ppo_params_preset("default", &params, err), 0);
    params.copies = 20; /* more than a block of the environment's lanes */
    params.steps = 40;
    params.minibatch = 100;
    params.threads = 2;
    const struct env_options options = {.copies = 20, .seed = 3, .threads = 2};
    CHECK_INT(env_create(env_params, market, &options, &env, err), 0);
    CHECK_INT(ppo_world_trading(env, ret_world, err), 0);
    CHECK_INT(ppo_learner_create_cpu(&params, ret_world, &l, err), 0);
    return l;
}

static void test_continue(enum env_actions actions)
{
    const struct env_params params = params_of(actions);
    struct env_market *market = market_of(&params);
    struct ppo_world first, second;
    struct learner *a = learner_in(&params, market, &first), *b = learner_in(&params, market, &second);
    struct ppo_update update, again;
    CHECK_STR(first.name, "market");
    CHECK_INT(first.levels, actions == ENV_DISCRETE ? 5 : 0);
    CHECK_INT(first.actions, ASSETS);
    CHECK_INT(first.observation, 1 + ASSETS + 3 * 2 * ASSETS);
    for (int i = 0; i < 2; i++)
        CHECK_INT(ppo_learner_iterate(a, &update, err), 0);
    CHECK(update.episodes > 20 && isfinite(update.episode_return) && isfinite(update.loss));
    CHECK_NEAR(update.episode_length, 24, 0); /* of 30 bars, less lookback at both ends */
    struct pieces middle = saved(a);
    CHECK_INT(ppo_learner_iterate(b, &again, err), 0);
    const struct ppo_source source = {&middle, get};
    CHECK_INT(ppo_learner_load(b, &source, err), 0);
    CHECK_INT(ppo_learner_iterate(a, &update, err), 0);
    CHECK_INT(ppo_learner_iterate(b, &again, err), 0);
    struct pieces end_a = saved(a), end_b = saved(b);
    CHECK_INT(end_a.n, end_b.n);
    CHECK(memcmp(end_a.bytes, end_b.bytes, end_a.n) == 0);
    CHECK(memcmp(end_a.bytes, middle.bytes, middle.n) != 0);
    CHECK(update.loss == again.loss && update.episode_return == again.episode_return);

    /* A world of another state: nothing is loaded. */
    char *world = middle.bytes + middle.at[middle.count - 1];
    CHECK_STR(middle.names[middle.count - 1], "world");
    memset(world, 0xff, 64);
    CHECK_INT(ppo_learner_load(a, &source, err), -EINVAL);
    struct pieces still = saved(a);
    CHECK(memcmp(end_a.bytes, still.bytes, still.n) == 0);
    free(still.bytes);
    free(middle.bytes);
    free(end_a.bytes);
    free(end_b.bytes);
    ppo_learner_destroy(a);
    ppo_learner_destroy(b);
    ppo_world_destroy(&first);
    ppo_world_destroy(&second);
    ppo_world_destroy(&second); /* a second call is allowed */
    env_market_destroy(market);
}

static void test_autoreset(void)
{
    struct env_params params = params_of(ENV_CONTINUOUS);
    params.autoreset = ENV_NEXT_STEP;
    struct env_market *market = market_of(&params);
    struct env *env = NULL;
    struct ppo_world world = {.name = "as it was"};
    CHECK_INT(env_create(&params, market, &(struct env_options){.copies = 1}, &env, err), 0);
    CHECK_INT(ppo_world_trading(env, &world, err), -EINVAL);
    CHECK(strstr(err, "same_step") != NULL);
    CHECK_STR(world.name, "as it was");
    env_destroy(env);
    env_market_destroy(market);
}

int main(void)
{
    test_continue(ENV_CONTINUOUS);
    test_continue(ENV_DISCRETE);
    test_autoreset();
    return check_done("trainer/ppo/trading");
}
