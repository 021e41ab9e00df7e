#include "daemon/gpu_sampler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STALLED_INTERVALS = 3, /* as everywhere: older than three intervals is stale */
    RETRY_INTERVALS = 30,  /* between two attempts to open the library */
};

/* Written by the worker; the loop reads it between two of its runs. */
struct result {
    int error; /* 0 or -errno, with the reason */
    char reason[GPU_REASON_MAX], driver[GPU_DRIVER_MAX];
    struct gpu_device devices[GPU_DEVICES_MAX];
    int n_devices;
};

struct gpu_sampler {
    uv_loop_t *loop;
    uv_timer_t timer;
    uv_work_t work;
    uint64_t interval_ms, started_ms; /* started: the sample under way */
    int ticks_to_retry;
    bool busy, closing, timer_closed;
    struct nvml *nvml; /* the worker's alone */
    struct result result;
    struct gpu_status status;
};

const char *gpu_state_name(enum gpu_state state)
{
    static const char *const names[] = {
        [GPU_NOT_AVAILABLE] = "n/a",
        [GPU_OK] = "ok",
        [GPU_STALLED] = "stalled",
    };
    return names[state];
}

static void work(uv_work_t *request)
{
    struct gpu_sampler *sampler = request->data;
    struct result *result = &sampler->result;
    *result = (struct result){0};
    if (!sampler->nvml)
        result->error = nvml_open(&sampler->nvml, result->reason);
    if (result->error)
        return;
    result->error = nvml_sample(sampler->nvml, result->devices, &result->n_devices, result->reason);
    if (result->error) {
        nvml_close(sampler->nvml);
        sampler->nvml = NULL;
        return;
    }
    snprintf(result->driver, sizeof result->driver, "%s", nvml_driver(sampler->nvml));
}

/* Frees the sampler once nothing of libuv's points to it. The library is closed here, on the loop: quick,
 * after a sample that came back, and the daemon is ending. */
static void release(struct gpu_sampler *sampler)
{
    if (!sampler->closing || sampler->busy || !sampler->timer_closed)
        return;
    nvml_close(sampler->nvml);
    free(sampler);
}

static void publish(struct gpu_sampler *sampler)
{
    const struct result *result = &sampler->result;
    struct gpu_status *status = &sampler->status;
    status->samples++;
    status->sampled_ms = uv_now(sampler->loop);
    status->state = result->error || result->n_devices == 0 ? GPU_NOT_AVAILABLE : GPU_OK;
    memcpy(status->reason, result->reason, sizeof status->reason);
    if (!result->error && result->n_devices == 0)
        snprintf(status->reason, sizeof status->reason, "no device");
    memcpy(status->driver, result->driver, sizeof status->driver);
    memcpy(status->devices, result->devices, sizeof status->devices);
    status->n_devices = result->n_devices;
    sampler->ticks_to_retry = result->error ? RETRY_INTERVALS - 1 : 0;
}

static void done(uv_work_t *request, int status)
{
    struct gpu_sampler *sampler = request->data;
    sampler->busy = false;
    if (status == 0 && !sampler->closing)
        publish(sampler);
    release(sampler);
}

static void stalled(struct gpu_sampler *sampler)
{
    uint64_t age_ms = uv_now(sampler->loop) - sampler->started_ms;
    if (age_ms < STALLED_INTERVALS * sampler->interval_ms)
        return;
    sampler->status.state = GPU_STALLED;
    snprintf(sampler->status.reason, sizeof sampler->status.reason, "the driver has not answered for %ju s",
             (uintmax_t)(age_ms / 1000));
}

static void tick(uv_timer_t *timer)
{
    struct gpu_sampler *sampler = timer->data;
    if (sampler->busy) {
        stalled(sampler);
        return;
    }
    if (sampler->ticks_to_retry > 0) {
        sampler->ticks_to_retry--;
        return;
    }
    int e = uv_queue_work(sampler->loop, &sampler->work, work, done);
    if (e) {
        sampler->status.state = GPU_NOT_AVAILABLE;
        snprintf(sampler->status.reason, sizeof sampler->status.reason, "no worker thread: %s",
                 uv_strerror(e));
        return;
    }
    sampler->busy = true;
    sampler->started_ms = uv_now(sampler->loop);
}

int gpu_sampler_create(uv_loop_t *loop, uint64_t interval_ms, struct gpu_sampler **ret)
{
    struct gpu_sampler *sampler = calloc(1, sizeof *sampler);
    if (!sampler)
        return -ENOMEM;
    sampler->loop = loop;
    sampler->interval_ms = interval_ms;
    sampler->work.data = sampler;
    snprintf(sampler->status.reason, sizeof sampler->status.reason, "not sampled yet");
    int e = uv_timer_init(loop, &sampler->timer);
    if (e) {
        free(sampler);
        return e;
    }
    sampler->timer.data = sampler;
    uv_unref((uv_handle_t *)&sampler->timer);
    e = uv_timer_start(&sampler->timer, tick, 0, interval_ms);
    if (e) {
        gpu_sampler_destroy(sampler);
        return e;
    }
    *ret = sampler;
    return 0;
}

const struct gpu_status *gpu_sampler_status(const struct gpu_sampler *sampler)
{
    return &sampler->status;
}

bool gpu_sampler_busy(const struct gpu_sampler *sampler)
{
    return sampler->busy;
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct gpu_sampler *sampler = handle->data;
    sampler->timer_closed = true;
    release(sampler);
}

void gpu_sampler_destroy(struct gpu_sampler *sampler)
{
    if (!sampler)
        return;
    sampler->closing = true;
    if (sampler->busy)
        (void)uv_cancel(
            (uv_req_t *)&sampler->work); /* only one that no thread has begun; done() comes either way */
    uv_close((uv_handle_t *)&sampler->timer, on_timer_closed);
}
