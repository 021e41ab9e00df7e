/* The streams of every series: one indicator_stream for each of its specifications.
 *
 * A series is one symbol's bars of one timeframe; it is named by a number. Not for two threads at once. */
#ifndef DAEMON_STREAMS_H
#define DAEMON_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "indicators_gpu/indicators.h"

struct streams;

/* Streams that have seen no bar. 0, or -ENOMEM. `specs` are copied. */
int streams_create(const struct indicator_spec *specs, size_t n_specs, size_t n_series, struct streams **ret);
void streams_destroy(struct streams *streams); /* NULL is fine */

/* Values of one series: the specs' outputs one after the other. */
size_t streams_outputs(const struct streams *streams);

/* Takes n closed bars, each of another series; out[i * outputs] and what follows are the values of series[i],
 * NaN before the first. */
void streams_update(struct streams *streams, size_t n, const uint32_t series[],
                    const struct indicator_bar bars[], double out[]);

/* The values that a bar which has not closed yet would give; the streams stay as they are. */
void streams_peek(struct streams *streams, uint32_t series, const struct indicator_bar *bar, double out[]);

/* The memory of a series as bytes, in an array for the caller to free: another process that loads them goes
 * on with the same bits. 0 or -ENOMEM. */
int streams_save(struct streams *streams, uint32_t series, void **ret, size_t *ret_size);

/* Puts it back into a series with the same specifications. 0, or -EINVAL for bytes that are none of it: the
 * series then has seen no bar. */
int streams_load(struct streams *streams, uint32_t series, const void *bytes, size_t size);

#endif
