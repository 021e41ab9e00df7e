/* A stream's whole memory, for a device that continues with it: step/'s bytes, and its two counts. */
#ifndef INDICATORS_GPU_STREAM_MEMORY_H
#define INDICATORS_GPU_STREAM_MEMORY_H

#include "indicators_gpu/indicators.h"

/* Copies step/'s memory out into `state`: as many bytes for every stream of a specification. */
void stream_memory_get(const struct indicator_stream *s, uint64_t *ret_bars, uint64_t *ret_refused,
                       void *state);

/* Restores it. The bytes come from stream_memory_get() or from step_next() on a device, of a stream with the
 * same specification: they are not checked. */
void stream_memory_set(struct indicator_stream *s, uint64_t bars, uint64_t refused, const void *state);

#endif
