/* `eval --set KEY=VALUE`: a policy's environment under other costs and rules than those that it was trained
 * with. */
#ifndef TRAINER_COMMAND_EVAL_SET_H
#define TRAINER_COMMAND_EVAL_SET_H

#include "trainer/command/eval_market.h"

/* Sets one: a key of the environment that no observation depends on, or fee_taker, of purchases and sales, or
 * slippage. 0; -EINVAL with a sentence, and params as they were: no KEY=VALUE, an unknown key, one that an
 * observation depends on, a value out of its range. */
int trainer_eval_set(struct env_params *params, const char *text, char err[static EVAL_ERROR_MAX]);

#endif
