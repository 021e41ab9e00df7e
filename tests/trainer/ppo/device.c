/* The learner on a device: its gradients beside float64's, whole iterations beside the CPU's learner, its
 * state over a checkpoint, its graphs and products, its memory. Without a device: exit 77.
 *
 * Arguments: the module's path (the real one, or the tests' whose device is the CPU), and `small` for sizes
 * that a sanitizer gets through. */
#include "tests/trainer/ppo/device_gradients.h"
#include "tests/trainer/ppo/device_graphs.h"
#include "tests/trainer/ppo/device_iterations.h"
#include "tests/trainer/ppo/device_memory.h"

int main(int argc, char **argv)
{
    char reason[GPU_REASON_MAX] = "";
    CHECK(argc > 1);
    if (argc < 2)
        return check_done("trainer/ppo/device");
    place_path = argv[1];
    place_small = argc > 2 && strcmp(argv[2], "small") == 0;
    int r = gpu_module_open(place_path, &place_module, reason, sizeof(reason));
    if (r == -ENODEV || r == -ENOENT) {
        printf("skipped: %s\n", reason);
        return CHECK_SKIP;
    }
    CHECK_INT(r, 0);
    if (r < 0) {
        fprintf(stderr, "%s\n", reason);
        return check_done("trainer/ppo/device");
    }
    printf("device: %s\n", gpu_module_device(place_module));
    struct random random = random_seeded("trainer/ppo/device", 20261122);
    device_try_gradients(&random);
    device_try_iterations(&random);
    device_try_graphs();
    device_try_memory(&random);
    gpu_module_close(place_module);
    return check_done("trainer/ppo/device");
}
