#include "daemon/compute.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/log.h"
#include "indicators_gpu/module.h"

struct compute {
    uv_work_t work;
    struct gpu_module *module; /* NULL: the CPU */
    char reason[GPU_REASON_MAX];
    bool searching, stopped;
};

static void search(uv_work_t *work)
{
    struct compute *compute = work->data;
    if (gpu_module_open(NULL, &compute->module, compute->reason, sizeof compute->reason) < 0)
        compute->module = NULL;
}

static void release(struct compute *compute)
{
    gpu_module_close(compute->module);
    free(compute);
}

static void searched(uv_work_t *work, int status)
{
    struct compute *compute = work->data;
    compute->searching = false;
    if (compute->stopped) {
        release(compute);
        return;
    }
    if (status < 0)
        snprintf(compute->reason, sizeof compute->reason, "the search was cancelled");
    if (compute->module)
        log_info("gpu: %s", gpu_module_device(compute->module));
    else
        log_info("gpu: %s: the CPU does the work", compute->reason);
}

struct compute *compute_create(uv_loop_t *loop)
{
    struct compute *compute = calloc(1, sizeof *compute);
    if (!compute)
        return NULL;
    compute->work.data = compute;
    snprintf(compute->reason, sizeof compute->reason, "looking for a device");
    compute->searching = uv_queue_work(loop, &compute->work, search, searched) == 0;
    return compute;
}

json_t *compute_object(const struct compute *compute)
{
    bool found = !compute->searching && compute->module;
    return json_pack("{s:s, s:s?, s:s}", "backend", "cpu", "device",
                     found ? gpu_module_device(compute->module) : NULL, "reason",
                     found                ? "streaming indicators run on the CPU"
                     : compute->searching ? "looking for a device"
                                          : compute->reason);
}

void compute_stop(struct compute *compute)
{
    if (!compute)
        return;
    compute->stopped = true;
    if (!compute->searching)
        release(compute);
}
