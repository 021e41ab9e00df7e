#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/process.h"
#include "exchange/clock.h"

struct process_sampler {
    uv_loop_t *loop;
    uv_work_t work;
    bool busy, destroyed;
    struct process_meter *meter; /* the thread's while it is busy, as what follows */
    struct process_role roles[PROCESS_ROLES_MAX];
    struct process_samples next;
    struct process_samples last; /* the loop's */
};

struct process_sampler *daemon_process_sampler_create(uv_loop_t *loop)
{
    struct process_sampler *sampler = calloc(1, sizeof *sampler);
    if (!sampler || !(sampler->meter = daemon_process_meter_create())) {
        free(sampler);
        return NULL;
    }
    sampler->loop = loop;
    sampler->work.data = sampler;
    return sampler;
}

static void finish(struct process_sampler *sampler)
{
    daemon_process_meter_destroy(sampler->meter);
    free(sampler);
}

static void on_thread(uv_work_t *work)
{
    struct process_sampler *sampler = work->data;
    sampler->next.sampled_ns = clock_wall_ns();
    daemon_process_meter_sample(sampler->meter, clock_now_ns(), sampler->roles, sampler->next.n,
                                sampler->next.processes);
}

static void on_done(uv_work_t *work, int status)
{
    struct process_sampler *sampler = work->data;
    sampler->busy = false;
    if (sampler->destroyed) {
        finish(sampler);
        return;
    }
    if (status < 0)
        return;
    sampler->next.samples = sampler->last.samples + 1;
    sampler->last = sampler->next;
}

int daemon_process_sampler_ask(struct process_sampler *sampler, const struct process_role roles[], int n)
{
    if (sampler->busy)
        return -EBUSY;
    if (n < 0 || n > PROCESS_ROLES_MAX)
        return -EINVAL;
    if (n > 0)
        memcpy(sampler->roles, roles, (size_t)n * sizeof *roles);
    sampler->next.n = n;
    int e = uv_queue_work(sampler->loop, &sampler->work, on_thread, on_done);
    sampler->busy = e == 0;
    return e;
}

const struct process_samples *daemon_process_sampler_last(const struct process_sampler *sampler)
{
    return &sampler->last;
}

void daemon_process_sampler_destroy(struct process_sampler *sampler)
{
    if (!sampler)
        return;
    sampler->destroyed = true;
    if (sampler->busy)
        (void)uv_cancel((uv_req_t *)&sampler->work); /* it is called back either way */
    else
        finish(sampler);
}
