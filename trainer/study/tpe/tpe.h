/* The tree-structured Parzen estimator (Bergstra et al., "Algorithms for Hyper-Parameter Optimization", NIPS
 * 2011) as Optuna 5.0.0's TPESampler has it: two mixtures, one of the good trials and one of the others, and
 * of n_ei_candidates points drawn from the first the one where it is largest over the second. Of one
 * objective one point is drawn for all parameters that all COMPLETE and PRUNED trials have in common; the
 * rest, and of several objectives all, one by one. At random until there are n_startup_trials. */
#ifndef TRAINER_STUDY_TPE_TPE_H
#define TRAINER_STUDY_TPE_TPE_H

#include "trainer/study/draw.h"
#include "trainer/study/sampler.h"
#include "trainer/study/space.h"
#include "trainer/study/tpe/history.h"

struct tpe; /* what it keeps of a study between calls */

struct tpe *tpe_create(void); /* NULL without memory */
void tpe_destroy(struct tpe *tpe);

/* As sampler_sample(). */
int tpe_sample(struct tpe *tpe, const struct tpe_options *options, const struct study *study, int number,
               const struct space *space, struct draw *draw, double *ret_values, json_t **ret_relative);

/* The logarithms of the two densities over `space` (more than one parameter: jointly) at `n` points
 * [n][space->n] of internal values, for trial `number` (-1: for none of the study's); the acquisition is
 * their difference. 0 or -ENOMEM. */
int tpe_log_densities(struct tpe *tpe, const struct tpe_options *options, const struct study *study,
                      int number, const struct space *space, const double *points, int n, double *ret_below,
                      double *ret_above);

/* The spaces that joint draws are made of: with `group` sets of parameters that occur in the same trials,
 * else one, the intersection. An array of *ret_n for free() after space_finish() of each. */
int tpe_joint_spaces(struct tpe *tpe, const struct tpe_options *options, const struct study *study,
                     struct space **ret, int *ret_n);

/* Which parameters are drawn together. Parameters of a single value are left out, and spaces without any. */

/* One space: what all COMPLETE and PRUNED trials have with an identical distribution. For space_finish() of
 * each and free(). */
int tpe_intersection(const struct tpe_history *history, struct space **ret, int *ret_n);

/* Optuna's group-decomposed space: two parameters are in one group where they occur in the same COMPLETE and
 * PRUNED trials; each with the distribution that it had first. */
int tpe_groups(const struct study *study, struct space **ret, int *ret_n);

#endif
