/* The GPU module on a real device: exact kernels against the reference bit for bit, parallel ones within
 * their tolerance, and both against the same block functions run on the CPU, bit for bit. Without a device:
 * exit 77.
 *
 * Arguments: the module's path, and `small` for sizes that a sanitizer gets through. */
#include <errno.h>

#include "tests/indicators_gpu/batches.h"

static struct gpu_module *module;

static void compute(const struct gpu_batch *batch, bool on_cpu)
{
    char reason[GPU_REASON_MAX] = "";
    bool kept = true;
    if (on_cpu)
        CHECK_INT(block_compute(batch, false, &kept), 0);
    else
        CHECK_INT(gpu_module_compute(module, batch, reason, sizeof(reason)), 0);
    CHECK_STR(reason, "");
}

/* What the module refuses, and that it works on afterwards. */
static void try_bad_batches(void)
{
    struct series s = series_make(100, SERIES_WALK, 3);
    struct indicator_columns columns = series_columns(&s);
    struct indicator_spec spec = batch_spec("atr:14");
    struct outputs o = outputs_make(spec.row, s.n);
    struct gpu_batch batch = {GPU_EXACT, 1, s.n, &columns, 1, &spec, o.at};
    char reason[GPU_REASON_MAX];

    columns.high = NULL;
    CHECK_INT(gpu_module_compute(module, &batch, reason, sizeof(reason)), -EINVAL);
    columns.high = s.high;
    s.low[50] = NAN;
    CHECK_INT(gpu_module_compute(module, &batch, reason, sizeof(reason)), -EINVAL);
    CHECK_STR(reason, "atr: bar 50 of series 0 is not finite");
    s.low[50] = s.low[49];

    double rate = 0;
    CHECK_INT(gpu_module_copy_rate(module, (size_t)1 << 50, &rate, reason, sizeof(reason)), -ENOMEM);
    CHECK(rate == 0);
    CHECK_INT(gpu_module_compute(module, &batch, reason, sizeof(reason)), 0);
    CHECK(outputs_sound(&o));
    outputs_free(&o);
    series_free(&s);
}

int main(int argc, char **argv)
{
    char reason[GPU_REASON_MAX];
    bool small = argc > 2 && strcmp(argv[2], "small") == 0;
    int r = gpu_module_open(argc > 1 ? argv[1] : NULL, &module, reason, sizeof(reason));
    if (r == -ENODEV || r == -ENOENT) {
        printf("skipped: %s\n", reason);
        return CHECK_SKIP;
    }
    CHECK_INT(r, 0);
    if (r < 0) {
        fprintf(stderr, "%s\n", reason);
        return check_done("indicators_gpu/device");
    }
    printf("device: %s\n", gpu_module_device(module));
    size_t largest = small ? 2049 : 100003;
    batch_check_rows();
    batch_try_sizes(compute, GPU_EXACT, largest);
    batch_try_sizes(compute, GPU_PARALLEL, largest);
    batch_try_many(compute, GPU_EXACT);
    batch_try_many(compute, GPU_PARALLEL);
    if (!small) {
        batch_try_long(compute);
        try_bad_batches(); /* not for memcheck, which counts the refused allocation as an error */
    }
    gpu_module_close(module);
    return check_done("indicators_gpu/device");
}
