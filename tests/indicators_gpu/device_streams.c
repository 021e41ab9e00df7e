/* The kernels of the device's streams on the CPU, by way of a module whose device it is: every row gives the
 * bits of the host's streams, whatever order threads and blocks run in. Argument: the module's path. */
#include "tests/indicators_gpu/streams_try.h"

#ifdef __SANITIZE_ADDRESS__
enum { BARS = 200 };
#else
enum { BARS = 600 };
#endif

int main(int argc, char **argv)
{
    struct gpu_module *module;
    char reason[GPU_REASON_MAX] = "";
    CHECK(argc > 1);
    if (argc < 2 || gpu_module_open(argv[1], &module, reason, sizeof(reason)) < 0) {
        fprintf(stderr, "%s\n", reason);
        return EXIT_FAILURE;
    }
    test_specs_check();
    for (int reversed = 0; reversed < 2; reversed++) {
        CHECK_INT(setenv("BLOCKS_REVERSED", reversed ? "1" : "0", 1), 0);
        streams_try_all(module, reversed ? 3 : 1, TEST_SPECS, 300);
        streams_try_all(module, 37, test_specs_apart(), BARS);
    }
    if (BARS < 600)
        printf("counts: %d bars of 37 symbols (without a sanitizer: 600)\n", BARS);
    if (!test_long())
        printf(
            "counts: the last %zu of %d specifications, written once, with 4 symbols (PAPERTAPE_LONG: 41)\n",
            TEST_SPECS - test_specs_apart(), TEST_SPECS);
    gpu_module_close(module);
    return check_done("indicators_gpu/device_streams");
}
