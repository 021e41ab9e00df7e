/* PPO wholly on a device: the learner of trainer/ppo/learner.h in the GPU module (trainer/ppo/cuda/).
 * Rollout, advantages and update are queued one after the other; the host waits at an iteration's end, for
 * the figures and then for the environment's check that every action was valid, and before that only where
 * ppo_learner_device_waits() says so. Its pieces are those of the CPU's learner: either continues from the
 * other's checkpoint. */
#ifndef TRAINER_PPO_DEVICE_H
#define TRAINER_PPO_DEVICE_H

#include "trainer/env/device.h"
#include "trainer/ppo/learner.h"

/* Starts from the state of `env`, which must have autoreset same_step and params->copies copies, and stays
 * the caller's: while the learner lives only the learner may use it (ppo_learner_save() and _load() go
 * through it). `market` is env's on the module's device; both outlive the learner. 0, for
 * ppo_learner_destroy(); -EINVAL; -ENOMEM: the device has no room, or (which is checked before anything is
 * allocated there) ppo_learner_check_device() says so; -ENOEXEC: no module of this version, or no cuBLASLt;
 * -EIO. Where the driver records no graphs, for want of memory or of support, kernels are launched one by
 * one, and learner->warned is called once. */
int ppo_learner_create_device(const struct ppo_params *params, struct gpu_module *module,
                              struct env_device_market *market, struct env *env, struct learner **ret,
                              char err[static PPO_ERROR_MAX]);

/* What a learner takes of a device. */
struct learner_room {
    size_t all;  /* that this process then has there for it: ppo_learner_bytes_device(), the driver's part and
                    its context */
    size_t more; /* of these, what is not there yet */
    size_t driver; /* and of these, what the driver takes in the first two iterations */
};

/* The same for callers that have checked (ppo_learner_check_device()), and entered its room. */
int ppo_learner_create_checked(const struct ppo_params *params, struct gpu_module *module,
                               struct env_device_market *market, struct env *env,
                               const struct learner_room *room, struct learner **ret,
                               char err[static PPO_ERROR_MAX]);

/* Bytes that such a learner holds on a device: its one allocation, the environment's (`env` has
 * params->copies copies) and the market's. The driver takes more. 0: a device cannot train it. */
size_t ppo_learner_bytes_device(const struct ppo_params *params, const struct net_layout *layout,
                                const struct env *env);

/* May the module's device hold such a learner beside what it holds now and what other processes have entered
 * in the module's share (ppo_room_check())? Nothing is allocated there, nothing entered. `has_market`: env's
 * market is among what it holds. `settled`: that share is (gpu_share_settle()). 0; -ENOMEM with the figures;
 * or as ppo_learner_create_device(). */
int ppo_learner_check_device(const struct ppo_params *params, struct gpu_module *module,
                             const struct env *env, bool has_market, bool settled, struct learner_room *ret,
                             char err[static PPO_ERROR_MAX]);

/* The networks of such an environment. 0, or -EINVAL with a sentence: its copies, its autoreset. */
int ppo_learner_layout(const struct ppo_params *params, const struct env *env, struct net_layout *ret,
                       char err[static PPO_ERROR_MAX]);

/* The least number of steps of an episode of the environment, unless it is ruined. */
uint32_t ppo_shortest_episode(const struct env *env);

/* Launches of a rollout's step on a device (kernels, products and the environment's), where its matrix
 * library has ReLU as an epilogue: without, a hidden layer is one more. */
int ppo_learner_launches(const struct ppo_params *params, const struct net_layout *layout);

/* How often the host waited for the device inside ppo_learner_iterate(), ever, including waits for the
 * environment, without the rehearsal's: two an iteration; one more, for the rollout's end, where phases are
 * watched (ppo_learner_watch()): the device continues meanwhile; and with target_kl, where graphs have no
 * conditions, one before each epoch but the first. Of a device's learner. */
uint64_t ppo_learner_device_waits(const struct learner *l);

/* Multiplications and additions a second of the largest matrix product of an update, done `rounds` times.
 * After ppo_learner_iterate(). */
int ppo_learner_device_matrix_rate(struct learner *l, int rounds, double *ret_flop_per_s,
                                   char err[static PPO_ERROR_MAX]);

/* The matrix products of such a learner (struct queue_record, trainer/ppo/cuda/queue.h), the first n of them
 * into ret. Returns how many there are. */
struct queue_record;
size_t ppo_learner_device_products(const struct learner *l, struct queue_record *ret, size_t n);

/* Seconds of product `id` (0 is the first record) alone, the mean of `rounds`; NaN: it never ran. After
 * ppo_learner_iterate(), which computes again what this overwrites. */
int ppo_learner_device_product_seconds(struct learner *l, int id, int rounds, double *ret,
                                       char err[static PPO_ERROR_MAX]);

/* Bytes of the module's device, and those that no process holds. -ENOEXEC: a module without the learner. */
int ppo_device_memory(struct gpu_module *module, size_t *ret_free, size_t *ret_total,
                      char err[static PPO_ERROR_MAX]);

/* For tests: `array` is an enum gpu_ppo_array of trainer/ppo/cuda/abi.h. */
int ppo_learner_device_fetch(struct learner *l, int array, void *ret, size_t bytes,
                             char err[static PPO_ERROR_MAX]);

/* ---- on a device or the CPU ---- */

/* A learner and all that it is built on. */
struct learner_stack {
    struct learner *learner;
    struct env *env; /* of learner->params.copies copies */
    struct ppo_world world;
    struct gpu_module *module;        /* NULL: on the CPU */
    struct env_device_market *market; /* likewise */
};

/* A device that is planned for, which need not be here. */
struct learner_memory {
    size_t total;
    size_t driver; /* that its driver takes for a process: context, code, graphs */
};

/* The device that a plan assumes of that many bytes; and the share of any that such a learner may hold. */
struct learner_memory ppo_learner_memory(size_t total);
double ppo_learner_share(const struct ppo_params *params);

struct learner_source {
    const struct env_params *env_params; /* autoreset same_step */
    const struct env_market *market;     /* outlives the stack */
    const char *module_path;             /* as gpu_module_open() */
    size_t module_limit;                 /* as gpu_module_limit(); 0: none */
    bool all_copies;                     /* never fewer, for a checkpoint's learner: rather on the CPU */
    /* Called with a sentence for each difference from what was configured; the learner keeps it. NULL: not
     * wanted. */
    void (*warned)(void *ctx, const char *sentence);
    void *ctx;
};

/* params->device: cpu: on the CPU. cuda, auto: on the device, whose room it enters in the module's share, so
 * that processes which start at once do not take the same; where there is no memory for it, with half as many
 * copies, and so on (stack->learner->params.copies says how many) as long as a rollout has a minibatch;
 * then on the CPU with all of them. Where there is no device: auto: on the CPU; cuda: the reason is the
 * error. Each difference from what was configured is reported. 0, for ppo_learner_stack_destroy(); -ENOMEM:
 * the host has no memory. */
int ppo_learner_create_auto(const struct ppo_params *params, const struct learner_source *source,
                            struct learner_stack *ret, char err[static PPO_ERROR_MAX]);
void ppo_learner_stack_destroy(struct learner_stack *stack); /* zeroed is fine */

/* What a device holds for a learner: its one allocation, the environment, the market, and the driver's. */
struct learner_bytes {
    size_t learner, environment, market, driver;
};

/* What ppo_learner_create_auto() would choose, by the sizes alone; nothing is allocated on the device. */
struct learner_prediction {
    int copies;
    size_t device_bytes;     /* all that is held there, including the driver's part; 0: on the CPU */
    struct learner_bytes of; /* its parts */
    bool lacks_memory;       /* on the CPU because of the device's memory */
    size_t total;            /* bytes of the device that was looked at; 0: there is no device */
};

/* `memory` NULL: of the module's device, beside what it holds now. Else of that device, with nothing else on
 * it: no module is opened, and params->memory_cap is a share of its memory; the driver's part counts among
 * it. device = cpu stays on the CPU. */
int ppo_learner_predict(const struct ppo_params *params, const struct learner_source *source,
                        const struct learner_memory *memory, struct learner_prediction *ret,
                        char err[static PPO_ERROR_MAX]);

/* As ppo_learner_check_device(), of such a device. */
int ppo_learner_check_memory(const struct ppo_params *params, const struct learner_memory *memory,
                             const struct env *env, struct learner_bytes *ret,
                             char err[static PPO_ERROR_MAX]);
/* Parts of what ppo_learner_check_device() found in all. */
int ppo_learner_parts(const struct ppo_params *params, const struct env *env, size_t all,
                      struct learner_bytes *ret, char err[static PPO_ERROR_MAX]);

#endif
