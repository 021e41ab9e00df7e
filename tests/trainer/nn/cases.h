/* One network, one batch and one loss, drawn at random in float64, and what trainer/nn makes of it in either
 * precision. */
#ifndef TESTS_TRAINER_NN_CASES_H
#define TESTS_TRAINER_NN_CASES_H

#include <stdint.h>

#include "strategy/policy/net.h"

struct nn_case {
    const char *name;
    struct net_shape shape;
    int rows, steps; /* steps: of a sequence */
    bool large;      /* no differences */
    bool has_starts, has_hidden;
    double clip_range, clip_range_vf, vf_coef, ent_coef, entropy_bound, value_bound;

    /* drawn */
    struct net_layout layout;
    double *params, *obs, *hidden, *actions, *old_logp, *old_values, *advantages, *returns;
    uint8_t *starts;
};

struct nn_outcome {
    double policy, value, entropy, loss, kl, old_kl, clipped;
    double *heads, *values, *logp, *grads; /* the caller's; grads may be NULL: no backward */
};

void case_draw(struct nn_case *c, uint64_t seed);
void case_free(struct nn_case *c);
void outcome_alloc(struct nn_outcome *outcome, const struct nn_case *c);
void outcome_free(struct nn_outcome *outcome);

/* Of rows [0, rows). `shards`: as many parts of sequences, whose sums and gradients are added. kernels: a
 * name, or NULL for the best; false: this processor has none such. */
bool pass_f64(const struct nn_case *c, const double *params, const char *kernels, int shards,
              struct nn_outcome *ret);
bool pass_f32(const struct nn_case *c, const double *params, const char *kernels, int shards,
              struct nn_outcome *ret);

/* nn_forward() in chunks of sequences, whose recurrent state is kept between them. ret_hidden: [copies]. */
void forward_f64(const struct nn_case *c, double *ret_heads, double *ret_values, double *ret_hidden);
void forward_f32(const struct nn_case *c, double *ret_heads, double *ret_values, double *ret_hidden);

extern struct nn_case nn_cases[];
extern const int nn_n_cases;

#endif
