/* The machine's clocks, and conversions between them. Code that talks to a venue, a disk or a person, or
 * that measures durations, reads them: code that decides never does. None of them fails. */
#ifndef EXCHANGE_CLOCK_H
#define EXCHANGE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ns_of(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The wall's: nanoseconds since 1970, UTC; steps when it is set. */
static inline int64_t clock_wall_ns(void)
{
    return clock_ns_of(CLOCK_REALTIME);
}

/* Never steps, and counts a suspend. */
static inline int64_t clock_boot_ns(void)
{
    return clock_ns_of(CLOCK_BOOTTIME);
}

/* Monotonic: never steps, and does not count a suspend; the same clock as uv_hrtime()'s. */
static inline int64_t clock_now_ns(void)
{
    return clock_ns_of(CLOCK_MONOTONIC);
}

static inline int64_t clock_now_ms(void)
{
    return clock_now_ns() / 1000000;
}

static inline double clock_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* For a worker that its owner steps by hand, where usually a thread works by the machine's clock: the
 * owner's time. So a test has one thread, and everything happens in the same order twice. */
struct clock_stepped {
    void *ctx;
    int64_t (*now_ns)(void *ctx); /* monotonic */
    /* A call waits for the worker, which has nothing to do before that moment: lets time pass until then. */
    void (*pass)(void *ctx, int64_t until_ns);
};

/* Whole seconds since 1970, before it too. */
static inline int64_t clock_whole_s(int64_t ns)
{
    return ns / 1000000000 - (ns % 1000000000 < 0);
}

/* A moment of the wall's clock to the second, as 2026-11-22T14:00:00Z; "" where no calendar reaches. Returns
 * ret. */
enum { CLOCK_TEXT_MAX = 32 };
static inline char *clock_utc_text(int64_t ns, char ret[static CLOCK_TEXT_MAX])
{
    struct tm utc;
    time_t seconds = (time_t)clock_whole_s(ns);
    if (!gmtime_r(&seconds, &utc) || strftime(ret, CLOCK_TEXT_MAX, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        ret[0] = '\0';
    return ret;
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
