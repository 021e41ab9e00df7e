/* The GPU kernels' block functions on the CPU, by way of a module whose device it is: exact ones bit for bit,
 * fused ones within their tolerance, both the same in whatever order threads and blocks run; and batches that
 * the module refuses. The argument is that module's path. */
#include <errno.h>

#include "tests/indicators_gpu/batches.h"
#include "tests/indicators_gpu/refusals.h"

#ifdef __SANITIZE_ADDRESS__ /* five times as slow; sizes at the edges of warps and tiles stay */
enum { SMALL = true };
#else
enum { SMALL = false };
#endif

enum { FEW_SERIES = 2 };

static struct gpu_module *module;

static void compute(const struct gpu_batch *batch, bool again)
{
    char reason[GPU_REASON_MAX] = "";
    CHECK_INT(setenv("BLOCKS_REVERSED", again ? "1" : "0", 1), 0);
    CHECK_INT(gpu_module_compute(module, batch, reason, sizeof(reason)), 0);
    CHECK_STR(reason, "");
}

int main(int argc, char **argv)
{
    char reason[GPU_REASON_MAX] = "";
    CHECK(argc > 1);
    if (argc < 2 || gpu_module_open(argv[1], &module, reason, sizeof(reason)) < 0) {
        fprintf(stderr, "%s\n", reason);
        return EXIT_FAILURE;
    }
    test_specs_check();
    refusals_try(module);
    const bool thorough = getenv("PAPERTAPE_LONG") != NULL;
    const enum batch_extent extent = thorough ? BATCH_ALL : SMALL ? BATCH_FEW : BATCH_SOME;
    batch_try_sizes(compute, extent);
    batch_try_lookbacks(compute);
    /* Many of fewer bars, and a few of enough to be cut into segments, whatever the row. */
    const size_t n_series = thorough ? BATCH_SERIES : 33, n_bars = thorough ? 2500 : 1300;
    batch_try_many(compute, n_series, n_bars);
    if (!thorough && !SMALL)
        batch_try_many(compute, FEW_SERIES, 2500);
    if (!thorough)
        printf(
            "counts: %zu series of %zu bars, %d of 2500, of long series %s (PAPERTAPE_LONG: %d series of 2500, long "
            "series of 4 kinds for every row)\n",
            n_series, n_bars, SMALL ? 0 : FEW_SERIES,
            SMALL ? "a walk for every fifth row" : "a walk for every second row, 4 kinds for some",
            BATCH_SERIES);
    if (!thorough)
        printf(
            "counts: sizes 1000, 1023 and 1024 of a walk, float32 at 1025 and 12007 alone (PAPERTAPE_LONG: all kinds, both "
            "precisions); of the last %zu of %d specifications, written once, one method, a thousand bars of two kinds, "
            "12007 of one (PAPERTAPE_LONG: as of the others)\n",
            TEST_SPECS - test_specs_apart(), TEST_SPECS);
    batch_try_long(compute, extent);
    gpu_module_close(module);
    if (SMALL)
        printf("counts: of sizes 33 and 1025, of kinds one (without a sanitizer: all)\n");
    return check_done("indicators_gpu/blocks");
}
