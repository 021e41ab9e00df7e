/* Samplers: the values of the next trial, from the trials so far. Pure arithmetic over a struct study and a
 * seed: no database, no clock. TPE is Optuna 5.0.0's (trainer/study/tpe/ describes it exactly); random; grid;
 * the adaptive Metropolis chain of trainer/study/metropolis.h. */
#ifndef TRAINER_STUDY_SAMPLER_H
#define TRAINER_STUDY_SAMPLER_H

#include "trainer/study/space.h"

enum sampler_kind { SAMPLER_TPE, SAMPLER_RANDOM, SAMPLER_GRID, SAMPLER_METROPOLIS, SAMPLERS };
const char *sampler_name(enum sampler_kind kind); /* "tpe", "random", "grid", "mcmc" */
bool sampler_parse(const char *name, enum sampler_kind *ret);

struct tpe_options {                              /* Optuna's names and defaults */
    int n_startup_trials;                         /* 10 */
    int n_ei_candidates;                          /* 24 */
    double prior_weight;                          /* 1 */
    bool consider_magic_clip, consider_endpoints; /* true, false */
    bool multivariate;                            /* of one objective; true */
    bool group;                                   /* false */
    bool constant_liar;                           /* true */
    double gamma_share;                           /* 0.1: below are min(ceil(share * n), gamma_most) */
    int gamma_most;                               /* 25 */
};
struct metropolis_options {
    double target_acceptance;    /* 0.23 */
    int burn_in;                 /* random trials first; 5 */
    double temperature, cooling; /* temperature * cooling^n, in the objective's unit; 1, 0.98 */
};
struct sampler_options {
    enum sampler_kind kind;
    uint64_t seed;
    struct tpe_options tpe;
    struct metropolis_options metropolis;
    int grid_points; /* of a float without a step; 5 */
};
struct sampler_options sampler_defaults(void);

struct sampler;
int sampler_create(const struct sampler_options *options, struct sampler **ret); /* 0 or -ENOMEM */
void sampler_destroy(struct sampler *sampler);

/* The values of `space` for trial `number`, internal, into ret_values [space->n]. The caller handles `fixed`
 * values of an enqueued trial. Draws by Philox with key seed and counter number, so that two workers draw
 * different values, and a repeated call for a trial the same. `relative` (NULL: not wanted) becomes the
 * pieces of the system attributes tpe:relative_params:K that other workers, Optuna's too, read of a RUNNING
 * trial, an array of strings, a new reference: store each as JSON text, with its quotes, before the values;
 * NULL where it drew independently. -ENODATA: a grid whose points were all tried; -ERANGE: one of more points
 * than can be counted; -EINVAL: a Metropolis chain of several objectives; -ENOMEM. On failure ret_relative is
 * untouched. */
int sampler_sample(struct sampler *sampler, const struct study *study, int number, const struct space *space,
                   double *ret_values, json_t **ret_relative);

#endif
