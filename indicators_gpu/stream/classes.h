/* What a row gives to the streams: a state of fixed size without pointers, so that a clone is a copy of its
 * bytes. */
#ifndef INDICATORS_GPU_STREAM_CLASSES_H
#define INDICATORS_GPU_STREAM_CLASSES_H

#include "indicators_gpu/stream.h"

struct indicator_stream_class {
    size_t (*bytes)(const double options[]);            /* of the state, which is aligned for any type */
    void (*start)(void *state, const double options[]); /* the state after no bar */
    /* A finite bar in; true and the outputs once they exist. peek() gives the same and keeps the state. */
    bool (*update)(void *state, const struct indicator_bar *bar, double out[]);
    bool (*peek)(const void *state, const struct indicator_bar *bar, double out[]);
    /* What the state holds beside what start() derives from the options. Any value that the visitor may set
     * leaves it safe to go on with. */
    void (*visit)(void *state, const struct indicator_stream_fields *fields);
};

/* A counter of 32 bits, up to `most`. */
static inline void stream_visit_u32(const struct indicator_stream_fields *fields, uint32_t *value,
                                    uint64_t most)
{
    uint64_t wide = *value;
    fields->count(fields->ctx, &wide, most);
    *value = (uint32_t)wide;
}

extern const struct indicator_stream_class stream_sma, stream_ema;  /* moving_averages.c */
extern const struct indicator_stream_class stream_rsi, stream_macd; /* momentum.c */
extern const struct indicator_stream_class stream_atr;              /* volatility.c */

#endif
