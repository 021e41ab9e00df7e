#include "daemon/process_figures.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "daemon/procfs.h"

static double seconds_of(clockid_t clock)
{
    struct timespec time;
    return clock_gettime(clock, &time) == 0 ? (double)time.tv_sec + (double)time.tv_nsec / 1e9 : NAN;
}

static void read_memory(struct process_figures *ret)
{
    char text[128];
    unsigned long long virtual_pages, resident_pages;
    double page = (double)sysconf(_SC_PAGESIZE);
    if (daemon_procfs_read_of(getpid(), "statm", text, sizeof text) <= 0 ||
        sscanf(text, "%llu %llu", &virtual_pages, &resident_pages) != 2)
        return;
    ret->virtual_bytes = (double)virtual_pages * page;
    ret->resident_bytes = (double)resident_pages * page;
}

static double count_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    double n = -3; /* ".", ".." and the folder's own */
    if (!dir)
        return NAN;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* The wall's clock may be set later: it counts at the first call. */
static double start_time(void)
{
    static double start_s;
    struct procfs_stat stat;
    if (start_s == 0)
        start_s = daemon_procfs_stat(getpid(), &stat)
                      ? seconds_of(CLOCK_REALTIME) - seconds_of(CLOCK_BOOTTIME) +
                            (double)stat.started / (double)sysconf(_SC_CLK_TCK)
                      : NAN;
    return start_s;
}

void daemon_process_figures(struct process_figures *ret)
{
    struct rlimit limit;
    *ret = (struct process_figures){.cpu_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID),
                                    .resident_bytes = NAN,
                                    .virtual_bytes = NAN,
                                    .open_fds = count_descriptors(),
                                    .max_fds = NAN,
                                    .start_s = start_time()};
    read_memory(ret);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        ret->max_fds = (double)limit.rlim_cur;
}
