/* Evaluates a policy without drawing: over the rows of testing, or episodes of a built-in world. */
#ifndef TRAINER_TRAINING_EVALUATE_H
#define TRAINER_TRAINING_EVALUATE_H

#include "strategy/metrics/verdict.h"
#include "strategy/policy/trained.h"
#include "trainer/training/episode.h"

struct evaluation {
    double reward; /* an episode's sum; of several their mean */
    int64_t steps; /* of all episodes */

    /* A world that is built in. */
    int64_t episodes;
    double reward_std, reward_min, reward_max, length;

    /* A market: one episode over all of its rows, ranges at their middles. Currency; shares of 1. */
    int64_t from_ns, to_ns; /* the first bar that is decided on, and the last that is seen */
    double initial, equity, benchmark, fees, drawdown;
    double exposure; /* of its rows, those at whose close something was held (docs/metrics.md) */
    double invested; /* mean over them of the value of positions, long or short, as a share of equity */
    int64_t buys, sells;
    struct verdict verdict; /* VERDICT_NONE of a built-in world */
};

/* What is wanted of an evaluation of a market beyond its figures: the calls of each step, and the episode,
 * for training_episode_finish(). */
struct training_watch {
    const struct training_calls *calls;
    struct training_episode *episode;
};

/* The return, a share, and that of holding; NaN of a world that is built in, and where nothing was evaluated.
 */
double training_return(const struct evaluation *evaluation);
double training_benchmark_return(const struct evaluation *evaluation);

/* On a part that training_source_judges(); `watch` NULL: only figures are wanted. 0; -EINVAL: an action that
 * is not finite, -ENOMEM, with a sentence. */
int training_evaluate(const struct training_source *source, enum source_part part,
                      const struct net_layout *layout, const struct net_model *model,
                      const struct training_watch *watch, struct evaluation *ret,
                      char err[static SOURCE_ERROR_MAX]);

#endif
