/* A synthetic market without end: BTCUSDT around 60000 and ETHUSDT around 3000.
 *
 * A fair price walks at random in short regimes of trend and volatility and is drawn back to where it began
 * (within a few percent, over hours). Takers buy what is offered below it and sell to bids above it; makers
 * close the spread around it and come and go deeper in the book. All arithmetic is on integers: the same seed
 * and start give the same bytes on every machine. Before the start lies history: over REST 1500 klines and
 * more of every interval up to a day, ending at the opening price. */
#ifndef EXCHANGE_REPLAY_SYNTHETIC_H
#define EXCHANGE_REPLAY_SYNTHETIC_H

#include <stdint.h>

#include "exchange/replay/source.h"

/* Starts at start_ns, cut to a whole second, and ends before end_ns (INT64_MAX: never). Adds its symbols to
 * the tape. 0, -ENOMEM, or the tape's error.
 */
int synthetic_create(struct tape *tape, uint64_t seed, int64_t start_ns, int64_t end_ns, struct source **ret);

#endif
