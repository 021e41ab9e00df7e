/* A strategy's parameter in JSON: a number, or its word. */
#ifndef STRATEGY_PARAM_JSON_H
#define STRATEGY_PARAM_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "strategy/params.h"

struct strategy;
struct strategy_param;

/* A new reference, or NULL: out of memory. */
json_t *strategy_param_json(const struct strategy_param *param, double value);

/* Reads that of one parameter. False: it is not such a value. */
bool strategy_param_from_json(const struct strategy *strategy, size_t param, const json_t *value,
                              double params[static STRATEGY_PARAMS_MAX]);

#endif
