/* A learner on a device, shared by its own files only: its life and iterations (device.c), and its state
 * (device_state.c). */
#ifndef TRAINER_PPO_DEVICE_INTERNAL_H
#define TRAINER_PPO_DEVICE_INTERNAL_H

#include "indicators_gpu/share.h"
#include "trainer/ppo/cuda/abi.h"
#include "trainer/ppo/device.h"

enum { DEVICE_BACKEND_MAX = 300 };

struct device_learner {
    struct learner learner; /* first: the callers' handle */
    struct learner_ops ops;
    char backend[DEVICE_BACKEND_MAX];
    const struct gpu_ppo_api *api;
    struct gpu_ppo *on_device;
    struct env *env;
    struct env_device *device;
    struct ppo_counters counters;
    size_t driver_bytes;       /* its part, and its context */
    struct gpu_share *share;   /* NULL: none; the module's */
    int settled;               /* iterations, until the driver has its part */
    uint64_t waits, waits_env; /* in iterations; on the environment, ever */
    bool normal;               /* observations have statistics, or need none */
    bool noticed;              /* the device's notice was passed on */
};

static inline struct device_learner *device_of(const struct learner *l)
{
    return (struct device_learner *)(uintptr_t)l;
}

/* A whole state in the host's memory. */
struct host_state {
    struct gpu_ppo_state state;
    size_t normaliser_bytes, copies_bytes, params_bytes, world_bytes;
    void *world;
};

int ppo_device_state_init(struct host_state *s, struct device_learner *d, char err[static PPO_ERROR_MAX]);
void ppo_device_state_finish(struct host_state *s);

/* The state at the start: the same bits as the CPU's learner's. */
int ppo_device_begin(struct device_learner *d, char err[static PPO_ERROR_MAX]);

/* As struct learner_ops has them. */
int ppo_device_save(struct learner *learner, const struct ppo_sink *sink, char err[static PPO_ERROR_MAX]);
int ppo_device_load(struct learner *learner, const struct ppo_source *source, char err[static PPO_ERROR_MAX]);
int ppo_device_snapshot(struct learner *learner, const struct ppo_snapshot *ret,
                        char err[static PPO_ERROR_MAX]);

#endif
