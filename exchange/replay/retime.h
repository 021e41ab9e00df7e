/* Binance's messages in another unit of time: as the venue sends them on connections with
 * timeUnit=MICROSECOND. */
#ifndef EXCHANGE_REPLAY_RETIME_H
#define EXCHANGE_REPLAY_RETIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/text.h"

/* A time of a message: in milliseconds or, from 10^14 on, in microseconds. False outside of int64's
 * nanoseconds, and before 1970. */
bool replay_retime_ns(int64_t value, int64_t *ret_ns);

/* Writes a message with its times in `unit` (STREAM_MS, STREAM_US): E, T, O and C of the message, t and T
 * of its kline; the last moment of a kline stays the last of its unit. All else stays unchanged. False when
 * nothing changes, or the text is not such a message: then `out` is not to be used. */
bool replay_retime(struct text *out, int unit, const char *data, size_t len);

#endif
