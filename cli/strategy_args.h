/* Strategies as a command line names them: "NAME", or "NAME:key=value,key=value", and more keys by --set. */
#ifndef CLI_STRATEGY_ARGS_H
#define CLI_STRATEGY_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "strategy/params.h"

struct strategy;

enum { STRATEGY_ARGS_MAX = 64 };

struct strategy_choice {
    const struct strategy *strategy;
    double params[STRATEGY_PARAMS_MAX];
    bool given[STRATEGY_PARAMS_MAX]; /* which of them the user set */
};

/* Reads NAME, or NAME:key=value,…. EXIT_OK, or EXIT_USAGE with one line on stderr that names what was wrong
 * and what would be right: the nearest name, the range. */
int cli_strategy_args_choose(const char *verb, const char *text, struct strategy_choice *ret);

/* Reads key=value (several, with commas) into a choice; a key that was set before is wrong. The same
 * statuses. */
int cli_strategy_args_set(const char *verb, const char *text, struct strategy_choice *choice);

/* Do the parameters contradict each other? The same statuses. */
int cli_strategy_args_check(const char *verb, const struct strategy_choice *choice);

/* "fast=20 slow=50": parameters that are not the default, with blanks between; "" when all are. */
void cli_strategy_args_text(const struct strategy *strategy, const double *params, char *buf, size_t size);

/* Prints every strategy with its parameters, or `only` that one, as text or as papertape.strategies/1. An
 * exit status. */
int cli_strategies_list(const struct strategy *only, bool json);

#endif
