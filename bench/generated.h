/* The market that the environment and the trainer are timed on. */
#ifndef BENCH_GENERATED_H
#define BENCH_GENERATED_H

#include "trainer/env/market.h"

enum { GENERATED_ASSETS = 5, GENERATED_ROWS = 100000 };

/* Five assets A to E over 100,000 bars of five minutes; prices with two decimals that move a fifth of a
 * percent a bar, at most. n_features even numbers in [0, 1) are seen of each bar; 0: closes and volumes. As
 * env_market_create(). */
int generated_market(const struct env_params *params, int n_features, uint64_t *seed, struct env_market **ret,
                     char err[static ENV_ERROR_MAX]);

#endif
