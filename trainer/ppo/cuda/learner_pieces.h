/* A learner's pieces: for its life and iterations (learner.c), its kernels' arguments (learner_places.c) and
 * its state over checkpoints (learner_state.c) alone. No CUDA here: queue.h and kernels.h are the device's.
 */
#ifndef TRAINER_PPO_CUDA_LEARNER_PIECES_H
#define TRAINER_PPO_CUDA_LEARNER_PIECES_H

#include "trainer/ppo/cuda/abi.h"
#include "trainer/ppo/cuda/sequence.h"

/* Memory that is copied between host and device; pinned. */
struct letters {
    struct kernel_rates rates;
    struct kernel_figures figures;
    uint32_t stop;
};

struct gpu_ppo {
    struct gpu_ppo_setup setup;
    struct ppo_queue *queue;
    struct letters *letters;
    struct sequence sequence;

    /* The kernels' arguments: the same in every step and minibatch. */
    struct kernel_rollout rollout;
    struct kernel_act act;
    struct kernel_policy policy; /* of a narrow network, with act */
    struct kernel_stepped stepped;
    struct kernel_observed observed;
    struct kernel_returned returned;
    struct kernel_advantages advantages;
    struct kernel_explained explained;
    struct kernel_gather gather;
    struct kernel_loss loss;
    struct kernel_adam adam;
};

static inline void *at(const struct gpu_ppo *p, size_t offset)
{
    return sequence_at(&p->sequence, offset);
}

static inline void *lane0(const struct gpu_ppo *p)
{
    return ppo_queue_stream(p->queue, 0);
}

static inline void launched(struct gpu_ppo *p)
{
    ppo_queue_launched(p->queue);
}

static inline struct kernel_matrix observations(const struct gpu_ppo *p, size_t offset)
{
    const struct ppo_plan *plan = &p->sequence.plan;
    return sequence_matrix(&p->sequence, offset, plan->x_stride, plan->half);
}

/* Sets the kernels' arguments, of a learner that has its sequence. */
void ppo_gpu_place(struct gpu_ppo *p);

/* To and from the device, with a wait. 0, or -errno with a sentence. */
int ppo_gpu_write(struct gpu_ppo *p, const struct gpu_ppo_state *state, char *reason, size_t cap);
int ppo_gpu_read(struct gpu_ppo *p, const struct gpu_ppo_state *state, char *reason, size_t cap);

#endif
