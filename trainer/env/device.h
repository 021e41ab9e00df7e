/* The environment on a device: the same copies, stepped by the GPU module to the same bits. One is made from
 * an environment of the host, which keeps the parameters and checks; env_info(), env_episode(),
 * env_positions() and env_save() are called on that one, after env_device_store().
 *
 *     gpu_module_open(NULL, &module, reason, sizeof(reason));
 *     env_create(&params, market, &options, &env, err);
 *     env_device_market_create(module, market, &on_device, err);  // the one upload of the market
 *     env_device_create(on_device, env, &device, err);            // as env stands
 *     env_device_step(device, &io, err); …
 *     env_device_store(device, env, err);                         // env stands where device does
 *
 * Calls return 0 or a negative errno and leave a sentence in err: -EINVAL as the host's; -ENOMEM, the
 * device's memory, after which all still works; -EIO, after which it can only be closed. Everything belongs
 * to the module's one thread and is destroyed before the module is closed. */
#ifndef TRAINER_ENV_DEVICE_H
#define TRAINER_ENV_DEVICE_H

#include "indicators_gpu/module.h"
#include "trainer/env/device_io.h"
#include "trainer/env/env.h"

struct env_device_market;
struct env_device;

/* -ENOEXEC where the module has no environment, or another version's. `market` may be destroyed before. */
int env_device_market_create(struct gpu_module *module, const struct env_market *market,
                             struct env_device_market **ret, char err[static ENV_ERROR_MAX]);
void env_device_market_destroy(struct env_device_market *market); /* NULL is fine; after its environments */

/* A device's environment in the same state as `env`, which stays the caller's and must outlive this. */
int env_device_create(struct env_device_market *market, const struct env *env, struct env_device **ret,
                      char err[static ENV_ERROR_MAX]);
void env_device_destroy(struct env_device *device); /* NULL is fine */

/* Bytes that the market of `env` takes on a device, and that such an environment does with the buffers of
 * env_device_buffers(); a device rounds each allocation up. */
size_t env_device_market_bytes(const struct env *env);
size_t env_device_bytes(const struct env *env);

/* Copies the state with its seed to a host's environment; and from it, including its env_windows(). -EINVAL
 * unless copies, parameters and the market's content are the same, as for env_load(). */
int env_device_store(struct env_device *device, struct env *env, char err[static ENV_ERROR_MAX]);
int env_device_load(struct env_device *device, const struct env *env, char err[static ENV_ERROR_MAX]);

/* As the functions of env.h without `_device`, with the host's arrays. */
int env_device_reset(struct env_device *device, const uint8_t *mask, char err[static ENV_ERROR_MAX]);
int env_device_step(struct env_device *device, const struct env_io *io, char err[static ENV_ERROR_MAX]);
int env_device_observe(struct env_device *device, float *ret, char err[static ENV_ERROR_MAX]);
int env_device_masks(struct env_device *device, uint8_t *ret, char err[static ENV_ERROR_MAX]);

/* Many steps with actions that lie on the device: env_device_actions() copies those of n_steps steps there,
 * [n_steps][copies][action_size], or by column as env_io; env_device_run() takes them in order, with an
 * observation of all copies after each step where `observe` is set, and returns the device's time. With
 * `ret`, which may be NULL, rewards and ends of every step are kept and brought to the host,
 * [n_steps][copies] each; its final_obs is the last step's. Autoreset as ever; nothing waits between the
 * steps. -EINVAL for an action that is not finite or no level: err names step, copy and asset; that copy was
 * not stepped then, everything else was. */
struct env_device_results {
    float *rewards;
    uint8_t *terminated, *truncated;
    float *final_obs; /* NULL, or as env_io has it */
};
int env_device_actions(struct env_device *device, const float *actions, size_t n_steps, bool by_column,
                       char err[static ENV_ERROR_MAX]);
int env_device_run(struct env_device *device, size_t n_steps, bool observe,
                   const struct env_device_results *ret, float *ret_ms, char err[static ENV_ERROR_MAX]);

/* The observations after the last step of a run that observed, as env_observe() gives them. */
int env_device_run_observations(struct env_device *device, float *ret, char err[static ENV_ERROR_MAX]);

/* Steps for a policy that lives on the device, too: nothing crosses to the host, which only queues.
 *
 *     env_device_buffers(device, &io, &stream, err);
 *     env_device_queue(device, &(struct env_device_io){.observations = io.observations}, stream, err);
 *     for (;;) {
 *         … queue the policy on `stream`: io.observations -> io.actions …
 *         env_device_queue(device, &io, stream, err);
 *         … queue what learns from io.rewards, io.terminated, io.truncated …
 *     }
 *     env_device_wait(device, NULL, err);
 *
 * env_device_buffers(): the environment's own buffers and its stream (a cudaStream_t). `actions` are those
 * that env_device_actions() brought there last, or room for one step. They stay where they are until that is
 * given more steps than ever before. final_obs is NULL except with ENV_SAME_STEP.
 * env_device_queue(): one step (io->actions NULL: none) with any addresses of the same device in io, the
 * environment's own or the caller's, on any stream; NULL: the environment's own. It returns at once; the
 * device orders it after everything that was called for this environment before, on whatever stream. -EINVAL
 * for actions without rewards and ends.
 * env_device_wait(): until all that was queued is done; with `ret` the last step's results, read from where
 * that step left them. -EINVAL for an invalid action, as env_device_run(): err counts the steps that
 * were queued since the last wait. */
int env_device_buffers(struct env_device *device, struct env_device_io *ret, void **ret_stream,
                       char err[static ENV_ERROR_MAX]);
int env_device_queue(struct env_device *device, const struct env_device_io *io, void *stream,
                     char err[static ENV_ERROR_MAX]);
int env_device_wait(struct env_device *device, const struct env_device_results *ret,
                    char err[static ENV_ERROR_MAX]);

#endif
