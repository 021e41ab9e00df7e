/* The exact kernels of one instruction set. walks.c is compiled once for each (meson.build). */
#ifndef INDICATORS_GPU_EXACT_WALKS_H
#define INDICATORS_GPU_EXACT_WALKS_H

#include "indicators_gpu/exact/exact.h"

/* Bars before the first output are the caller's. At most `lanes` tasks; sma: one. */
struct exact_set {
    size_t lanes;
    void (*ema)(const struct exact_task *tasks, size_t n);
    void (*macd)(const struct exact_task *tasks, size_t n);
    void (*rsi)(const struct exact_task *tasks, size_t n);
    void (*atr)(const struct exact_task *tasks, size_t n);
    void (*sma)(const struct exact_task *tasks, size_t n);
};

#endif
