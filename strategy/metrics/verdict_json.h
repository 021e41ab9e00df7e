/* A verdict as programs print it. */
#ifndef STRATEGY_METRICS_VERDICT_JSON_H
#define STRATEGY_METRICS_VERDICT_JSON_H

#include <jansson.h>

#include "strategy/metrics/verdict.h"

/* Sets in the object `verdict`, the word, `verdict_text`, the sentence, and `verdict_figures`: steps,
 * return_pct, benchmark_return_pct, excess_points, excess_low_points, excess_high_points, confidence, p,
 * random_policies, block_steps, gain (before fees), fees, buys, sells, seeds, seeds_above (null but of
 * several seeds). All three are null of VERDICT_NONE, and of NULL. False without memory. */
bool metrics_verdict_json(const struct verdict *verdict, json_t *object);

#endif
