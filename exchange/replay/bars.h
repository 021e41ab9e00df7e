/* Bars files played as a market: each bar becomes seeded trades that open, reach high and low, and close as
 * the bar does and add up to its volume to the last unit, taken from a book whose quotes and differences
 * agree with them. What trades make of it, klines included, is then the bar of the file.
 *
 * A bar without volume has no trades, so its kline is flat at the close before, the file's first at its own.
 * A gap in the file stays a gap: no klines are made there. */
#ifndef EXCHANGE_REPLAY_BARS_H
#define EXCHANGE_REPLAY_BARS_H

#include <stdint.h>

#include "exchange/replay/source.h"

/* Reads the files and adds their symbols to the tape. `interval` (as in candles.h) overrides the files'
 * own; -1: theirs. Bars that open before from_ns are history: traded at once, not streamed. Those from
 * to_ns on are left out. 0, or a negative errno with a message "what: where: what would be right"; the
 * caller reports gaps on stderr: see bars_gaps(). */
int bars_create(struct tape *tape, const char *const *paths, size_t n_paths, int interval, int64_t from_ns,
                int64_t to_ns, struct replay_source **ret, char error[static SOURCE_ERROR_MAX]);

/* How many gaps the files have, and how many bars are missing in them. */
void bars_gaps(const struct replay_source *source, size_t *ret_gaps, int64_t *ret_missing);

#endif
