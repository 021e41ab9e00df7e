#include "trainer/report/trace.h"

#include <stdlib.h>
#include <string.h>

enum { ACTIONS, FILLS, TRADES, FIRST = 256 };

/* Room for `more` elements behind the n that *list has. */
static bool make_room(struct trainer_trace *trace, int which, void **list, size_t n, size_t more, size_t size)
{
    size_t cap = trace->caps[which];
    if (n + more <= cap)
        return true;
    cap = 2 * cap > n + more ? 2 * cap : n + more + FIRST;
    void *moved = reallocarray(*list, cap, size);
    if (!moved) {
        trace->failed = true;
        return false;
    }
    *list = moved;
    trace->caps[which] = cap;
    return true;
}

static void begins(void *ctx, const struct env *env)
{
    ((struct trainer_trace *)ctx)->n_actions = env_action_size(env);
}

static void stepped(void *ctx, const struct env *env, const float *actions, float reward, bool done)
{
    struct trainer_trace *trace = ctx;
    size_t n = (size_t)trace->n_actions, at = trace->n_steps * n;
    void *list = trace->actions;
    (void)env, (void)reward, (void)done;
    if (make_room(trace, ACTIONS, &list, at, n, sizeof *actions)) {
        trace->actions = list;
        memcpy(trace->actions + at, actions, n * sizeof *actions);
        trace->n_steps++;
    }
}

static void traded(void *ctx, const struct env_trade *trade)
{
    struct trainer_trace *trace = ctx;
    void *list = trace->fills;
    if (make_room(trace, FILLS, &list, trace->n_fills, 1, sizeof *trace->fills)) {
        trace->fills = list;
        trace->fills[trace->n_fills++] =
            (struct trainer_fill){trade->row, trade->asset, trade->at_open, trade->qty, trade->price};
    }
}

static void closed(void *ctx, const struct training_trade *trade)
{
    struct trainer_trace *trace = ctx;
    void *list = trace->trades;
    if (make_room(trace, TRADES, &list, trace->n_trades, 1, sizeof *trade)) {
        trace->trades = list;
        trace->trades[trace->n_trades++] = *trade;
    }
}

struct training_calls trainer_trace_calls(struct trainer_trace *trace)
{
    return (struct training_calls){trace, begins, stepped, traded, closed};
}

void trainer_trace_finish(struct trainer_trace *trace)
{
    free(trace->actions);
    free(trace->fills);
    free(trace->trades);
    *trace = (struct trainer_trace){0};
}
