/* The built-in worlds as worlds: starts, ends, what is refused, what is saved; and the probes' rewards. */
#include <errno.h>

#include "tests/check.h"
#include "tests/random.h"
#include "trainer/ppo/world.h"
#include "trainer/ppo/worlds/game.h"

enum { COPIES = 5, STEPS = 1200, WIDTH = GAME_OBSERVATION_MAX };

static const struct game *const games[] = {
    &ppo_game_cartpole,     &ppo_game_acrobot,           &ppo_game_pendulum,      &ppo_game_probe_constant,
    &ppo_game_probe_action, &ppo_game_probe_observation, &ppo_game_probe_delayed, &ppo_game_probe_truncated,
};
enum { N_GAMES = sizeof games / sizeof games[0] };

struct steps {
    float actions[COPIES], rewards[COPIES], final_obs[COPIES * WIDTH], obs[COPIES * WIDTH];
    uint8_t terminated[COPIES], truncated[COPIES];
};

static void make(const char *name, size_t copies, uint64_t seed, struct ppo_world *ret)
{
    char err[ENV_ERROR_MAX] = "";
    int r = ppo_world_builtin(name, copies, seed, ret, err);
    CHECK_INT(r, 0);
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", name, err);
        exit(EXIT_FAILURE);
    }
}

static void draw_actions(struct random *random, const struct ppo_world *world, struct steps *steps)
{
    for (size_t i = 0; i < world->copies; i++)
        steps->actions[i] = world->levels ? (float)random_between(random, 0, world->levels - 1)
                                          : (float)random_between(random, -3000, 3000) / 1000;
}

static void step(struct ppo_world *world, struct steps *steps)
{
    char err[ENV_ERROR_MAX] = "";
    const struct env_io io = {.actions = steps->actions,
                              .rewards = steps->rewards,
                              .terminated = steps->terminated,
                              .truncated = steps->truncated,
                              .final_obs = steps->final_obs};
    memset(steps->final_obs, 0x5a, sizeof steps->final_obs);
    CHECK_INT(world->step(world->ctx, &io, err), 0);
    CHECK_STR(err, "");
    world->observe(world->ctx, steps->obs);
}

/* Each copy against a game of its own, which begins where the world says that it does. */
struct shadow {
    double state[GAME_STATE_MAX];
    int steps;
    long ends;
};

static const double *state_of(struct ppo_world *world, size_t copy, void *buffer)
{
    /* A copy is its state, episode and steps; they end what is saved. */
    size_t size = (GAME_STATE_MAX + 2) * sizeof(double);
    world->save(world->ctx, buffer);
    return (const double *)((char *)buffer + world->state_bytes(world->ctx) - (world->copies - copy) * size);
}

static void test_episodes(const struct game *game, struct random *random)
{
    struct ppo_world world;
    make(game->name, COPIES, 7, &world);
    CHECK_STR(world.name, game->name);
    CHECK_INT(world.observation, game->observation);
    CHECK_INT(world.levels, game->levels);
    CHECK_INT(world.actions, 1);
    void *buffer = calloc(1, world.state_bytes(world.ctx));
    struct shadow shadows[COPIES] = {0};
    struct steps steps;
    long truncated_seen = 0, ends = 0;
    for (size_t i = 0; i < COPIES; i++)
        memcpy(shadows[i].state, state_of(&world, i, buffer), sizeof shadows[i].state);
    for (int s = 0; s < STEPS; s++) {
        draw_actions(random, &world, &steps);
        step(&world, &steps);
        for (size_t i = 0; i < COPIES; i++) {
            struct shadow *shadow = &shadows[i];
            float seen[WIDTH];
            bool terminated;
            size_t bytes = (size_t)game->observation * sizeof(float);
            double reward = game->step(shadow->state, (double)steps.actions[i], &terminated);
            bool truncated = ++shadow->steps == game->limit && !terminated;
            game->observe(shadow->state, seen);
            CHECK((double)steps.rewards[i] == (double)(float)reward);
            CHECK_INT(steps.terminated[i], terminated);
            CHECK_INT(steps.truncated[i], truncated);
            if (terminated || truncated) {
                CHECK(memcmp(steps.final_obs + i * (size_t)game->observation, seen, bytes) == 0);
                memcpy(shadow->state, state_of(&world, i, buffer), sizeof shadow->state);
                shadow->steps = 0;
                shadow->ends++;
                truncated_seen += truncated;
                ends++;
                game->observe(shadow->state, seen);
            } else {
                uint32_t untouched;
                memcpy(&untouched, steps.final_obs + i * (size_t)game->observation, sizeof untouched);
                CHECK_INT(untouched, 0x5a5a5a5a);
            }
            CHECK(memcmp(steps.obs + i * (size_t)game->observation, seen, bytes) == 0);
        }
    }
    CHECK(ends > 0);
    if (game == &ppo_game_pendulum || game == &ppo_game_probe_truncated)
        CHECK_INT(truncated_seen, COPIES * (STEPS / game->limit));
    free(buffer);
    world.destroy(world.ctx);
}

/* CartPole and Acrobot that are held do not end but by their limits; starts differ by copy, episode, seed. */
static void test_starts(void)
{
    struct ppo_world a, b, c;
    make("acrobot", COPIES, 7, &a);
    make("acrobot", COPIES, 7, &b);
    make("acrobot", COPIES, 8, &c);
    struct steps first, again, other;
    struct steps steps = {.actions = {1, 1, 1, 1, 1}}; /* no torque: it swings only a little */
    a.observe(a.ctx, first.obs);
    b.observe(b.ctx, again.obs);
    c.observe(c.ctx, other.obs);
    CHECK(memcmp(first.obs, again.obs, 6 * COPIES * sizeof(float)) == 0);
    CHECK(memcmp(first.obs, other.obs, 6 * COPIES * sizeof(float)) != 0);
    CHECK(memcmp(first.obs, first.obs + 6, 6 * sizeof(float)) != 0);
    for (int s = 1; s <= ppo_game_acrobot.limit; s++) {
        step(&a, &steps);
        for (int i = 0; i < COPIES; i++) {
            CHECK_INT(steps.terminated[i], 0);
            CHECK_INT(steps.truncated[i], s == ppo_game_acrobot.limit);
        }
    }
    CHECK(memcmp(first.obs, steps.obs, 6 * COPIES * sizeof(float)) != 0);
    a.destroy(a.ctx);
    b.destroy(b.ctx);
    c.destroy(c.ctx);
}

/* A loaded state continues with the same bits; a seed is part of it. */
static void test_saved(const struct game *game, struct random *random)
{
    char err[ENV_ERROR_MAX] = "";
    struct ppo_world a, b;
    make(game->name, COPIES, 21, &a);
    make(game->name, COPIES, 22, &b);
    struct steps ours, theirs;
    for (int s = 0; s < 137; s++) {
        draw_actions(random, &a, &ours);
        step(&a, &ours);
    }
    void *state = malloc(a.state_bytes(a.ctx)), *after = malloc(a.state_bytes(a.ctx));
    a.save(a.ctx, state);
    CHECK_INT(b.state_bytes(b.ctx), a.state_bytes(a.ctx));
    CHECK_INT(b.load(b.ctx, state, err), 0);
    for (int s = 0; s < STEPS; s++) {
        draw_actions(random, &a, &ours);
        memcpy(theirs.actions, ours.actions, sizeof ours.actions);
        step(&a, &ours);
        step(&b, &theirs);
        CHECK(memcmp(ours.obs, theirs.obs, COPIES * (size_t)game->observation * sizeof(float)) == 0);
        CHECK(memcmp(ours.rewards, theirs.rewards, sizeof ours.rewards) == 0);
    }
    a.save(a.ctx, state);
    b.save(b.ctx, after);
    CHECK(memcmp(state, after, a.state_bytes(a.ctx)) == 0);
    free(state);
    free(after);
    a.destroy(a.ctx);
    b.destroy(b.ctx);
}

static void test_refused(void)
{
    char err[ENV_ERROR_MAX];
    struct ppo_world world, other, few;
    CHECK_INT(ppo_world_builtin("cartpol", 1, 0, &world, err), -ENOENT);
    CHECK_STR(err, "unknown world: cartpol: did you mean cartpole?");
    CHECK_INT(ppo_world_builtin("cartpole", 0, 0, &world, err), -EINVAL);
    CHECK(strstr(err, "0 copies: world cartpole"));

    make("cartpole", COPIES, 1, &world);
    make("acrobot", COPIES, 1, &other);
    make("cartpole", COPIES - 1, 1, &few);
    size_t bytes = world.state_bytes(world.ctx);
    char *before = malloc(bytes), *after = malloc(bytes);
    world.save(world.ctx, before);
    struct steps steps;
    const struct env_io io = {.actions = steps.actions,
                              .rewards = steps.rewards,
                              .terminated = steps.terminated,
                              .truncated = steps.truncated,
                              .final_obs = steps.final_obs};
    const float bad[] = {-1, 2, 0.5f, NAN, INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memset(steps.actions, 0, sizeof steps.actions);
        steps.actions[3] = bad[i];
        CHECK_INT(world.step(world.ctx, &io, err), -EINVAL);
        CHECK(strstr(err, "cartpole, copy 3: a whole number from 0 to 1"));
    }
    other.save(other.ctx, after);
    CHECK_INT(world.load(world.ctx, after, err), -EINVAL);
    CHECK_STR(err, "a state of acrobot with 5 copies: cartpole: one of it with 5 copies");
    few.save(few.ctx, after);
    CHECK_INT(world.load(world.ctx, after, err), -EINVAL);
    CHECK_STR(err, "a state of cartpole with 4 copies: cartpole: one of it with 5 copies");
    memset(after, 0, bytes);
    CHECK_INT(world.load(world.ctx, after, err), -EINVAL);
    CHECK(strstr(err, "no state of a built-in world"));
    world.save(world.ctx, after);
    CHECK(memcmp(before, after, bytes) == 0);
    free(before);
    free(after);
    world.destroy(world.ctx);
    other.destroy(other.ctx);
    few.destroy(few.ctx);

    make("pendulum", 1, 1, &world);
    steps.actions[0] = NAN;
    CHECK_INT(world.step(world.ctx, &io, err), -EINVAL);
    CHECK(strstr(err, "pendulum, copy 0: a finite number"));
    world.destroy(world.ctx);
}

/* The rewards that the probes' right values follow from. */
static void test_probes(void)
{
    static const struct {
        const char *name;
        float action, observation, reward;
        int terminated, truncated;
    } rows[] = {
        {"probe-constant", 0, 0, 1, 1, 0},  {"probe-constant", 1, 0, 1, 1, 0},
        {"probe-action", 0, 0, -1, 1, 0},   {"probe-action", 1, 0, 1, 1, 0},
        {"probe-delayed", 0, 0, 0, 0, 0},   {"probe-delayed", 1, 1, 1, 1, 0},
        {"probe-delayed", 1, 0, 0, 0, 0},   {"probe-truncated", 1, 0, 1, 0, 0},
        {"probe-truncated", 0, 0, 1, 0, 1}, {"probe-truncated", 0, 0, 1, 0, 0},
    };
    struct ppo_world world = {0};
    const char *open = "";
    struct steps steps;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(open, rows[i].name) != 0) {
            if (open[0])
                world.destroy(world.ctx);
            make(open = rows[i].name, 1, 3, &world);
        }
        world.observe(world.ctx, steps.obs);
        CHECK((double)steps.obs[0] == (double)rows[i].observation);
        steps.actions[0] = rows[i].action;
        step(&world, &steps);
        CHECK((double)steps.rewards[0] == (double)rows[i].reward);
        CHECK_INT(steps.terminated[0], rows[i].terminated);
        CHECK_INT(steps.truncated[0], rows[i].truncated);
    }
    world.destroy(world.ctx);

    int plus = 0;
    make("probe-observation", 1, 3, &world);
    for (int s = 0; s < 1000; s++) {
        world.observe(world.ctx, steps.obs);
        double seen = (double)steps.obs[0];
        CHECK(seen == 1 || seen == -1);
        plus += seen == 1;
        steps.actions[0] = 0;
        step(&world, &steps);
        CHECK((double)steps.rewards[0] == seen);
        CHECK_INT(steps.terminated[0], 1);
    }
    CHECK(plus > 400 && plus < 600);
    world.destroy(world.ctx);
}

int main(void)
{
    struct random random = random_seeded("worlds", 5);
    for (int i = 0; i < N_GAMES; i++) {
        test_episodes(games[i], &random);
        test_saved(games[i], &random);
    }
    test_starts();
    test_refused();
    test_probes();
    return check_done("worlds");
}
