/* The executor: one walk over the columns for any number of specs. */
#ifndef INDICATORS_GPU_FAST_PASS_H
#define INDICATORS_GPU_FAST_PASS_H

#include "indicators_gpu/fast/set.h"

/* Columns of n bars that are complete from bar 0 on, of one precision; unread ones NULL. */
struct fast_columns {
    const void *at[INDICATOR_COLUMNS];
    size_t n;
};

/* What to compute, and where each output's bar 0 is. `out` are the spec's own. */
struct fast_task {
    const struct indicator_spec *spec;
    void *out[INDICATOR_OUTPUTS_MAX];
};

/* Computes the tasks, and writes NaN below their lookbacks. Returns 0, -ENOMEM, or -EINVAL when a bar is not
 * finite, which is *ret_bad; outputs hold nothing of use then. */
int fast_pass(const struct fast_set *set, enum indicator_precision precision,
              const struct fast_columns *columns, const struct fast_task *tasks, size_t n_tasks,
              size_t *ret_bad);

#endif
