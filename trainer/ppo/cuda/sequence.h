/* Networks forward and backward on a device: which products and kernels follow each other on which lane. One
 * source for the module and for the tests' CPU: it queues by queue.h and kernels.h and sees no CUDA.
 *
 * Policy and value network run beside each other, a lane each (on one lane, where they share a trunk).
 * Products of both in one batch would serve only networks of the same widths, and save no more: at
 * 2048x1024x512 a product of 32,768 rows has 512 to 2048 tiles of 128 x 256 for 132 processors, 4 to 16 waves
 * of them; of the last wave up to a whole one idles, which the other lane's tiles fill. At 64x64 a product
 * takes as long as its launch, and two lanes halve that as a batch would. */
#ifndef TRAINER_PPO_CUDA_SEQUENCE_H
#define TRAINER_PPO_CUDA_SEQUENCE_H

#include "trainer/ppo/cuda/kernels.h"
#include "trainer/ppo/cuda/plan.h"
#include "trainer/ppo/cuda/queue.h"

enum sequence_pass { PASS_ROLLOUT, PASS_VALUES, PASS_FINALS, PASS_TRAIN, PASSES };

/* A planned product: which steps the device fuses with it. */
struct sequence_product {
    int id;
    bool relu, bias;
};

struct sequence {
    struct ppo_queue *queue;
    const struct ppo_params *params;
    const struct net_layout *layout;
    struct ppo_plan plan;
    unsigned char *base; /* the arena */
    /* [part][layer], behind the hidden ones the recurrent one and the head */
    struct sequence_product forward[PASSES][3][NET_LAYERS_MAX + 2];
    struct sequence_product input[3][NET_LAYERS_MAX + 2], weight[3][NET_LAYERS_MAX + 2];
    struct kernel_add sums; /* of biases, norms and log_std, from their tiles */
    bool narrow;            /* ppo_sequence_policy() is used: a rollout has no products */
    double largest_flops;   /* of `largest`, a product of an update */
    struct sequence_product largest;
    struct queue_operands last[QUEUE_PRODUCTS_MAX]; /* of each product's last run; x NULL: it never ran */
};

/* Plans all products. The arena lies at `base`. 0, or -ENOTSUP with a sentence. */
int ppo_sequence_init(struct sequence *s, struct ppo_queue *queue, const struct ppo_params *params,
                      const struct net_layout *layout, const struct ppo_plan *plan, void *base, char *reason,
                      size_t cap);

/* Heads (PASS_ROLLOUT) or values (PASS_VALUES, PASS_FINALS) of a pass' rows of observations. `first`: which
 * rows; with a recurrent layer passes for values go through the rollout step by step, and those for final
 * observations come after them. */
void ppo_sequence_forward(struct sequence *s, enum sequence_pass pass, struct kernel_matrix x, size_t first);

/* The policy as one kernel, without the act part; false: it is too wide for that, has more copies or other
 * layers, and ppo_sequence_forward() has products for it. */
bool ppo_sequence_policy(const struct sequence *s, struct kernel_policy *ret);

/* Both networks over the minibatch, and the gradients from d_heads and d_values. */
void ppo_sequence_train(struct sequence *s);
void ppo_sequence_back(struct sequence *s);

static inline void *sequence_at(const struct sequence *s, size_t offset)
{
    return s->base + offset;
}
static inline struct kernel_matrix sequence_matrix(const struct sequence *s, size_t offset, int stride,
                                                   bool half)
{
    return (struct kernel_matrix){s->base + offset, (uint32_t)stride, half};
}

#endif
