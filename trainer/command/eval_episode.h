/* One episode of a policy or an ensemble on the rows that it is evaluated on. */
#ifndef TRAINER_COMMAND_EVAL_EPISODE_H
#define TRAINER_COMMAND_EVAL_EPISODE_H

#include "trainer/command/eval_market.h"
#include "trainer/training/episode.h"

/* Plays rows [from, to) of market->env_market, which trainer_eval_market_open()'s `first` and the lookback
 * allow: 2 * lookback + 1 of them at least. 0, for training_episode_finish(); -EINVAL (err), -ENOMEM. */
int trainer_eval_episode_play(struct eval_market *market, size_t from, size_t to,
                              const struct training_calls *calls, struct training_episode *ret,
                              char err[static EVAL_ERROR_MAX]);

#endif
