/* What the GPU module refuses, and that it works on afterwards. */
#ifndef TESTS_INDICATORS_GPU_REFUSALS_H
#define TESTS_INDICATORS_GPU_REFUSALS_H

#include <errno.h>

#include "tests/indicators_gpu/batches.h"

/* The batch works, and gives the reference's bits. */
static void refusals_works(struct gpu_module *module, const struct gpu_batch *batch)
{
    char reason[GPU_REASON_MAX] = "";
    struct outputs reference = outputs_make(batch->specs[0].row, batch->n_bars);
    CHECK_INT(gpu_module_compute(module, batch, reason, sizeof(reason)), 0);
    CHECK_STR(reason, "");
    CHECK_INT(indicator_reference(&batch->specs[0], &batch->series[0], batch->n_bars, reference.at), 0);
    for (size_t k = 0; k < reference.n_outputs; k++)
        CHECK(batch_same(batch->out[k], reference.at[k], batch->n_bars));
    outputs_free(&reference);
}

/* Memory that is not there: from a limit while loading, computing, creating streams. */
static void refusals_of_memory(struct gpu_module *module, const struct gpu_batch *batch)
{
    char reason[GPU_REASON_MAX];
    double rate = 0;
    size_t refused = 0;
    for (size_t limit = 1; limit < (size_t)1 << 20; limit *= 2) {
        gpu_module_limit(module, limit);
        reason[0] = '\0';
        int r = gpu_module_compute(module, batch, reason, sizeof(reason));
        CHECK(r == 0 || r == -ENOMEM);
        CHECK((r == 0) == (reason[0] == '\0'));
        refused += r < 0;
        struct gpu_streams *streams = NULL;
        r = gpu_streams_create(module, 20, batch->specs, batch->n_specs, &streams, reason, sizeof(reason));
        CHECK(r == 0 || r == -ENOMEM);
        CHECK((r == 0) == (streams != NULL));
        refused += r < 0;
        gpu_streams_destroy(streams);
    }
    CHECK(refused >= 4);
    CHECK_INT(gpu_module_copy_rate(module, (size_t)1 << 40, &rate, reason, sizeof(reason)), -ENOMEM);
    CHECK(rate == 0);
    gpu_module_limit(module, 0);
    refusals_works(module, batch);
}

static void refusals_try(struct gpu_module *module)
{
    struct series s = series_make(3000, SERIES_WALK, 3);
    struct indicator_columns columns = series_columns(&s);
    struct indicator_spec spec = test_spec("atr:14"), other = spec;
    struct outputs o = outputs_make(spec.row, s.n);
    struct gpu_batch batch = {GPU_EXACT, 1, s.n, &columns, 1, &spec, o.at, INDICATOR_F64};
    struct gpu_streams *streams;
    char reason[GPU_REASON_MAX];

    columns.high = NULL;
    CHECK_INT(gpu_module_compute(module, &batch, reason, sizeof(reason)), -EINVAL);
    columns.high = s.high;
    s.low[50] = NAN;
    CHECK_INT(gpu_module_compute(module, &batch, reason, sizeof(reason)), -EINVAL);
    CHECK_STR(reason, "atr: bar 50 of series 0 is not finite");
    s.low[50] = INFINITY;
    CHECK_INT(gpu_module_compute(module, &batch, reason, sizeof(reason)), -EINVAL);
    CHECK_STR(reason, "atr: bar 50 of series 0 is not finite");
    s.low[50] = s.low[49];
    s.high[70] = 1e39; /* finite, but not as a float */
    batch.precision = INDICATOR_F32;
    CHECK_INT(gpu_module_compute(module, &batch, reason, sizeof(reason)), -EINVAL);
    CHECK_STR(reason, "atr: bar 70 of series 0 is not finite");
    batch.precision = INDICATOR_F64;
    s.high[70] = s.close[70] + 1;
    other.options[0] = 0;
    batch.specs = &other;
    CHECK_INT(gpu_module_compute(module, &batch, reason, sizeof(reason)), -EINVAL);
    CHECK_STR(reason, "atr: an option is out of its range");
    CHECK_INT(gpu_streams_create(module, 1, &other, 1, &streams, reason, sizeof(reason)), -EINVAL);
    CHECK_INT(gpu_streams_create(module, 0, &spec, 1, &streams, reason, sizeof(reason)), -EINVAL);
    batch.specs = &spec;
    refusals_works(module, &batch);
    CHECK(outputs_sound(&o));
    refusals_of_memory(module, &batch);
    outputs_free(&o);
    series_free(&s);
}

#endif
