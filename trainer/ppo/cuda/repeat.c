#include "trainer/ppo/cuda/repeat.h"

#include <errno.h>
#include <stdio.h>

void ppo_repeat_init(struct repeats *r, const struct repeat_calls *calls, void *ctx)
{
    *r = (struct repeats){.calls = calls, .ctx = ctx};
    for (int i = 0; i < QUEUE_GRAPHS; i++)
        r->graphs[i].how = calls->skips ? REPEAT_SKIPS : REPEAT_GRAPH;
}

bool ppo_repeat_failed(struct repeats *r, int error, const char *reason)
{
    if (!r->recording)
        return false;
    if (!r->failed) {
        r->failed = error;
        snprintf(r->reason, sizeof(r->reason), "%s", reason);
    }
    return true;
}

/* Launch by launch from now on. */
static void give_up(struct repeats *r, int graph, const char *reason)
{
    r->graphs[graph].how = REPEAT_EAGER;
    if (r->notice[0] == '\0')
        snprintf(r->notice, sizeof(r->notice),
                 "the device records no graph (%s): its kernels are launched one by one, which is slower",
                 reason);
}

/* 0, or why there is no recording. */
static int record(struct repeats *r, int graph, const struct repeat_work *work)
{
    char reason[REPEAT_REASON_MAX];
    const uint32_t *stop = r->graphs[graph].how == REPEAT_SKIPS ? work->stop : NULL;
    int error = r->calls->begin(r->ctx, stop, r->reason, sizeof(r->reason));
    if (error < 0)
        return error;
    r->failed = 0;
    r->recording = true;
    work->work(work->ctx);
    r->recording = false;
    error = r->calls->end(r->ctx, graph, r->failed != 0, reason, sizeof(reason));
    if (r->failed) /* which says more than that the recording ended badly */
        return r->failed;
    if (error < 0)
        snprintf(r->reason, sizeof(r->reason), "%s", reason);
    return error;
}

static void record_somehow(struct repeats *r, int graph, const struct repeat_work *work)
{
    int error = record(r, graph, work);
    if (error < 0 && r->graphs[graph].how == REPEAT_SKIPS && work->stop) {
        r->graphs[graph].how = REPEAT_GRAPH;
        error = record(r, graph, work);
    }
    r->graphs[graph].recorded = error == 0;
    if (error < 0)
        give_up(r, graph, r->reason);
}

int ppo_repeat(struct repeats *r, int graph, const struct repeat_work *work, char *reason, size_t cap)
{
    if (!r->graphs[graph].seen || r->graphs[graph].how == REPEAT_EAGER) {
        r->graphs[graph].seen =
            true; /* first without a graph: it loads code, which a recording does not allow */
        work->work(work->ctx);
        return 0;
    }
    if (!r->graphs[graph].recorded)
        record_somehow(r, graph, work);
    int error = 0;
    if (r->graphs[graph].recorded)
        error = r->calls->launch(r->ctx, graph, reason, cap);
    if (error == -ENOMEM) {
        r->calls->drop(r->ctx, graph);
        r->graphs[graph].recorded = false;
        give_up(r, graph, reason);
        error = 0;
    }
    if (error == 0 && !r->graphs[graph].recorded)
        work->work(work->ctx);
    return error;
}

void ppo_repeat_forget(struct repeats *r)
{
    for (int i = 0; i < QUEUE_GRAPHS; i++) {
        if (r->graphs[i].recorded)
            r->calls->drop(r->ctx, i);
        r->graphs[i].recorded = false;
    }
}
