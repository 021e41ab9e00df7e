/* Loading the GPU module: every way in which it is not there gives a reason and leaves nothing behind. */
#include "indicators_gpu/module.h"

#include <errno.h>
#include <unistd.h>

#include "tests/check.h"

static char reason[GPU_REASON_MAX];

static int open_at(const char *path)
{
    struct gpu_module *m = NULL;
    reason[0] = '\0';
    int r = gpu_module_open(path, &m, reason, sizeof(reason));
    CHECK((r == 0) == (m != NULL));
    CHECK(r == 0 || reason[0] != '\0');
    gpu_module_close(m);
    return r;
}

/* argv: a file that is no module, a module of another version, one without the symbol, and the module where
 * there is one. */
int main(int argc, char **argv)
{
    CHECK(argc >= 4);
    if (argc < 4)
        return check_done("indicators_gpu/module");
    gpu_module_close(NULL);

    CHECK_INT(open_at("/nonexistent/papertape-gpu.so"), -ENOENT);
    CHECK_STR(reason, "no GPU module: /nonexistent/papertape-gpu.so: No such file or directory");
    CHECK_INT(open_at(argv[1]), -ENOEXEC);
    CHECK(strstr(reason, argv[1]) && !strstr(strstr(reason, argv[1]) + 1, argv[1]));
    CHECK_INT(open_at(argv[2]), -ENOEXEC);
    CHECK(strstr(reason, "its version is 4000000000"));
    CHECK_INT(open_at(argv[3]), -ENOEXEC);
    CHECK(strstr(reason, GPU_INDICATORS_SYMBOL));

    CHECK_INT(setenv("PAPERTAPE_GPU_MODULE", "/nonexistent/from-environment.so", 1), 0);
    CHECK_INT(open_at(NULL), -ENOENT);
    CHECK(strstr(reason, "from-environment"));
    CHECK_INT(unsetenv("PAPERTAPE_GPU_MODULE"), 0);

    if (argc > 4) {
        int r = open_at(argv[4]);
        CHECK(r == 0 || r == -ENODEV);
        if (access("/dev/nvidiactl", F_OK) != 0) {
            CHECK_INT(r, -ENODEV);
            CHECK(strncmp(reason, "no CUDA d", 9) == 0); /* driver, or device */
        }
        printf("the module: %s\n", r == 0 ? "a device" : reason);
    }
    return check_done("indicators_gpu/module");
}
