/* One thread's memory for the networks: the forward pass' results that backward needs. Internal to
 * trainer/nn. */
#ifndef TRAINER_NN_WORK_H
#define TRAINER_NN_WORK_H

#include "trainer/nn/kernels.h"
#include "trainer/nn/train.h"

/* A hidden layer's arrays, [rows][stride]. Without `train` layers use two of them in turn. */
struct nn_layer_work {
    size_t stride;
    real *y;        /* the result */
    real *pre;      /* the activation's argument: SiLU's only; else NULL */
    real *centered; /* layer normalisation: (x - mean) / deviation; y itself without `train` */
    real *inverse;  /* [rows] 1 / deviation */
};

struct nn_chain_work {
    struct nn_layer_work hidden[NET_LAYERS_MAX];
    size_t gates_stride, state_stride;
    real *gates; /* [rows][2R]: z, c */
    real *state; /* [rows][R]: h */
    size_t head_stride;
    real *head;       /* [rows][outputs] */
    size_t hidden_at; /* where its recurrent state begins in a copy's */
};

struct REAL(nn_work) {
    const struct net_layout *layout;
    const struct REAL(nn_kernels) * kernels;
    void *memory;
    size_t capacity;
    bool train;
    struct nn_chain_work chains[3];
    real *delta[2];                /* [rows][the widest layer's outputs] */
    real *logp;                    /* [rows] */
    real *pull_logp, *pull_values; /* [rows] d a row's term / d logp, d value */
    real *head_delta;              /* [rows][outputs]: by the heads */
    real *carry;                   /* [R] */
    real *scratch;
    /* of the last nn_loss() */
    struct REAL(nn_rows) rows;
    struct REAL(nn_sample) sample;
};

/* As nn_work_create(), with these kernels. */
int REAL(nn_work_create_with)(const struct net_layout *layout, size_t rows, bool train,
                              const struct REAL(nn_kernels) * kernels, struct REAL(nn_work) * *ret);

/* Hidden layers and the recurrent one: their last result and its stride (of `x` where there is none).
 * ret_hidden: as nn_forward()'s; NULL. */
const real *REAL(nn_body)(struct REAL(nn_work) * work, const real *params, enum net_part part,
                          const struct REAL(nn_rows) * rows, real *ret_hidden, size_t *ret_stride);

/* The head over a body's result. */
void REAL(nn_head)(struct REAL(nn_work) * work, const real *params, enum net_part part, size_t rows,
                   const real *x, size_t x_stride);

/* Both networks; keeps what backward needs. */
void REAL(nn_networks)(struct REAL(nn_work) * work, const real *params, const struct REAL(nn_rows) * rows);

/* minGRU's scan over sequences (trainer/nn/train.h). `gates` holds the linear part's results, and z and c
 * afterwards. hidden and ret_hidden: the copies' state, `hidden_stride` apart, NULL as in nn_forward(). */
struct REAL(nn_scan) {
    size_t rows, steps;
    int units;
    real *gates, *state;
    size_t gates_stride, state_stride;
    const uint8_t *starts;
    const real *hidden;
    real *ret_hidden;
    size_t hidden_stride;
    real *carry; /* [R] scratch of backward */
};
void REAL(nn_scan_forward)(const struct REAL(nn_scan) * scan);
/* delta [rows][R] by h (state_stride) gives dgates [rows][2R] (gates_stride) by the linear part's results. */
void REAL(nn_scan_backward)(const struct REAL(nn_scan) * scan, const real *delta, real *dgates);

/* The head's results without padding: [rows][outputs]. */
void REAL(nn_copy_head)(const struct REAL(nn_work) * work, enum net_part part, size_t rows, real *ret);

/* nn_logp() of heads that are `stride` apart; ret_entropy may be NULL. */
void REAL(nn_logp_rows)(const struct net_layout *layout, const real *params, const real *heads, size_t stride,
                        const real *actions, size_t rows, real *ret_logp, real *ret_entropy);

/* delta [rows][stride], padding 0: the gradient by the policy's heads of sum(pull_logp logp) pull_policy -
 * pull_entropy sum(entropy); dlog_std: by log_std, [actions], NULL when discrete. */
void REAL(nn_policy_delta)(const struct REAL(nn_work) * work, const real *params,
                           const struct nn_terms *terms, real *delta, real *dlog_std);

#endif
