#include "daemon/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int64_t resident_bytes(void)
{
    char text[128];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n < 0 ? 0 : n] = '\0';
    long long pages; /* the second figure */
    return sscanf(text, "%*d %lld", &pages) == 1 ? pages * sysconf(_SC_PAGESIZE) : -1;
}

static int64_t cpu_ns(void)
{
    struct timespec used;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0)
        return -1;
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static int open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return -1;
    int n = 0;
    for (const struct dirent *entry; (entry = readdir(dir));)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n - 1; /* the directory's own descriptor */
}

void daemon_process_usage(struct process_usage *ret)
{
    *ret = (struct process_usage){
        .resident_bytes = resident_bytes(),
        .cpu_ns = cpu_ns(),
        .files = open_files(),
    };
}
