#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "exchange/nearest.h"
#include "trainer/ppo/shuffle.h"
#include "trainer/ppo/world.h"
#include "trainer/ppo/worlds/game.h"

static const struct game *const games[] = {
    &ppo_game_acrobot,        &ppo_game_cartpole,      &ppo_game_pendulum,          &ppo_game_probe_action,
    &ppo_game_probe_constant, &ppo_game_probe_delayed, &ppo_game_probe_observation, &ppo_game_probe_truncated,
};
enum { N_GAMES = sizeof games / sizeof games[0], GAME_NAME_MAX = 24, COPIES_MAX = 1 << 24 };

/* What is saved: this, then the copies. */
struct head {
    char magic[8], name[GAME_NAME_MAX];
    uint64_t copies, seed;
};
static const char magic[8] = "ptgame\0\1";

struct copy {
    double state[GAME_STATE_MAX];
    uint64_t episode; /* counted from 0 */
    int64_t steps;    /* of this episode */
};

struct builtin {
    const struct game *game;
    struct head head;
    struct copy copies[];
};

static void begin_episode(struct builtin *world, size_t i)
{
    struct copy *copy = &world->copies[i];
    struct philox draw = philox(world->head.seed, (uint32_t)i, (uint32_t)copy->episode,
                                (uint32_t)(copy->episode >> 32), (uint32_t)PPO_DRAW_WORLD << 24);
    world->game->begin(draw.word, copy->state);
    copy->steps = 0;
}

static int check_actions(const struct builtin *world, const float *actions, char err[static ENV_ERROR_MAX])
{
    int levels = world->game->levels;
    for (size_t i = 0; i < world->head.copies; i++) {
        double action = actions[i];
        if (levels == 0 && !isfinite(action))
            return fail_with(-EINVAL, err, ENV_ERROR_MAX, "action %g: %s, copy %zu: a finite number", action,
                             world->game->name, i);
        if (levels > 0 && !(action >= 0 && action < levels && action == floor(action)))
            return fail_with(-EINVAL, err, ENV_ERROR_MAX,
                             "action %g: %s, copy %zu: a whole number from 0 to %d", action,
                             world->game->name, i, levels - 1);
    }
    return 0;
}

static int step(void *ctx, const struct env_io *io, char err[static ENV_ERROR_MAX])
{
    struct builtin *world = ctx;
    const struct game *game = world->game;
    int r = check_actions(world, io->actions, err); /* one action a copy: rows and columns are the same */
    if (r < 0)
        return r;
    for (size_t i = 0; i < world->head.copies; i++) {
        struct copy *copy = &world->copies[i];
        bool terminated;
        io->rewards[i] = (float)game->step(copy->state, (double)io->actions[i], &terminated);
        copy->steps++;
        io->terminated[i] = terminated;
        io->truncated[i] = !terminated && copy->steps >= game->limit;
        if (!io->terminated[i] && !io->truncated[i])
            continue;
        if (io->final_obs)
            game->observe(copy->state, io->final_obs + i * (size_t)game->observation);
        copy->episode++;
        begin_episode(world, i);
    }
    return 0;
}

static void observe(void *ctx, float *ret)
{
    struct builtin *world = ctx;
    for (size_t i = 0; i < world->head.copies; i++)
        world->game->observe(world->copies[i].state, ret + i * (size_t)world->game->observation);
}

static size_t state_bytes(void *ctx)
{
    const struct builtin *world = ctx;
    return sizeof world->head + world->head.copies * sizeof world->copies[0];
}

static void save(void *ctx, void *ret)
{
    const struct builtin *world = ctx;
    memcpy(ret, &world->head, sizeof world->head);
    memcpy((char *)ret + sizeof world->head, world->copies, world->head.copies * sizeof world->copies[0]);
}

static int load(void *ctx, const void *state, char err[static ENV_ERROR_MAX])
{
    struct builtin *world = ctx;
    struct head head;
    memcpy(&head, state, sizeof head);
    if (memcmp(head.magic, magic, sizeof magic) != 0)
        return fail_with(-EINVAL, err, ENV_ERROR_MAX,
                         "no state of a built-in world: %s: one that was saved of it", world->game->name);
    if (memcmp(head.name, world->head.name, sizeof head.name) != 0 || head.copies != world->head.copies)
        return fail_with(-EINVAL, err, ENV_ERROR_MAX,
                         "a state of %.*s with %llu copies: %s: one of it with %llu copies",
                         GAME_NAME_MAX - 1, head.name, (unsigned long long)head.copies, world->game->name,
                         (unsigned long long)world->head.copies);
    world->head.seed = head.seed;
    memcpy(world->copies, (const char *)state + sizeof head, head.copies * sizeof world->copies[0]);
    return 0;
}

static const struct game *find(const char *name, char err[static ENV_ERROR_MAX])
{
    struct nearest nearest = {0};
    for (int i = 0; i < N_GAMES; i++) {
        if (strcmp(games[i]->name, name) == 0)
            return games[i];
        nearest_offer(&nearest, name, games[i]->name);
    }
    snprintf(err, ENV_ERROR_MAX, "unknown world: %.64s%s", name, NEAREST_HINT(&nearest, name));
    return NULL;
}

int ppo_world_builtin(const char *name, size_t copies, uint64_t seed, struct ppo_world *ret,
                      char err[static ENV_ERROR_MAX])
{
    const struct game *game = find(name, err);
    if (!game)
        return -ENOENT;
    if (copies < 1 || copies > COPIES_MAX)
        return fail_with(-EINVAL, err, ENV_ERROR_MAX, "%zu copies: world %s: 1 to %d", copies, name,
                         COPIES_MAX);
    struct builtin *world = calloc(1, sizeof *world + copies * sizeof world->copies[0]);
    if (!world)
        return fail_with(-ENOMEM, err, ENV_ERROR_MAX, "out of memory: world %s: fewer than %zu copies", name,
                         copies);
    world->game = game;
    memcpy(world->head.magic, magic, sizeof magic);
    snprintf(world->head.name, sizeof world->head.name, "%s", game->name);
    world->head.copies = copies;
    world->head.seed = seed;
    for (size_t i = 0; i < copies; i++)
        begin_episode(world, i);
    *ret = (struct ppo_world){.ctx = world,
                              .name = game->name,
                              .copies = copies,
                              .observation = game->observation,
                              .actions = 1,
                              .levels = game->levels,
                              .step = step,
                              .observe = observe,
                              .state_bytes = state_bytes,
                              .save = save,
                              .load = load,
                              .destroy = free};
    return 0;
}
