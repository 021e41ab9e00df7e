/* The GPU module on a real device: every row's exact kernels against the reference bit for bit, fused ones
 * within their tolerance, both against the same block functions run on the CPU, bit for bit; the device's
 * streams against the host's; refusals, with memory running out. Without a device: exit 77.
 *
 * Arguments: the module's path, that of the module whose device is the CPU, and `small` for sizes that a
 * sanitizer gets through. */
#include <errno.h>

#include "tests/indicators_gpu/batches.h"
#include "tests/indicators_gpu/refusals.h"
#include "tests/indicators_gpu/streams_try.h"

static struct gpu_module *module, *on_cpu;

static void compute(const struct gpu_batch *batch, bool again)
{
    char reason[GPU_REASON_MAX] = "";
    CHECK_INT(gpu_module_compute(again ? on_cpu : module, batch, reason, sizeof(reason)), 0);
    CHECK_STR(reason, "");
}

int main(int argc, char **argv)
{
    char reason[GPU_REASON_MAX] = "";
    bool small = argc > 3 && strcmp(argv[3], "small") == 0;
    CHECK(argc > 2);
    if (argc < 3)
        return check_done("indicators_gpu/device");
    int r = gpu_module_open(argv[1], &module, reason, sizeof(reason));
    if (r == -ENODEV || r == -ENOENT) {
        printf("skipped: %s\n", reason);
        return CHECK_SKIP;
    }
    CHECK_INT(r, 0);
    CHECK_INT(gpu_module_open(argv[2], &on_cpu, reason, sizeof(reason)), 0);
    if (r < 0 || !on_cpu) {
        fprintf(stderr, "%s\n", reason);
        return check_done("indicators_gpu/device");
    }
    printf("device: %s\n", gpu_module_device(module));
    test_specs_check();
    batch_try_sizes(compute, small ? BATCH_FEW : BATCH_ALL);
    streams_try_all(module, 37, TEST_SPECS, small ? 5 : 600);
    if (!small) {
        batch_try_lookbacks(compute);
        batch_try_many(compute, BATCH_SERIES, 2500);
        batch_try_long(compute, BATCH_ALL);
        refusals_try(module); /* not for memcheck, which counts the refused allocation as an error */
    }
    gpu_module_close(module);
    gpu_module_close(on_cpu);
    return check_done("indicators_gpu/device");
}
