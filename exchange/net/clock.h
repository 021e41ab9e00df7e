/* The two clocks, and from one to the other. Only what talks to a venue reads them: nothing that decides. */
#ifndef EXCHANGE_NET_CLOCK_H
#define EXCHANGE_NET_CLOCK_H

#include <stdint.h>
#include <time.h>
#include <uv.h>

/* Monotonic. */
static inline int64_t clock_now_ms(void)
{
    return (int64_t)(uv_hrtime() / 1000000);
}

/* Nanoseconds since 1970, UTC. */
static inline int64_t clock_wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The monotonic time of a moment of the wall's clock, not before now. */
static inline int64_t clock_ms_of_wall(int64_t wall_ns)
{
    int64_t left_ns = wall_ns - clock_wall_ns();
    return clock_now_ms() + (left_ns > 0 ? left_ns / 1000000 + 1 : 0);
}

/* The moment of the wall's clock of a monotonic time. */
static inline int64_t clock_wall_of_ms(int64_t ms)
{
    return clock_wall_ns() + (ms - clock_now_ms()) * 1000000;
}

#endif
