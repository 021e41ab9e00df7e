#include "cli/doctor/module.h"

#include <stdio.h>

#include "indicators_gpu/module.h"

int cli_doctor_module(char *reason, size_t size)
{
    struct gpu_module *module;
    int r = gpu_module_open(NULL, &module, reason, size);
    if (r < 0)
        return r;
    snprintf(reason, size, "%s", gpu_module_device(module));
    gpu_module_close(module);
    return 0;
}
