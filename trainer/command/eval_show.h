/* Shows an ensemble's runtime the market of its environment: bar by bar, as an engine does. */
#ifndef TRAINER_COMMAND_EVAL_SHOW_H
#define TRAINER_COMMAND_EVAL_SHOW_H

#include "trainer/command/eval_market.h"

/* The row of market->env_market at which its members' features all have values; the last where they never
 * have. 0 or -ENOMEM. */
int trainer_eval_show_first(const struct eval_market *market, size_t *ret_row);

struct eval_show {
    const struct eval_market *market;
    struct policy_runtime *runtime;
    size_t next;  /* row of market->bars that was not shown yet */
    double *held; /* [n_assets] */
};

/* A runtime that has seen the bars before `from`, a row of market->env_market, as history, with its shadow
 * accounts. 0, for trainer_eval_show_close(); -ENOMEM. */
int trainer_eval_show_open(const struct eval_market *market, size_t from, struct eval_show *ret);
void trainer_eval_show_close(struct eval_show *show); /* fine on a zeroed one */

/* Its action at the close of the environment's row: [actions]. False: there is no finite action. */
bool trainer_eval_show_act(struct eval_show *show, float *ret);

#endif
