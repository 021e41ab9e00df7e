/* Rows without a kernel: the reference, on widened columns. */
#ifndef INDICATORS_GPU_FAST_PLAIN_H
#define INDICATORS_GPU_FAST_PLAIN_H

#include "indicators_gpu/fast/bars.h"

/* Returns 0 or -ENOMEM. */
int fast_plain(const struct indicator_spec *spec, const struct fast_columns *columns, void *const out[]);

#endif
