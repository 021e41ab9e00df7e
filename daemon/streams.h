/* The streams of every series: one indicator_stream for each of its specifications, on the CPU or on a
 * device, with the same bits.
 *
 * A series is one symbol's bars of one timeframe; it is named by a number. While a device has the streams,
 * the host keeps an older copy of them and the bars since: when the device fails, at any call, the CPU
 * computes these bars again within that call, and nothing is lost. Not for two threads at once. */
#ifndef DAEMON_STREAMS_H
#define DAEMON_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/module.h"

struct streams;

/* Streams that have seen no bar. 0, or -ENOMEM. `specs` are copied. */
int daemon_streams_create(const struct indicator_spec *specs, size_t n_specs, size_t n_series,
                          struct streams **ret);
/* More series, that have seen no bar, behind those that are there: n_series of them in all. Streams that a
 * device has are brought back first. 0, or -ENOMEM: as before. */
int daemon_streams_grow(struct streams *streams, size_t n_series);
void daemon_streams_destroy(struct streams *streams); /* NULL is fine */

/* Values of one series: the specs' outputs one after the other. */
size_t daemon_streams_outputs(const struct streams *streams);

/* Moves the streams to the device, whose module must outlive them there. 0, or -errno with a sentence: they
 * are still on the CPU. */
int daemon_streams_to_device(struct streams *streams, struct gpu_module *module, char *reason, size_t cap);

/* Moves them back, at once. False when the device failed: they are on the CPU all the same, computed from
 * the bars that were kept. */
bool daemon_streams_to_host(struct streams *streams);

bool daemon_streams_are_on_device(const struct streams *streams);

/* Why the device was left since daemon_streams_to_device(), "" when it was not. */
const char *daemon_streams_failure(const struct streams *streams);

/* Takes n closed bars, each of another series; out[i * outputs] and what follows are the values of series[i],
 * NaN before the first. */
void daemon_streams_update(struct streams *streams, size_t n, const uint32_t series[],
                           const struct indicator_bar bars[], double out[]);

/* The values that bars which have not closed yet would give; the streams stay as they are. */
void daemon_streams_peek(struct streams *streams, size_t n, const uint32_t series[],
                         const struct indicator_bar bars[], double out[]);

/* The memory of a series as bytes, in an array for the caller to free: another process that loads them
 * continues with the same bits. 0 or -ENOMEM. */
int daemon_streams_save(struct streams *streams, uint32_t series, void **ret, size_t *ret_size);

/* Restores it into a series with the same specifications, on the CPU. 0, or -EINVAL for malformed bytes:
 * the series then has seen no bar. */
int daemon_streams_load(struct streams *streams, uint32_t series, const void *bytes, size_t size);

#endif
