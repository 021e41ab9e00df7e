/* What a configuration trains and tests on: the market's bars and features, or a built-in world. */
#ifndef TRAINER_TRAINING_SOURCE_H
#define TRAINER_TRAINING_SOURCE_H

#include "strategy/policy/policy.h"
#include "trainer/config.h"
#include "trainer/data.h"
#include "trainer/ppo/world.h"

enum { SOURCE_ERROR_MAX = TRAINER_DATA_ERROR_MAX };

/* Rows [from, to) of the market. */
struct source_rows {
    size_t from, to;
};

struct training_source {
    const struct train_config *config;   /* the caller's */
    struct market *market;               /* NULL: a world that is built in */
    struct source_rows train, test, fit; /* test.to 0: nothing is tested */
    double *least;                       /* [n_symbols] units, or NULL: 0 each */
    struct trainer_data *train_data, *test_data;
    struct env_market *train_market, *test_market;
};

/* Reads the bars and finds the rows. `config` must outlive it. 0, for training_source_close(); -EINVAL and
 * errors of opening with a sentence: a file that is missing or bad by its name, a range without bars by its
 * key and the bars' own. */
int training_source_load(const struct train_config *config, struct training_source *ret,
                         char err[static SOURCE_ERROR_MAX]);

/* Computes the features and makes the markets that environments are made of. */
int training_source_features(struct training_source *source, char err[static SOURCE_ERROR_MAX]);

/* A world of `copies`, in the rows of training; or for testing, of one episode each: in the rows of testing,
 * or with draws of its own. For ppo_world_destroy(), before training_source_close(). */
int training_source_world(const struct training_source *source, size_t copies, struct ppo_world *ret,
                          char err[static SOURCE_ERROR_MAX]);
int training_source_test_env(const struct training_source *source, struct env **ret,
                             char err[static SOURCE_ERROR_MAX]);
int training_source_test_world(const struct training_source *source, size_t copies, struct ppo_world *ret,
                               char err[static SOURCE_ERROR_MAX]);

/* Parameters by which a policy is tested: one episode over all rows, ranges at their middles. */
void training_source_test_params(struct env_params *params);

bool training_source_tests(const struct training_source *source); /* anything to be tested on? */

/* Of all that it holds, and of one market (NULL: 0), which a device holds too. */
size_t training_source_bytes(const struct training_source *source);
void training_source_close(struct training_source *source); /* fine on a zeroed one */

#endif
