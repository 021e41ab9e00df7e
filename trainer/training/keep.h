/* A training's files: checkpoints to continue from, and the policy. */
#ifndef TRAINER_TRAINING_KEEP_H
#define TRAINER_TRAINING_KEEP_H

#include "strategy/metrics/verdict.h"
#include "strategy/policy/trained.h"
#include "trainer/checkpoint.h"
#include "trainer/training/source.h"

enum { KEEP_ERROR_MAX = 1024 };

/* The pieces of a checkpoint that are the program's, beside the learner's: "config", train_config_text();
 * "backend", the learner's; "n_copies", int32: it may have fewer than the configuration, where a device had
 * no memory for all of them. */

/* Writes OUTPUT/NAME-STEPS.ckpt, with the `n_more` pieces of `more`, and keeps config->checkpoint_keep of
 * them. As checkpoint_keep(). */
int training_keep_checkpoint(const struct train_config *config, const char *output, struct learner *learner,
                             int64_t steps, const struct checkpoint_piece *more, size_t n_more,
                             char err[static KEEP_ERROR_MAX]);

/* May `config` continue its run? `changed` as train_config_continues(). 0; -EINVAL: it has no configuration,
 * or another one: the key with both values. */
int training_keep_check(const struct checkpoint *checkpoint, const struct train_config *config,
                        void (*changed)(void *ctx, const char *words), void *ctx,
                        char err[static KEEP_ERROR_MAX]);
/* The copies of its learner; only a learner of so many can continue: of a checkpoint that
 * training_keep_check() took. */
int training_keep_copies(const struct checkpoint *checkpoint, const struct train_config *config);
/* Restores the learner from it. *ret_steps: done so far; ret_backend: what it ran on, "" where unknown. */
int training_keep_restore(const struct checkpoint *checkpoint, struct learner *learner, int64_t *ret_steps,
                          char ret_backend[static CHECKPOINT_NAME_MAX], char err[static KEEP_ERROR_MAX]);

/* A policy that can act and be written. */
struct kept_policy {
    struct net_layout layout;
    float *params, *mean, *scale;
    float clip;
    struct net_model *model;
};
/* The learner's current one; and one of these parameters, [layout->n_params], means and scales,
 * [observation], which are copied. 0, for training_kept_policy_drop(); -ENOMEM, errors of a device. */
int training_kept_policy_take(struct learner *learner, struct kept_policy *ret,
                              char err[static KEEP_ERROR_MAX]);
int training_kept_policy_make(const struct net_layout *layout, const float *params, const float *mean,
                              const float *scale, float clip, struct kept_policy *ret,
                              char err[static KEEP_ERROR_MAX]);
void training_kept_policy_drop(struct kept_policy *policy); /* fine on a zeroed one */

/* Writes it to `path`, with all that it was trained for, and its verdict (NULL: it was not evaluated). */
int training_kept_policy_write(const struct kept_policy *policy, const struct training_source *source,
                               int64_t steps, const struct verdict *verdict, const char *path,
                               char err[static KEEP_ERROR_MAX]);

#endif
