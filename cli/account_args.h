/* What a command line asks of the paper accounts, as the control socket's arguments (docs/control.md). */
#ifndef CLI_ACCOUNT_ARGS_H
#define CLI_ACCOUNT_ARGS_H

#include <jansson.h>
#include <stdbool.h>

#include "strategy/risk_keys.h"
#include "strategy/strategy.h"

/* The options as they were given; NULL or false where they were not. */
struct account_wish {
    const char *state, *key;
    const char *currency, *cash, *strategy;
    const char *params[STRATEGY_PARAMS_MAX]; /* "fast=10", as --set gives them */
    int n_params;
    const char *fees, *fee_maker, *fee_taker;
    bool shorts;
    const char *collateral, *maintenance, *borrow_rate;
    const char *risk[RISK_KEYS_N]; /* as risk_keys */
};

/* The line `account VERB WORDS…` as the command `*ret_cmd` and its arguments, the caller's; NULL when it
 * contradicts itself: *ret_words says what would be right. */
json_t *account_args(const char *verb, char **words, int n, const struct account_wish *wish,
                     const char **ret_cmd, const char **ret_words);

#endif
