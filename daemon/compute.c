#include "daemon/compute.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "indicators_gpu/module.h"
#include "record/json.h"
#include "record/status.h"

enum { DEVICE_MAX = 128 };

/* What the loop shares with a search's thread; the last of the two frees it. */
struct search {
    pthread_mutex_t lock;
    uv_async_t *done; /* NULL: the loop no longer waits */
    struct gpu_module *module;
    int result;
    char reason[GPU_REASON_MAX];
};

struct compute {
    uv_timer_t retry;
    uv_async_t done;
    struct compute_config config;
    struct search *search; /* under way, or NULL */
    int result;            /* of the last one */
    char reason[GPU_REASON_MAX];
    char device[DEVICE_MAX]; /* that was given; "": there is none */
    int64_t delay_ms;        /* until the next look after a failure */
    uint64_t given_ms;       /* the loop's time when it was given */
    int handles;             /* that are open */
};

static bool left_behind;

bool daemon_compute_abandoned(void)
{
    return left_behind;
}

/* ---- the search: a thread, since a driver may never answer ---- */

static void search_free(struct search *search)
{
    pthread_mutex_destroy(&search->lock);
    free(search);
}

static void *search_run(void *arg)
{
    struct search *search = arg;
    struct gpu_module *module = NULL;
    char reason[GPU_REASON_MAX] = "";
    int r = gpu_module_open(NULL, &module, reason, sizeof reason);
    pthread_mutex_lock(&search->lock);
    bool unwanted = !search->done;
    search->module = r == 0 ? module : NULL;
    search->result = r;
    memcpy(search->reason, reason, sizeof reason);
    if (!unwanted)
        uv_async_send(search->done);
    pthread_mutex_unlock(&search->lock);
    if (unwanted) {
        gpu_module_close(search->module);
        search_free(search);
    }
    return NULL;
}

/* The thread ends by itself. 0 or -errno. */
static int search_start(uv_async_t *done, struct search **ret)
{
    pthread_t thread;
    struct search *search = calloc(1, sizeof *search);
    if (!search)
        return -ENOMEM;
    pthread_mutex_init(&search->lock, NULL);
    search->done = done;
    search->result = -EINPROGRESS;
    int r = -pthread_create(&thread, NULL, search_run, search);
    if (r < 0) {
        search_free(search);
        return r;
    }
    pthread_detach(thread);
    *ret = search;
    return 0;
}

/* ---- the loop ---- */

static void look(struct compute *compute);

static void on_retry(uv_timer_t *timer)
{
    look(timer->data);
}

/* Whether the next search might end otherwise. */
static bool may_come_back(int result)
{
    return result == -ENOMEM || result == -EIO;
}

static int64_t try_later(struct compute *compute)
{
    int64_t delay = compute->delay_ms;
    if (delay == 0)
        return 0;
    uv_timer_start(&compute->retry, on_retry, (uint64_t)delay, 0);
    compute->delay_ms = 2 * delay < compute->config.retry_max_ms ? 2 * delay : compute->config.retry_max_ms;
    return delay;
}

static void searched(uv_async_t *async)
{
    struct compute *compute = async->data;
    struct search *search = compute->search;
    if (!search)
        return;
    pthread_mutex_lock(&search->lock); /* the thread uses nothing of it after this */
    compute->result = search->result;
    pthread_mutex_unlock(&search->lock);
    if (compute->result == -EINPROGRESS)
        return;
    struct gpu_module *module = search->module;
    memcpy(compute->reason, search->reason, sizeof compute->reason);
    compute->search = NULL;
    search_free(search);
    if (compute->config.unwanted) { /* since it was started */
        gpu_module_close(module);
        snprintf(compute->reason, sizeof compute->reason, "%s", compute->config.unwanted);
    } else if (module) {
        snprintf(compute->device, sizeof compute->device, "%s", gpu_module_device(module));
        compute->given_ms = uv_now(async->loop);
        daemon_log_event(LOG_DEVICE, NULL, "gpu: %s", compute->device);
        compute->config.found(compute->config.ctx, module);
    } else {
        daemon_log_event(LOG_DEVICE, NULL, "gpu: %s: the CPU does the work", compute->reason);
        if (may_come_back(compute->result))
            try_later(compute);
    }
}

static void look(struct compute *compute)
{
    if (search_start(&compute->done, &compute->search) < 0)
        snprintf(compute->reason, sizeof compute->reason, "no thread to look for a device");
}

struct compute *daemon_compute_create(uv_loop_t *loop, const struct compute_config *config)
{
    struct compute *compute = calloc(1, sizeof *compute);
    if (!compute)
        return NULL;
    compute->config = *config;
    compute->delay_ms = config->retry_ms;
    compute->done.data = compute->retry.data = compute;
    uv_timer_init(loop, &compute->retry);
    uv_async_init(loop, &compute->done, searched);
    compute->handles = 2;
    if (config->unwanted)
        snprintf(compute->reason, sizeof compute->reason, "%s", config->unwanted);
    else
        look(compute);
    return compute;
}

int64_t daemon_compute_failed(struct compute *compute, const char *reason)
{
    uint64_t used_ms = uv_now(compute->retry.loop) - compute->given_ms;
    if (used_ms >= (uint64_t)compute->config.retry_max_ms)
        compute->delay_ms = compute->config.retry_ms;
    compute->device[0] = '\0';
    snprintf(compute->reason, sizeof compute->reason, "%s", reason);
    return try_later(compute);
}

void daemon_compute_again(struct compute *compute, const char *unwanted)
{
    uv_timer_stop(&compute->retry);
    compute->delay_ms = compute->config.retry_ms;
    compute->device[0] = '\0';
    compute->config.unwanted = unwanted;
    if (unwanted)
        snprintf(compute->reason, sizeof compute->reason, "%s", unwanted);
    else if (!compute->search)
        look(compute);
}

RECORD_VIEW_OBJECT(compute_object, compute_view, RECORD_SHOWN_COMPUTE);

json_t *daemon_compute_object(const struct compute *compute, bool on_device, int64_t call_ms)
{
    char silent[64];
    snprintf(silent, sizeof silent, "the device has not answered for %" PRId64 " s", call_ms / 1000);
    const char *words = call_ms >= COMPUTE_SILENT_MS ? silent
                        : on_device                  ? "the streams are on the device"
                        : compute->search            ? "looking for a device"
                        : compute->device[0]         ? "the streams are on their way to the device"
                                                     : compute->reason;
    return compute_object(&(struct compute_view){on_device ? "gpu" : "cpu", compute->device, words});
}

static void closed(uv_handle_t *handle)
{
    struct compute *compute = handle->data;
    if (--compute->handles == 0)
        free(compute);
}

/* true: the thread still searches, and now knows that the loop does not wait. */
static bool search_leave(struct search *search)
{
    pthread_mutex_lock(&search->lock);
    bool looking = search->result == -EINPROGRESS;
    search->done = NULL;
    pthread_mutex_unlock(&search->lock);
    if (looking)
        return true;
    gpu_module_close(search->module);
    search_free(search);
    return false;
}

void daemon_compute_stop(struct compute *compute)
{
    if (!compute)
        return;
    if (compute->search && search_leave(compute->search)) {
        daemon_log_info("gpu: the search for a device has not ended: it is left behind");
        left_behind = true;
    }
    compute->search = NULL;
    uv_close((uv_handle_t *)&compute->retry, closed);
    uv_close((uv_handle_t *)&compute->done, closed);
}
