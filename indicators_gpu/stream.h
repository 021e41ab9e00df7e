/* Streaming indicators: one bar in, the outputs of that bar out, with the bits that indicator_reference()
 * gives for the same history. A stream is an owner's own: no locks, no globals. */
#ifndef INDICATORS_GPU_STREAM_H
#define INDICATORS_GPU_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "indicators_gpu/registry.h"

struct indicator_stream;

/* One bar; only the columns that the row reads are looked at. */
struct indicator_bar {
    double open, high, low, close, volume;
};

/* Opens a stream that has seen no bar. Returns 0 and a stream for indicator_stream_close(), -EINVAL when an
 * option is out of its range, or -ENOMEM. */
int indicator_stream_open(const struct indicator_spec *spec, struct indicator_stream **ret);

/* Takes a closed bar. True once outputs exist: out[k] is then written for each output of the row; on false
 * nothing is. A bar with a NaN before the first complete bar is skipped, as the reference skips leading NaNs.
 * Any later bar that is not finite is refused: the stream stays as it was, false, and
 * indicator_stream_refused() counts it. */
bool indicator_stream_update(struct indicator_stream *s, const struct indicator_bar *bar,
                             double out[INDICATOR_OUTPUTS_MAX]);

/* What update() would give for the forming bar; the stream stays as it is. */
bool indicator_stream_peek(const struct indicator_stream *s, const struct indicator_bar *bar,
                           double out[INDICATOR_OUTPUTS_MAX]);

/* A copy that goes its own way from here. Returns 0 and a stream to close, or -ENOMEM. */
int indicator_stream_clone(const struct indicator_stream *s, struct indicator_stream **ret);

/* Takes a stream's memory apart, or puts it together: number() and count() are shown each field in an order
 * that never changes, and read it or set it. */
struct indicator_stream_fields {
    void *ctx;
    void (*number)(void *ctx, double *value);
    void (*count)(void *ctx, uint64_t *value, uint64_t most); /* leaves at most `most` in it */
};

/* Shows every field. What was read from one stream and set in another, just opened with the same
 * specification, makes of that a clone. */
void indicator_stream_visit(struct indicator_stream *s, const struct indicator_stream_fields *fields);

/* NULL is fine. */
void indicator_stream_close(struct indicator_stream *s);

/* Bars taken, skipped and refused ones not counted. */
uint64_t indicator_stream_bars(const struct indicator_stream *s);

/* Bars refused because a value was not finite: 0 in a sound feed. */
uint64_t indicator_stream_refused(const struct indicator_stream *s);

/* The specification that it was opened with; valid as long as the stream. */
const struct indicator_spec *indicator_stream_spec(const struct indicator_stream *s);

#endif
