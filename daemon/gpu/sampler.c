#include "daemon/gpu/sampler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/gpu/vendors.h"
#include "exchange/clock.h"

enum {
    STALLED_INTERVALS = 3, /* as elsewhere: older than three intervals is stale */
};

/* The state that loop and thread share; outlives the sampler when a sample does. */
struct exchange {
    pthread_mutex_t lock; /* over all below */
    pthread_cond_t wake;
    bool wanted;       /* a sample; the thread takes it */
    bool quit;         /* from here on `async` is gone */
    bool abandoned;    /* the loop does not join: the thread frees this */
    uv_async_t *async; /* says that `result` is there */
    struct gpu_result result;
};

struct gpu_sampler {
    uv_loop_t *loop;
    uv_timer_t timer;
    uv_async_t async;
    int handles;                      /* of the two, not closed yet */
    uint64_t interval_ms, started_ms; /* started: the sample under way */
    int64_t started_ns;               /* the same by the wall's time */
    bool busy;                        /* a sample was asked for and is not there yet */
    pthread_t thread;
    struct exchange *exchange;
    struct gpu_status status;
};

const char *daemon_gpu_state_name(enum gpu_state state)
{
    static const char *const names[] = {
        [GPU_NOT_AVAILABLE] = "n/a",
        [GPU_OK] = "ok",
        [GPU_STALLED] = "stalled",
    };
    return names[state];
}

/* --- the thread --- */

static void exchange_free(struct exchange *exchange)
{
    pthread_cond_destroy(&exchange->wake);
    pthread_mutex_destroy(&exchange->lock);
    free(exchange);
}

static void *run(void *arg)
{
    struct exchange *exchange = arg;
    struct gpu_vendors vendors = {0};
    struct gpu_result result;
    pthread_mutex_lock(&exchange->lock);
    while (!exchange->quit) {
        if (!exchange->wanted) {
            pthread_cond_wait(&exchange->wake, &exchange->lock);
            continue;
        }
        exchange->wanted = false;
        pthread_mutex_unlock(&exchange->lock);
        daemon_gpu_vendors_sample(&vendors, &result);
        pthread_mutex_lock(&exchange->lock);
        exchange->result = result;
        if (!exchange->quit)
            uv_async_send(exchange->async);
    }
    bool abandoned = exchange->abandoned;
    pthread_mutex_unlock(&exchange->lock);
    daemon_gpu_vendors_close(&vendors);
    if (abandoned)
        exchange_free(exchange);
    return NULL;
}

static int exchange_create(uv_async_t *async, struct exchange **ret)
{
    struct exchange *exchange = calloc(1, sizeof *exchange);
    if (!exchange)
        return -ENOMEM;
    exchange->async = async;
    int e = pthread_mutex_init(&exchange->lock, NULL);
    if (e) {
        free(exchange);
        return -e;
    }
    e = pthread_cond_init(&exchange->wake, NULL);
    if (e) {
        pthread_mutex_destroy(&exchange->lock);
        free(exchange);
        return -e;
    }
    *ret = exchange;
    return 0;
}

/* Signals are the loop's. */
static int start_thread(struct gpu_sampler *sampler)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int e = pthread_create(&sampler->thread, NULL, run, sampler->exchange);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -e;
}

/* --- the loop's side --- */

static void on_result(uv_async_t *async)
{
    struct gpu_sampler *sampler = async->data;
    struct gpu_status *status = &sampler->status;
    const struct gpu_result *result = &sampler->exchange->result;
    pthread_mutex_lock(&sampler->exchange->lock);
    memcpy(status->reason, result->reason, sizeof status->reason);
    memcpy(status->devices, result->devices, sizeof status->devices);
    status->n_devices = result->n_devices;
    status->sampled_ns = result->sampled_ns;
    pthread_mutex_unlock(&sampler->exchange->lock);

    sampler->busy = false;
    status->samples++;
    status->sampled_ms = uv_now(sampler->loop);
    status->state = status->n_devices == 0 ? GPU_NOT_AVAILABLE : GPU_OK;
    if (status->n_devices == 0 && !status->reason[0])
        snprintf(status->reason, sizeof status->reason, "no GPU");
}

static void mark_stalled(struct gpu_sampler *sampler)
{
    struct gpu_status *status = &sampler->status;
    uint64_t age_ms = uv_now(sampler->loop) - sampler->started_ms;
    if (age_ms < STALLED_INTERVALS * sampler->interval_ms)
        return;
    status->state = GPU_STALLED;
    time_t since = (time_t)(sampler->started_ns / 1000000000);
    struct tm utc = {0};
    gmtime_r(&since, &utc);
    strftime(status->reason, sizeof status->reason, "the driver has not answered since %H:%M:%SZ", &utc);
    for (int i = 0; i < status->n_devices; i++)
        daemon_gpu_device_forget(&status->devices[i]);
}

static void on_tick(uv_timer_t *timer)
{
    struct gpu_sampler *sampler = timer->data;
    if (sampler->busy) {
        mark_stalled(sampler);
        return;
    }
    sampler->busy = true;
    sampler->started_ms = uv_now(sampler->loop);
    sampler->started_ns = clock_wall_ns();
    pthread_mutex_lock(&sampler->exchange->lock);
    sampler->exchange->wanted = true;
    pthread_cond_signal(&sampler->exchange->wake);
    pthread_mutex_unlock(&sampler->exchange->lock);
}

static void on_closed(uv_handle_t *handle)
{
    struct gpu_sampler *sampler = handle->data;
    if (--sampler->handles == 0)
        free(sampler);
}

static void close_handles(struct gpu_sampler *sampler)
{
    uv_close((uv_handle_t *)&sampler->timer, on_closed);
    uv_close((uv_handle_t *)&sampler->async, on_closed);
}

int daemon_gpu_sampler_create(uv_loop_t *loop, uint64_t interval_ms, struct gpu_sampler **ret)
{
    struct gpu_sampler *sampler = calloc(1, sizeof *sampler);
    if (!sampler)
        return -ENOMEM;
    sampler->loop = loop;
    sampler->interval_ms = interval_ms;
    snprintf(sampler->status.reason, sizeof sampler->status.reason, "not sampled yet");
    int e = uv_async_init(loop, &sampler->async, on_result);
    if (e) {
        free(sampler);
        return e;
    }
    uv_timer_init(loop, &sampler->timer); /* cannot fail */
    sampler->timer.data = sampler->async.data = sampler;
    sampler->handles = 2;
    uv_unref((uv_handle_t *)&sampler->timer);
    uv_unref((uv_handle_t *)&sampler->async);

    e = exchange_create(&sampler->async, &sampler->exchange);
    if (e == 0) {
        e = start_thread(sampler);
        if (e)
            exchange_free(sampler->exchange);
    }
    if (e) {
        close_handles(sampler);
        return e;
    }
    uv_timer_start(&sampler->timer, on_tick, 0, interval_ms); /* fails only without a callback */
    *ret = sampler;
    return 0;
}

const struct gpu_status *daemon_gpu_sampler_status(const struct gpu_sampler *sampler)
{
    return &sampler->status;
}

void daemon_gpu_sampler_destroy(struct gpu_sampler *sampler)
{
    if (!sampler)
        return;
    struct exchange *exchange = sampler->exchange;
    pthread_mutex_lock(&exchange->lock);
    exchange->quit = true;
    exchange->abandoned = sampler->busy;
    pthread_cond_signal(&exchange->wake);
    pthread_mutex_unlock(&exchange->lock);
    if (sampler->busy) {
        pthread_detach(sampler->thread);
    } else {
        pthread_join(sampler->thread, NULL);
        exchange_free(exchange);
    }
    close_handles(sampler);
}
