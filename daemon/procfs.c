#include "daemon/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PF_KTHREAD = 0x00200000 }; /* of the flags in /proc/PID/stat: linux/sched.h */

static const char *root_of(const char *variable, const char *usual)
{
    const char *own = getenv(variable);
    return own ? own : usual;
}

const char *daemon_procfs_root(void)
{
    return root_of("PAPERTAPE_PROCFS", "/proc");
}

const char *daemon_sysfs_root(void)
{
    return root_of("PAPERTAPE_SYSFS", "/sys");
}

static ssize_t read_all(int fd, char *ret, size_t size)
{
    size_t n = 0;
    for (ssize_t got; n < size; n += (size_t)got) {
        got = read(fd, ret + n, size - n);
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
    }
    return (ssize_t)n;
}

int daemon_procfs_read(const char *path, char *ret, size_t size)
{
    ret[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    ssize_t n = read_all(fd, ret, size - 1);
    close(fd);
    if (n > 0 && ret[n - 1] == '\n')
        n--;
    ret[n < 0 ? 0 : n] = '\0';
    return (int)n;
}

int daemon_procfs_read_of(int64_t pid, const char *name, char *ret, size_t size)
{
    char path[PROCFS_PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%jd/%s", daemon_procfs_root(), (intmax_t)pid, name);
    ret[0] = '\0';
    return n < (int)sizeof path ? daemon_procfs_read(path, ret, size) : -ENAMETOOLONG;
}

bool daemon_procfs_stat(int64_t pid, struct procfs_stat *ret)
{
    char text[PROCFS_TEXT_MAX], state;
    if (daemon_procfs_read_of(pid, "stat", text, sizeof text) <= 0)
        return false;
    const char *close = strrchr(text, ')'); /* its name may hold anything */
    if (!close)
        return false;
    long long parent, user, system, started;
    unsigned flags;
    if (sscanf(close + 1,
               " %c %lld %*d %*d %*d %*d %u %*u %*u %*u %*u %lld %lld %*d %*d %*d %*d %*d %*d %lld", &state,
               &parent, &flags, &user, &system, &started) != 6 ||
        state == 'Z' || state == 'X')
        return false;
    *ret = (struct procfs_stat){.parent = parent,
                                .started = started,
                                .cpu_ticks = (int64_t)((uint64_t)user + (uint64_t)system),
                                .kernel = flags & PF_KTHREAD};
    return true;
}

static int64_t number(const char *text)
{
    int64_t pid = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        if ((pid = pid * 10 + (*text - '0')) > INT32_MAX)
            return 0;
    return *text ? 0 : pid;
}

static int compare(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int list(DIR *dir, int64_t **ret, size_t *ret_n)
{
    int64_t *all = NULL;
    size_t n = 0, cap = 0;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        int64_t pid = number(entry->d_name);
        if (pid <= 0)
            continue;
        if (n == cap) {
            cap = cap ? 2 * cap : 512;
            int64_t *more = realloc(all, cap * sizeof *all);
            if (!more) {
                free(all);
                return -ENOMEM;
            }
            all = more;
        }
        all[n++] = pid;
    }
    if (n > 0)
        qsort(all, n, sizeof *all, compare);
    *ret = all;
    *ret_n = n;
    return 0;
}

int daemon_procfs_processes(int64_t **ret, size_t *ret_n)
{
    DIR *dir = opendir(daemon_procfs_root());
    if (!dir)
        return -errno;
    int e = list(dir, ret, ret_n);
    closedir(dir);
    return e;
}
