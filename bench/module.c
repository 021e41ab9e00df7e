#include "bench/module.h"

#include <errno.h>

#include "bench/cases.h"
#include "indicators_gpu/module.h"

int bench_module_open(const char *path, struct gpu_module **ret)
{
    char reason[GPU_REASON_MAX];
    const int r = gpu_module_open(path, ret, reason, sizeof reason);
    if (r == 0)
        return 0;
    bench_because("%s", reason);
    return r == -ENODEV || r == -ENOENT ? BENCH_SKIP : -1;
}
