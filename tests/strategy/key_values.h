/* A strategy's parameters from the words of a command line. */
#ifndef TESTS_STRATEGY_KEY_VALUES_H
#define TESTS_STRATEGY_KEY_VALUES_H

#include <string.h>

#include "record/config_key.h"
#include "strategy/strategy.h"

/* The defaults, and over them n words KEY=VALUE, which are cut at their "=". NULL, or what is wrong; `why` is
 * where that may be written. */
static inline const char *key_values_read(const struct strategy *strategy, char **words, int n,
                                          double params[static STRATEGY_PARAMS_MAX],
                                          char why[static CONFIG_WHY_MAX])
{
    strategy_defaults(strategy, params);
    for (int i = 0; i < n; i++) {
        char *equals = strchr(words[i], '=');
        if (!equals)
            return "KEY=VALUE is needed";
        *equals = '\0';
        if (strategy_set(strategy, params, words[i], equals + 1, why) < 0)
            return why;
    }
    return strategy->check ? strategy->check(params) : NULL;
}

#endif
