/* What module.c, module_batch.c and module_streams.c share. */
#ifndef INDICATORS_GPU_MODULE_INTERNAL_H
#define INDICATORS_GPU_MODULE_INTERNAL_H

#include "indicators_gpu/module.h"
#include "indicators_gpu/share.h"

/* What loading found out about a column, so that runs need not check again. */
struct module_column {
    size_t leading; /* NaNs at its beginning */
    bool clean;     /* no later value that is not finite */
};

struct gpu_module {
    char *path;
    void *handle;
    const struct gpu_indicators_api *api;
    struct gpu_indicators *device;
    struct gpu_share *share;
    char unshared[GPU_REASON_MAX]; /* why there is none; "": the device needs none */
    struct module_column *columns; /* [n_series][INDICATOR_COLUMNS] of the last load */
    size_t n_series;
};

#endif
