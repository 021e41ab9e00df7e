/* The results of a policy's episodes, as JSON. */
#ifndef TRAINER_COMMAND_EVAL_RESULT_H
#define TRAINER_COMMAND_EVAL_RESULT_H

#include <jansson.h>

#include "trainer/command/eval_episode.h"
#include "trainer/study/split.h"

/* Several episodes one after the other: returns of their steps, sums of the rest. */
struct eval_result {
    double *returns, *benchmark; /* [n] a step's; owned. An episode's first one of the benchmark has its rows
                                  * since row 0, where it is bought, and the fee of that, too */
    size_t n, cap, episodes, ruined;
    double start, final, level; /* capital and last equity of the only episode, else NaN; sum of equities */
    double fees, turnover, invested;
    size_t exposed;
    size_t buys, sells, open_trades;
    struct metrics_trades trades;
};

/* Adds an episode. 0 or -ENOMEM. */
int trainer_eval_result_add(struct eval_result *result, const struct training_episode *episode);
/* `row_ns`: market_row_ns() of the bars. NULL without memory. */
json_t *trainer_eval_result_json(const struct eval_result *result, int64_t row_ns);
void trainer_eval_result_finish(struct eval_result *result);

/* Plays market rows [from, to) by every combination of the split, and each group for itself: an object. NULL
 * with err. */
json_t *trainer_eval_split_json(struct eval_market *market, const struct study_split *split, size_t from,
                                size_t to, char err[static EVAL_ERROR_MAX]);

#endif
