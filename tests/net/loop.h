/* Running a loop until something has happened. */
#ifndef TESTS_NET_LOOP_H
#define TESTS_NET_LOOP_H

#include <stdbool.h>
#include <uv.h>

#include "exchange/net/context.h"
#include "tests/check.h"

enum {
    DEADLINE_MS = 60000,
    TURN_MS = 20, /* a turn of the loop sleeps no longer: what timers alone did is seen then */
};

static inline void loop_turn(uv_timer_t *timer)
{
    (void)timer;
}

/* Turns the loop until *done, or the deadline: then false. */
static inline bool loop_until(uv_loop_t *loop, const bool *done)
{
    uint64_t end_ns = uv_hrtime() + DEADLINE_MS * UINT64_C(1000000);
    uv_timer_t timer;
    uv_timer_init(loop, &timer);
    uv_timer_start(&timer, loop_turn, TURN_MS, TURN_MS);
    while (!*done && uv_hrtime() < end_ns)
        uv_run(loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(loop, UV_RUN_NOWAIT);
    return *done;
}

static inline void loop_flag(void *user)
{
    *(bool *)user = true;
}

static inline struct net_context *loop_net(uv_loop_t *loop, const char *ca_file, int ping_s, int hangup_s)
{
    char error[NET_ERROR_MAX];
    struct net_context *net = NULL;
    const struct net_config config = {
        .loop = loop, .ca_file = ca_file, .ping_s = ping_s, .hangup_s = hangup_s};
    int r = net_context_create(&config, &net, error);
    if (r < 0) {
        fprintf(stderr, "net_context_create: %s\n", error);
        exit(EXIT_FAILURE);
    }
    return net;
}

/* Stops the context; the loop must then run out by itself and close. */
static inline void loop_end(uv_loop_t *loop, struct net_context *net)
{
    bool stopped = false;
    net_context_stop(net, loop_flag, &stopped);
    CHECK(loop_until(loop, &stopped));
    uv_run(loop, UV_RUN_DEFAULT);
    CHECK_INT(uv_loop_close(loop), 0);
}

#endif
