/* A batch drawn from a seed, its loss and all gradients, in float64 by the trainer's own code. The inputs
 * (parameters, observations, actions, old figures, hidden states) are numbers that float32 has, so that the
 * same batch can be computed in either type. Some rows' ratios and values lie beyond their clips, and seeds
 * differ in whether the value loss and the entropy lie beyond their bounds. */
#ifndef TRAINER_COMMAND_GRAD_BATCH_H
#define TRAINER_COMMAND_GRAD_BATCH_H

#define NN_DOUBLE
#include "strategy/policy/safetensors.h"
#include "trainer/nn/train.h"

struct grad_batch_options {
    struct net_shape shape;
    size_t rows;  /* >= 2 */
    size_t steps; /* of a sequence where there is a recurrent layer, a divisor of rows; else 1 */
    uint64_t seed;
    struct nn_loss loss;
};

struct grad_batch {
    struct net_layout layout;
    struct nn_loss loss;
    size_t rows, steps;
    /* Inputs. params and grads lie as the layout says. */
    double *params, *obs, *actions, *old_logp, *old_values, *advantages /* raw */, *returns;
    double *hidden;  /* [rows / steps][layout.hidden] */
    uint8_t *starts; /* [rows] */
    /* Results. */
    double *normalised; /* advantages: (A - mean) / (deviation, ddof 1, + 1e-8) */
    double *heads, *values, *logp, *grads;
    struct nn_terms terms;
};

/* 0, for trainer_grad_batch_destroy(); -EINVAL for an invalid shape; -ENOMEM. */
int trainer_grad_batch_create(const struct grad_batch_options *options, struct grad_batch **ret,
                              char err[static NET_ERROR_MAX]);
void trainer_grad_batch_destroy(struct grad_batch *batch); /* NULL is fine */

/* Writes it, all float64: docs/training.md names the tensors and the metadata. 0 or -errno. */
int trainer_grad_batch_write(const struct grad_batch *batch, const char *path,
                             char err[static SAFETENSORS_ERROR_MAX]);

#endif
