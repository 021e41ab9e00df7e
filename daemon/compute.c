#include "daemon/compute.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/log.h"
#include "indicators_gpu/module.h"

enum { RETRY_MAX_MS = 3600000, DEVICE_MAX = 128 };

struct compute {
    uv_work_t work;
    uv_timer_t retry;
    struct compute_config config;
    struct gpu_module *module; /* found, and not given yet */
    int result;                /* of the last search */
    char reason[GPU_REASON_MAX];
    char device[DEVICE_MAX]; /* that was given; "": none is */
    int64_t delay_ms;        /* until the next look after a failure */
    int handles;             /* that are open: the timer; the search counts as one */
    bool searching, stopped;
};

/* Away from the loop, which meanwhile does not look at what this writes. */
static void search(uv_work_t *work)
{
    struct compute *compute = work->data;
    compute->result = gpu_module_open(NULL, &compute->module, compute->reason, sizeof compute->reason);
    if (compute->result < 0)
        compute->module = NULL;
}

static void release(struct compute *compute)
{
    if (--compute->handles > 0)
        return;
    gpu_module_close(compute->module);
    free(compute);
}

static void look(struct compute *compute);

static void on_retry(uv_timer_t *timer)
{
    look(timer->data);
}

/* Whether a look might end otherwise the next time. */
static bool may_come_back(int result)
{
    return result == -ENOMEM || result == -EIO;
}

static int64_t try_later(struct compute *compute)
{
    int64_t delay = compute->delay_ms;
    if (delay == 0 || compute->stopped)
        return 0;
    uv_timer_start(&compute->retry, on_retry, (uint64_t)delay, 0);
    compute->delay_ms = 2 * delay < RETRY_MAX_MS ? 2 * delay : RETRY_MAX_MS;
    return delay;
}

static void searched(uv_work_t *work, int status)
{
    struct compute *compute = work->data;
    compute->searching = false;
    if (status < 0) {
        compute->result = status;
        snprintf(compute->reason, sizeof compute->reason, "the search was cancelled");
    }
    if (!compute->stopped && compute->module) {
        struct gpu_module *module = compute->module;
        snprintf(compute->device, sizeof compute->device, "%s", gpu_module_device(module));
        log_info("gpu: %s", compute->device);
        compute->module = NULL;
        compute->config.found(compute->config.ctx, module);
    } else if (!compute->stopped) {
        log_info("gpu: %s: the CPU does the work", compute->reason);
        if (may_come_back(compute->result))
            try_later(compute);
    }
    release(compute);
}

static void look(struct compute *compute)
{
    snprintf(compute->reason, sizeof compute->reason, "no thread to look for a device");
    compute->searching = uv_queue_work(compute->retry.loop, &compute->work, search, searched) == 0;
    compute->handles += compute->searching;
}

struct compute *compute_create(uv_loop_t *loop, const struct compute_config *config)
{
    struct compute *compute = calloc(1, sizeof *compute);
    if (!compute)
        return NULL;
    compute->config = *config;
    compute->delay_ms = config->retry_ms;
    compute->work.data = compute->retry.data = compute;
    uv_timer_init(loop, &compute->retry);
    compute->handles = 1;
    if (config->unwanted)
        snprintf(compute->reason, sizeof compute->reason, "%s", config->unwanted);
    else
        look(compute);
    return compute;
}

int64_t compute_failed(struct compute *compute, const char *reason)
{
    compute->device[0] = '\0';
    snprintf(compute->reason, sizeof compute->reason, "%s", reason);
    return try_later(compute);
}

json_t *compute_object(const struct compute *compute, bool on_device)
{
    const char *words = on_device            ? "the streams are on the device"
                        : compute->searching ? "looking for a device"
                        : compute->device[0] ? "the streams are on their way to the device"
                                             : compute->reason;
    return json_pack("{s:s, s:s?, s:s}", "backend", on_device ? "gpu" : "cpu", "device",
                     compute->device[0] ? compute->device : NULL, "reason", words);
}

static void closed(uv_handle_t *timer)
{
    release(timer->data);
}

void compute_stop(struct compute *compute)
{
    if (!compute)
        return;
    compute->stopped = true;
    uv_close((uv_handle_t *)&compute->retry, closed);
}
