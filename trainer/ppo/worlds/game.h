/* A game: one copy of a small world, as ppo_world_builtin() steps many of. Its one action is a level
 * 0..levels-1, or a number where there are no levels. All is computed in float64. */
#ifndef TRAINER_PPO_WORLDS_GAME_H
#define TRAINER_PPO_WORLDS_GAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GAME_STATE_MAX = 4, GAME_OBSERVATION_MAX = 6 };

struct game {
    const char *name;
    int observation, levels; /* levels 0: the action is any finite number */
    int limit;               /* steps after which an episode that has not terminated is truncated */
    /* Of four random words, state [GAME_STATE_MAX]: what a game does not use is 0. */
    void (*begin)(const uint32_t words[static GAME_STATE_MAX], double *state);
    double (*step)(double *state, double action, bool *ret_terminated); /* the reward */
    void (*observe)(const double *state, float *ret);                   /* [observation] */
};

/* Classic control, to the definitions of Gymnasium 1.4: CartPole-v1 (after Barto, Sutton, Anderson 1983),
 * Acrobot-v1 (Sutton, Barto: the book's equations), Pendulum-v1. */
extern const struct game ppo_game_cartpole, ppo_game_acrobot, ppo_game_pendulum;

/* Probes: each has one thing to learn, so that a failure shows what is wrong. With discount g the right
 * values are
 *   probe-constant     observation 0; one step, reward 1:                     V(0) = 1
 *   probe-observation  observation +1 or -1; one step, that is the reward:    V(o) = o
 *   probe-delayed      observation 0, then 1; reward 0, then 1:               V(0) = g, V(1) = 1
 *   probe-action       observation 0; one step, level 1 gives 1, level 0 -1:  level 1; V(0) -> 1
 *   probe-truncated    observation 0; reward 1, truncated after two steps:    V(0) = 1 / (1 - g)
 * All have two levels; only in probe-action do they change anything. */
extern const struct game ppo_game_probe_constant, ppo_game_probe_observation, ppo_game_probe_delayed,
    ppo_game_probe_action, ppo_game_probe_truncated;

#endif
