/* What PPO learns in: copies of an environment that are stepped together and reset themselves (the autoreset
 * is same_step: the last step gives the next episode's first observation, and the ended one's last in
 * final_obs). The trading environment, classic control and probes are worlds. */
#ifndef TRAINER_PPO_WORLD_H
#define TRAINER_PPO_WORLD_H

#include "trainer/env/env.h"

struct ppo_world {
    void *ctx;
    const char *name;
    size_t copies;
    int observation, actions, levels; /* as struct net_shape */
    /* As env_step() (struct env_io; final_obs is always there) and env_observe(). */
    int (*step)(void *ctx, const struct env_io *io, char err[static ENV_ERROR_MAX]);
    void (*observe)(void *ctx, float *ret);
    /* Everything that changes, as env_save(), env_load(). */
    size_t (*state_bytes)(void *ctx);
    void (*save)(void *ctx, void *ret);
    int (*load)(void *ctx, const void *state, char err[static ENV_ERROR_MAX]);
    void (*destroy)(void *ctx);
};

/* The trading environment; `env`, which must have autoreset same_step, then belongs to the world. */
int ppo_world_trading(struct env *env, struct ppo_world *ret, char err[static ENV_ERROR_MAX]);

/* Built in, each the same for the same seed: "cartpole", "acrobot", "pendulum" (Gymnasium's CartPole-v1,
 * Acrobot-v1, Pendulum-v1 with their step limits), and probes: "probe-constant", "probe-observation",
 * "probe-delayed", "probe-action", "probe-truncated" (trainer/ppo/worlds/game.h has their right values).
 * -ENOENT names the nearest; -EINVAL for no copies; -ENOMEM. */
int ppo_world_builtin(const char *name, size_t copies, uint64_t seed, struct ppo_world *ret,
                      char err[static ENV_ERROR_MAX]);
void ppo_world_destroy(struct ppo_world *world);

#endif
