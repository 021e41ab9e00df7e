/* PPO's hyper-parameters and the networks' shape: one table of keys, which the trainer's configuration,
 * studies and the documentation share. docs/training.md says what each does. */
#ifndef TRAINER_PPO_PARAMS_H
#define TRAINER_PPO_PARAMS_H

#include <math.h>

#include "strategy/policy/net.h"
#include "trainer/env/params.h"

enum { PPO_ERROR_MAX = 512 };

/* A number that follows from others: "auto" as text. */
#define PPO_UNSET ((double)NAN)

enum ppo_schedule { PPO_CONSTANT, PPO_LINEAR, PPO_EXPONENTIAL };
enum ppo_precision {
    PPO_FLOAT32,
    PPO_TF32,
    PPO_BF16
};                                          /* of a device's products; "mixed" is bf16. The CPU: float32 */
enum ppo_plans { PPO_MEASURED, PPO_FIRST }; /* of a device's products: trainer/ppo/cuda/product_plan.h */
enum ppo_device { PPO_AUTO, PPO_CPU, PPO_CUDA }; /* auto: a device where there is one */

struct ppo_params {
    /* Networks. Observation, actions, levels come from the environment. */
    struct net_shape net; /* keys: policy_layers, value_layers ("64,64"), shared_layers (true, false),
                             layer_norm, activation, recurrent */
    double log_std_init, log_std_min, log_std_max; /* floor and ceiling are kept after each step */
    double policy_gain;

    /* Rollout */
    int copies, steps; /* a rollout is copies * steps rows */
    double gamma, gae_lambda;
    bool normalise_observations, normalise_rewards;
    double clip_observations, clip_rewards; /* of what is normalised: +- */

    /* Update */
    int minibatch; /* rows; a remainder of an epoch's rows is left out of that epoch */
    int epochs;
    int sequence; /* steps of a row's sequence where there is a recurrent layer; divides steps, and minibatch
                     by it */
    double learning_rate, lr_final; /* lr_final: the share of it that is left at the end */
    enum ppo_schedule lr_schedule;
    double adam_beta1, adam_beta2, adam_epsilon;
    double clip_range, clip_range_final; /* linear from one to the other; PPO_UNSET: clip_range stays */
    double clip_range_vf;                /* 0: none */
    double vf_coef;
    double ent_coef;       /* PPO_UNSET: 0; with `bounded` the reference's 0.05 */
    double ent_coef_final; /* PPO_UNSET: ent_coef; with `bounded` and ent_coef unset the reference's 0.005 */
    bool bounded;          /* the bounds below hold: the reference's bounded entropy */
    double entropy_bound, value_bound;
    bool normalise_advantages; /* per minibatch: (A - mean) / (deviation, ddof 1, + 1e-8) */
    double max_grad_norm;      /* 0: none */
    double target_kl;          /* epochs end once a minibatch's kl is above 1.5 times this; 0: never */
    int bad_updates; /* so many minibatches in a row whose loss or gradients are not finite end it */

    /* Run */
    uint64_t seed;
    int64_t total_steps;
    enum ppo_device device;
    enum ppo_precision precision;
    enum ppo_plans product_plans;
    double memory_cap; /* share of the device's memory */
    int sharers;       /* processes that divide it equally among them; 0: 1. No key: a study sets it */
    int threads;       /* 0: one a core. Also the shards of a minibatch: part of a run's identity */
};

/* Every key, sorted by name; CONFIG_OWN: a list of layers' widths, "64,64" or "none". */
const struct config_key *ppo_params_list(size_t *ret_n);

/* "default" (64x64, 8 copies), "reference-4080" (32 copies x 4096 steps, minibatch 1024, 2048,1024,512, bf16,
 * memory cap 0.8, bounded entropy 0.05 to 0.005). */
int ppo_params_preset(const char *name, struct ppo_params *ret, char err[static PPO_ERROR_MAX]);

/* As env_params_set(), env_params_get(). -ENOENT names the nearest key. */
int ppo_params_set(struct ppo_params *params, const char *key, const char *text,
                   char err[static PPO_ERROR_MAX]);
bool ppo_params_get(const struct ppo_params *params, const char *key, char *buf, size_t cap);

/* Are they consistent? 0, or -EINVAL with "what: where: what would be right". */
int ppo_params_check(const struct ppo_params *params, char err[static PPO_ERROR_MAX]);
/* All rules that keys break together, though each is in its range: the keys of a rule, separated by blanks,
 * the one that the sentence begins with first. Returns how many. */
int ppo_params_misfits(const struct ppo_params *params,
                       void (*misfit)(void *ctx, const char *keys, const char *words), void *ctx);

/* The values at `progress`, 0 at the start to 1 at total_steps. exponential: lr_final^progress. The only
 * readers of clip_range_final, ent_coef and ent_coef_final, which may be PPO_UNSET. */
double ppo_learning_rate(const struct ppo_params *params, double progress);
double ppo_clip_range(const struct ppo_params *params, double progress);
double ppo_ent_coef(const struct ppo_params *params, double progress);

#endif
