#include "exchange/net/control_turn.h"

#include <stdbool.h>

enum { CLIENTS = 64 };

unsigned control_turn_next(uint64_t ready, unsigned last)
{
    uint64_t later = last + 1 < CLIENTS ? ready & (UINT64_MAX << (last + 1)) : 0;
    if (later)
        return (unsigned)__builtin_ctzll(later);
    return ready ? (unsigned)__builtin_ctzll(ready) : CLIENTS;
}

/* Has it more? */
static bool serve(const struct control_turn_hooks *hooks, void *ctx, unsigned client)
{
    int64_t end_ns = hooks->now_ns(ctx) + CONTROL_TURN_CLIENT_NS;
    enum control_step step = CONTROL_STEP_NONE;
    for (unsigned requests = 0; requests < CONTROL_TURN_REQUESTS;) {
        step = hooks->step(ctx, client);
        requests += step == CONTROL_STEP_REQUEST;
        if (step == CONTROL_STEP_NONE || hooks->now_ns(ctx) >= end_ns)
            break;
    }
    hooks->leave(ctx, client);
    return step != CONTROL_STEP_NONE;
}

uint64_t control_turn_run(const struct control_turn_hooks *hooks, void *ctx, uint64_t ready, unsigned *last)
{
    int64_t end_ns = hooks->now_ns(ctx) + CONTROL_TURN_NS;
    uint64_t more = 0;
    while (ready) {
        unsigned client = control_turn_next(ready, *last);
        ready &= ~(UINT64_C(1) << client);
        *last = client;
        if (serve(hooks, ctx, client))
            more |= UINT64_C(1) << client;
        if (hooks->now_ns(ctx) >= end_ns)
            break;
    }
    return ready | more;
}
