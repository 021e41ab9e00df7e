/* The environment on a real device: the bits of the host's scalar kernels. Without a device: exit 77.
 *
 * Arguments: the module's path, and `small` for sizes that a sanitizer gets through. */
#include "tests/trainer/env/device_try.h"

enum { STEPS = 4096, SMALL_STEPS = 5, SMALL_COPIES = 33, ROUNDS = 4, MANY_COPIES = 1000, MANY_STEPS = 600 };

int main(int argc, char **argv)
{
    char reason[GPU_REASON_MAX] = "";
    struct gpu_module *module = NULL;
    bool small = argc > 2 && strcmp(argv[2], "small") == 0;
    CHECK(argc > 1);
    if (argc < 2)
        return check_done("trainer/env/device");
    int r = gpu_module_open(argv[1], &module, reason, sizeof(reason));
    if (r == -ENODEV || r == -ENOENT) {
        printf("skipped: %s\n", reason);
        return CHECK_SKIP;
    }
    CHECK_INT(r, 0);
    if (r < 0) {
        fprintf(stderr, "%s\n", reason);
        return check_done("trainer/env/device");
    }
    printf("device: %s\n", gpu_module_device(module));
    struct random random = random_seeded("trainer/env/device", 20260107);
    for (int round = 0; round < (small ? 1 : ROUNDS); round++)
        for (size_t k = 0; k < TRY_KINDS; k++)
            try_one(module, &random, try_kinds[k].execution, try_kinds[k].task,
                    small ? SMALL_COPIES : TRY_COPIES, small ? SMALL_STEPS : STEPS);
    if (!small) {
        for (size_t k = 0; k < TRY_KINDS; k++)
            try_one(module, &random, try_kinds[k].execution, try_kinds[k].task, MANY_COPIES, MANY_STEPS);
        try_memory(module, &random);
    }
    gpu_module_close(module);
    return check_done("trainer/env/device");
}
