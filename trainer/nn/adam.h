/* Adam (Kingma, Ba 2015) as PyTorch's: m = b1 m + (1-b1) g, v = b2 v + (1-b2) g^2, p -= lr / (1-b1^t) * m /
 * (sqrt(v / (1-b2^t)) + eps). Gradients are first scaled by `scale`: clipping to a norm (torch's
 * clip_grad_norm_: min(1, max_norm / (norm + 1e-6))). */
#ifndef TRAINER_NN_ADAM_H
#define TRAINER_NN_ADAM_H

#include <stddef.h>

#include "trainer/nn/real.h"

struct nn_adam {
    double lr, beta1, beta2, epsilon, scale;
    double correction1, correction2; /* 1 - beta1^t, 1 - beta2^t, of the step to be done, t from 1 */
};

/* One step of parameters [first, first + n). `grads` are several arrays of n_params, which are added in
 * order: those of the shards of a minibatch. */
void REAL(nn_adam)(const struct nn_adam *adam, real *params, real *m, real *v, const real *const *grads,
                   int n_grads, size_t first, size_t n);

/* Sum of squares of the added gradients over [first, first + n): callers split at fixed places and add in
 * order. */
double REAL(nn_grad_squares)(const real *const *grads, int n_grads, size_t first, size_t n);

#endif
