/* Averages of averages: up to three exponential averages, each of the one before; and changes in per cent. */
#ifndef INDICATORS_GPU_FAST_CHAIN_H
#define INDICATORS_GPU_FAST_CHAIN_H

#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/recurrence.h"
#include "indicators_gpu/step/recurrence.h"

struct chain {
    struct average average[3];
    real before; /* the third's last value, for TRIX */
};

static inline size_t chain_bytes(const double options[])
{
    (void)options;
    return sizeof(struct chain);
}

static inline void chain_start(void *state, const double options[])
{
    struct chain *s = state;
    size_t period = (size_t)options[0];
    for (size_t i = 0; i < 3; i++)
        average_start(&s->average[i], ema_factor(options[0]), i * (period - 1), period);
}

/* Into work[0] to work[n - 1]; work[n] is for the seeds. */
static inline void chain_averages(struct chain *s, const struct fast_block *block, size_t n)
{
    const real *x = block->in[FAST_CLOSE];
    for (size_t i = 0; i < n; i++) {
        average_run(&s->average[i], x, block->begin, block->count, block->work[i], block->work[n]);
        x = block->work[i];
    }
}

/* In per cent of `before`; 0 where that is 0. */
static inline vec change_of(vec x, vec before)
{
#if FAST_F32
    vec change = vec_all(100) * ((x - before) / before);
#else
    vec change = vec_all(100) * (x / before - vec_all(1)); /* as the reference rounds it */
#endif
    return vec_select(vec_eq(before, vec_all(0)), vec_all(0), change);
}

#endif
