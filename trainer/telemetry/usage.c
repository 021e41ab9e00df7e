#include "trainer/telemetry/usage.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct usage telemetry_usage_now(void)
{
    return (struct usage){seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)};
}

struct usage telemetry_usage_since(const struct usage *started)
{
    struct usage now = telemetry_usage_now();
    return (struct usage){now.wall_s - started->wall_s, now.cpu_s - started->cpu_s};
}

size_t telemetry_usage_rss(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    int n = fscanf(file, "%*u %llu", &pages);
    fclose(file);
    return n == 1 ? (size_t)pages * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

size_t telemetry_usage_peak_rss(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (size_t)usage.ru_maxrss * 1024 : 0;
}
