/* Exponential averages of the close, and what is made of them. */
#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/recurrence.h"
#include "indicators_gpu/fast/set.h"
#include "indicators_gpu/step/recurrence.h"

struct ema {
    struct average average;
    real lead[FAST_CELLS] __attribute__((aligned(64)));
};

static size_t ema_bytes(const double options[])
{
    (void)options;
    return sizeof(struct ema);
}

static void ema_begin(void *state, const double options[])
{
    struct ema *s = state;
    average_start(&s->average, ema_factor(options[0]), 0, (size_t)options[0]);
}

static void ema_run(void *state, const struct fast_block *block)
{
    struct ema *s = state;
    average_run(&s->average, block->in[FAST_CLOSE], block->begin, block->count, block->out[0], s->lead);
}

const struct fast_kernel FAST(ema) = {ema_bytes, NULL, ema_begin, ema_run};
