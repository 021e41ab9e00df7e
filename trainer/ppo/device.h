/* PPO wholly on a device: the learner of trainer/ppo/learner.h in the GPU module (trainer/ppo/cuda/).
 * Rollout, advantages and update are queued one after the other and the host waits at an iteration's end
 * alone: for the figures, and then for the environment's word whether every action was one. Its pieces are
 * those of the CPU's learner: a checkpoint of one goes on in the other. */
#ifndef TRAINER_PPO_DEVICE_H
#define TRAINER_PPO_DEVICE_H

#include "trainer/env/device.h"
#include "trainer/ppo/learner.h"

/* As `env` stands, which must have autoreset same_step and params->copies copies, and stays the caller's:
 * while the learner lives nobody else may touch it (learner_save() and _load() go through it). `market` is
 * env's on the module's device; both outlive the learner. 0, for learner_destroy(); -EINVAL; -ENOMEM: the
 * device has no room, or would hold more than params->memory_cap of its memory; -ENOEXEC: no module of this
 * version, or no cuBLASLt; -EIO. */
int learner_create_device(const struct ppo_params *params, struct gpu_module *module,
                          struct env_device_market *market, struct env *env, struct learner **ret,
                          char err[static PPO_ERROR_MAX]);

/* Bytes of the one allocation of such a learner, beside the environment's; `shortest_episode` as
 * ppo_shortest_episode() says it. 0 for what a device does not train. */
size_t learner_bytes_device(const struct ppo_params *params, const struct net_layout *layout,
                            uint32_t shortest_episode);

/* Steps that every episode of the environment has at least, but where it is ruined. */
uint32_t ppo_shortest_episode(const struct env *env);

/* Times that the host waited for the device inside learner_iterate(), ever, the environment's among them: two
 * an iteration; but for the rehearsal's. Of a device's learner. */
uint64_t learner_device_waits(const struct learner *l);

/* Multiplications and additions a second of the largest matrix product of an update, done `rounds` times.
 * After learner_iterate(). */
int learner_device_matrix_rate(struct learner *l, int rounds, double *ret_flop_per_s,
                               char err[static PPO_ERROR_MAX]);

/* For tests: `array` is an enum gpu_ppo_array of trainer/ppo/cuda/abi.h. */
int learner_device_fetch(struct learner *l, int array, void *ret, size_t bytes,
                         char err[static PPO_ERROR_MAX]);

/* ---- whichever device there is ---- */

/* A learner and all that is beneath it. */
struct learner_stack {
    struct learner *learner;
    struct env *env; /* of learner->params.copies copies */
    struct ppo_world world;
    struct gpu_module *module;        /* NULL: on the CPU */
    struct env_device_market *market; /* likewise */
};

struct learner_source {
    const struct env_params *env_params; /* autoreset same_step */
    const struct env_market *market;     /* outlives the stack */
    const char *module_path;             /* as gpu_module_open() */
    size_t module_limit;                 /* as gpu_module_limit(); 0: none */
    /* Is told what was not as asked: a sentence. NULL: nobody is. */
    void (*told)(void *ctx, const char *sentence);
    void *ctx;
};

/* params->device: cpu: there. cuda, auto: on the device; where it has no memory for it, with half as many
 * copies, and so on (stack->learner->params.copies says how many) as long as a rollout has a minibatch; then
 * on the CPU with all of them. Where there is no device: auto: on the CPU; cuda: the reason is the error.
 * Whatever was not as asked is told. 0, for learner_stack_destroy(). */
int learner_create_auto(const struct ppo_params *params, const struct learner_source *source,
                        struct learner_stack *ret, char err[static PPO_ERROR_MAX]);
void learner_stack_destroy(struct learner_stack *stack); /* zeroed is fine */

#endif
