/* Networks forward, PPO's loss, and its gradients, on the CPU, for one thread's rows of a minibatch. Products
 * are kernels of our own, fused with bias and activation, and large ones OpenBLAS's where that has kernels
 * for the processor's widest vectors (trainer/nn/kernels/); both one-threaded: callers split rows over
 * threads. Each call's bits depend on its arguments and the processor alone.
 *
 * Loss, as SB3's PPO with options (docs/training.md): policy = -mean(min(r A, clip(r, 1 +- c) A)),
 * r = exp(logp - old_logp); value = mean((returns - v)^2), v clipped to old_values +- clip_range_vf where
 * that is set; entropy = -mean(entropy); value and entropy clamped to +-bound where given, where beyond the
 * gradient is 0; loss = policy + ent_coef * entropy + vf_coef * value. */
#ifndef TRAINER_NN_TRAIN_H
#define TRAINER_NN_TRAIN_H

#include "strategy/policy/net.h"
#include "trainer/nn/real.h"

/* Zero of a bound or of clip_range_vf: none. */
struct nn_loss {
    double clip_range, clip_range_vf, vf_coef, ent_coef, entropy_bound, value_bound;
};

/* Sums over rows; a minibatch's are those of its parts added up in order. */
struct nn_sums {
    double policy, value, entropy; /* of the loss' terms, not yet divided by rows nor clamped */
    double old_kl;                 /* of old_logp - logp */
    double kl;                     /* of (r - 1) - log r */
    double clipped;                /* rows with |r - 1| > clip_range */
    size_t rows;
};

/* The loss' terms of a minibatch of sums->rows rows; each ret may be NULL. */
struct nn_terms {
    double policy, value, entropy, loss;          /* value, entropy: clamped */
    double pull_policy, pull_value, pull_entropy; /* d loss / d a row's term: 0 where it was clamped */
};
struct nn_terms nn_terms_of(const struct nn_loss *loss, const struct nn_sums *sums);

/* Fills params (n_params floats) for a start: orthogonal weights of gain sqrt 2, `policy_gain` (0.01) for the
 * policy's head, 1 for the value's and the recurrent layers; biases 0, norm weights 1, log_std as given.
 * Drawn by Philox from the seed: the same on every machine that has IEEE doubles. -ENOMEM. */
int nn_init(const struct net_layout *layout, uint64_t seed, double policy_gain, double log_std, float *ret);

/* ---- by type ---- */

struct REAL(nn_work); /* activations of up to `rows` rows: one thread's */
/* `layout` must outlive it. `train`: room for nn_loss() and nn_backward(). -ENOMEM. */
int REAL(nn_work_create)(const struct net_layout *layout, size_t rows, bool train,
                         struct REAL(nn_work) * *ret);
void REAL(nn_work_destroy)(struct REAL(nn_work) * work);                        /* NULL is fine */
size_t nn_work_bytes(const struct net_layout *layout, size_t rows, bool train); /* float32's, for `plan` */

/* Rows of a pass. Without a recurrent layer only the first two count. */
struct REAL(nn_rows) {
    size_t rows;
    const real *obs; /* [rows][observation], normalised */
    /* Sequences of `steps` (>= 1) rows, one after the other: row = sequence * steps + step. */
    size_t steps;
    const real *hidden;    /* [rows / steps][layout->hidden] before each sequence; NULL: zeros */
    const uint8_t *starts; /* [rows] 1: an episode begins with this row; NULL: none does */
};

/* Means or logits [rows][layout->outputs], values [rows], recurrent state after each sequence
 * [rows / steps][layout->hidden]. What is NULL is not computed; with heads or values NULL, that network is
 * not touched (its part of ret_hidden, where asked for, is). */
void REAL(nn_forward)(struct REAL(nn_work) * work, const real *params, const struct REAL(nn_rows) * rows,
                      real *ret_heads, real *ret_values, real *ret_hidden);

/* What the rows' rollout recorded, [rows] each. */
struct REAL(nn_sample) {
    const real *actions; /* [rows][actions]; discrete: the level's index as a number */
    const real *old_logp, *old_values;
    const real *advantages; /* normalised already, where that is wanted */
    const real *returns;
};

/* Log probability of each row's action and entropy of its distribution: continuous: normal, independent, of
 * deviation exp(log_std); discrete: a softmax over each action's levels. heads as of nn_forward(). */
void REAL(nn_logp)(const struct net_layout *layout, const real *params, const real *heads,
                   const real *actions, size_t rows, real *ret_logp, real *ret_entropy);

/* Forward, keeping everything for backward, and the sums of the loss over these rows. `rows` and `sample`
 * must stay until nn_backward(). */
void REAL(nn_loss)(struct REAL(nn_work) * work, const real *params, const struct nn_loss *loss,
                   const struct REAL(nn_rows) * rows, const struct REAL(nn_sample) * sample,
                   struct nn_sums *ret);

/* The gradients of these rows' part of the loss, with the terms of the whole minibatch (their pull_):
 * written, not added, to grads [n_params], padding 0. */
void REAL(nn_backward)(struct REAL(nn_work) * work, const real *params, const struct nn_terms *terms,
                       real *grads);

/* What nn_loss() computed, for oracles: heads [rows][outputs], values, logp [rows]; NULL where not wanted. */
void REAL(nn_results)(const struct REAL(nn_work) * work, real *ret_heads, real *ret_values, real *ret_logp);

#endif
