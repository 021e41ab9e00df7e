/* A wall clock that stands still: for LD_PRELOAD, the moment of $FIXED_CLOCK, in seconds since 1970; with a
 * "+" behind, one that continues from there when the program starts. */
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static struct timespec started;

static struct timespec monotonic(void)
{
    struct timespec now = {0};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return now;
}

__attribute__((constructor)) static void begin(void)
{
    started = monotonic();
}

static struct timespec moment(void)
{
    const char *text = getenv("FIXED_CLOCK");
    char *end = NULL;
    struct timespec at = {.tv_sec = text ? (time_t)strtol(text, &end, 10) : 0};
    if (!end || *end != '+')
        return at;
    struct timespec now = monotonic();
    at.tv_sec += now.tv_sec - started.tv_sec - (now.tv_nsec < started.tv_nsec);
    at.tv_nsec = now.tv_nsec - started.tv_nsec + (now.tv_nsec < started.tv_nsec ? 1000000000 : 0);
    return at;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *ret)
{
    if (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE)
        return (int)syscall(SYS_clock_gettime, id, ret);
    *ret = moment();
    return 0;
}

__attribute__((visibility("default"))) int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
    (void)zone;
    struct timespec now = moment();
    *ret = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

__attribute__((visibility("default"))) time_t time(time_t *ret)
{
    time_t now = moment().tv_sec;
    if (ret)
        *ret = now;
    return now;
}
