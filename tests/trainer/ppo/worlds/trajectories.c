/* Prints what a classic-control game does, for an oracle to do again:
 *
 *     ppo-trajectories cartpole|acrobot|pendulum SEED STEPS
 *
 * First `limit N`, `low STATE…`, `high STATE…` (the corners of the starts), then a line a step: the state
 * before, the action, the state after, the observation, the reward, terminated. Half of the states follow
 * each other from a start on, half are drawn over all that a game may reach. */
#include <math.h>

#include "tests/check.h"
#include "tests/random.h"
#include "trainer/ppo/worlds/game.h"

static const struct {
    const struct game *game;
    double reach[GAME_STATE_MAX]; /* of the states that are drawn: +- */
} games[] = {
    {&ppo_game_cartpole, {2.4, 4, 0.21, 4}},
    {&ppo_game_acrobot, {M_PI, M_PI, 4 * M_PI, 9 * M_PI}},
    {&ppo_game_pendulum, {20, 8, 0, 0}},
};

static void print(const double *values, int n)
{
    for (int i = 0; i < n; i++)
        printf("%.17g ", values[i]);
}

static void corner(const struct game *game, const char *name, uint32_t word)
{
    const uint32_t words[GAME_STATE_MAX] = {word, word, word, word};
    double state[GAME_STATE_MAX];
    game->begin(words, state);
    printf("%s ", name);
    print(state, GAME_STATE_MAX);
    printf("\n");
}

static double evenly(struct random *random, double reach)
{
    return reach * (2 * ((double)(random_next(random) >> 11) * 0x1p-53) - 1);
}

static void start(struct random *random, const struct game *game, double *state)
{
    uint32_t words[GAME_STATE_MAX];
    for (int i = 0; i < GAME_STATE_MAX; i++)
        words[i] = (uint32_t)random_next(random);
    game->begin(words, state);
}

int main(int argc, char **argv)
{
    int which = -1;
    for (int i = 0; argc == 4 && i < (int)(sizeof games / sizeof games[0]); i++)
        if (strcmp(argv[1], games[i].game->name) == 0)
            which = i;
    if (which < 0) {
        fputs("usage: ppo-trajectories cartpole|acrobot|pendulum SEED STEPS\n", stderr);
        return 2;
    }
    const struct game *game = games[which].game;
    struct random random = {strtoull(argv[2], NULL, 0)};
    double state[GAME_STATE_MAX];
    bool terminated = true;
    long steps = strtol(argv[3], NULL, 10);
    printf("limit %d\n", game->limit);
    corner(game, "low", 0);
    corner(game, "high", UINT32_MAX);
    for (long i = 0; i < steps; i++) {
        float observation[GAME_OBSERVATION_MAX];
        if (i >= steps / 2)
            for (int k = 0; k < GAME_STATE_MAX; k++)
                state[k] = evenly(&random, games[which].reach[k]);
        else if (terminated || i % game->limit == 0)
            start(&random, game, state);
        double action = game->levels ? (double)random_between(&random, 0, game->levels - 1)
                                     : (double)(float)evenly(&random, 3);
        print(state, GAME_STATE_MAX);
        print(&action, 1);
        double reward = game->step(state, action, &terminated);
        game->observe(state, observation);
        print(state, GAME_STATE_MAX);
        for (int k = 0; k < game->observation; k++)
            printf("%.9g ", (double)observation[k]);
        printf("%.17g %d\n", reward, terminated);
    }
    return 0;
}
