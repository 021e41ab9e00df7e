/* The executor: one walk over the columns for any number of specs. */
#ifndef INDICATORS_GPU_FAST_PASS_H
#define INDICATORS_GPU_FAST_PASS_H

#include "indicators_gpu/fast/bars.h"

/* What to compute, and the address of each output's bar 0. */
struct fast_task {
    const struct indicator_spec *spec;
    void *out[INDICATOR_OUTPUTS_MAX];
};

/* Computes the tasks, and writes NaN below their lookbacks. Returns 0, -ENOMEM, or -EINVAL when a bar is not
 * finite, which is *ret_bad; outputs are undefined then. */
int fast_pass(enum indicator_isa isa, const struct fast_columns *columns, const struct fast_task *tasks,
              size_t n_tasks, size_t *ret_bad);

#endif
