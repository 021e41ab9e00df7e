/* Indicators and marks a few thousand rows at a time, so that they stay in the caches and no column of a
 * whole history is ever written: for strategies that scan, of indicators that can be computed in parts
 * (indicators_gpu/exact/exact.h). Threads work on the next rows while the account lives through these. */
#ifndef ENGINE_BACKTEST_CHUNKS_H
#define ENGINE_BACKTEST_CHUNKS_H

#include "engine/backtest/columns.h"
#include "engine/backtest/sim.h"

struct chunks;

bool backtest_chunks_serve(const struct strategy *strategy, const struct runner_spec *specs, size_t n_specs);

/* Over `bars` of each symbol, [n_symbols], with their rows where some are missing; all are the caller's for
 * as long. Rows [0, to). 0 or -ENOMEM. */
int backtest_chunks_open(const struct backtest_config *config, const struct account_spec *spec,
                         const struct runner_spec *specs, size_t n_specs, const struct columns_bars *bars,
                         uint32_t *const *rows, int threads, struct chunks **ret);
/* The next rows: gives every symbol's bars of them to the account, which may look at them until the next
 * call. Returns the row that they end before; 0: there are no more. */
size_t backtest_chunks_next(struct chunks *chunks, struct sim *sim);
/* Seconds that the caller's thread spent on indicators and on marks, or waited for them. */
void backtest_chunks_seconds(const struct chunks *chunks, double *ret_indicators, double *ret_signals);
void backtest_chunks_close(struct chunks *chunks); /* NULL is fine */

#endif
