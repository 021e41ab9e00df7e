#include "trainer/ppo/worlds/game.h"

/* state[0] is what is observed. */
static void observe(const double *state, float *ret)
{
    ret[0] = (float)state[0];
}

static void begin(const uint32_t words[static GAME_STATE_MAX], double *state)
{
    (void)words;
    for (int i = 0; i < GAME_STATE_MAX; i++)
        state[i] = 0;
}

static void begin_signed(const uint32_t words[static GAME_STATE_MAX], double *state)
{
    begin(words, state);
    state[0] = words[0] >> 31 ? 1 : -1;
}

static double constant(double *state, double action, bool *ret_terminated)
{
    (void)state;
    (void)action;
    *ret_terminated = true;
    return 1;
}

static double observation(double *state, double action, bool *ret_terminated)
{
    (void)action;
    *ret_terminated = true;
    return state[0];
}

static double delayed(double *state, double action, bool *ret_terminated)
{
    (void)action;
    double reward = state[0];
    *ret_terminated = reward > 0;
    state[0] = 1;
    return reward;
}

static double by_action(double *state, double action, bool *ret_terminated)
{
    (void)state;
    *ret_terminated = true;
    return action == 1 ? 1 : -1;
}

static double endless(double *state, double action, bool *ret_terminated)
{
    (void)state;
    (void)action;
    *ret_terminated = false;
    return 1;
}

const struct game ppo_game_probe_constant = {"probe-constant", 1, 2, 1, begin, constant, observe};
const struct game ppo_game_probe_observation = {"probe-observation", 1,           2,      1,
                                                begin_signed,        observation, observe};
const struct game ppo_game_probe_delayed = {"probe-delayed", 1, 2, 2, begin, delayed, observe};
const struct game ppo_game_probe_action = {"probe-action", 1, 2, 1, begin, by_action, observe};
const struct game ppo_game_probe_truncated = {"probe-truncated", 1, 2, 2, begin, endless, observe};
