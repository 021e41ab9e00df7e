/* What becomes of symbols while they are played: the changes that --fault status@, filters@ and delist@ ask
 * for, at their market time. A made market stands still while its status is not TRADING; of a recording the
 * trades, quotes and differences of that time are left out. */
#ifndef EXCHANGE_REPLAY_BINANCE_CHANGES_H
#define EXCHANGE_REPLAY_BINANCE_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/replay/fault.h"
#include "exchange/replay/tape.h"

/* Applies what is due `played_ns` of market time after the start of play; what was applied already is not
 * applied again. */
void replay_changes_apply(struct tape *tape, const struct faults *faults, int64_t played_ns);

/* Is a stream of that kind silent for now? */
bool replay_changes_silence(const struct tape_symbol *symbol, enum stream_kind kind);

#endif
