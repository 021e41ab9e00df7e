/* What module.c and module_streams.c share. */
#ifndef INDICATORS_GPU_MODULE_INTERNAL_H
#define INDICATORS_GPU_MODULE_INTERNAL_H

#include "indicators_gpu/module.h"

struct gpu_module {
    void *handle;
    const struct gpu_indicators_api *api;
    struct gpu_indicators *device;
};

#endif
