#include "trainer/serve/process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A small file's text; false: it cannot be read. */
static bool read_small(const char *path, char *ret, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, ret, size - 1);
    close(fd);
    ret[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* Reads proc(5) of a process; ret_session: its session. */
static bool look(pid_t pid, struct process *ret, pid_t *ret_session)
{
    char path[64], text[1024], state;
    int session;
    long long pages, child_user, child_system;
    unsigned long long started, user, system;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (pid <= 0 || !read_small(path, text, sizeof text))
        return false;
    const char *rest = strrchr(text, ')'); /* the name may contain any character */
    /* state is the third field, session the 6th, utime the 14th, cutime the 16th, starttime the 22nd, rss the
     * 24th */
    if (!rest || sscanf(rest + 1,
                        " %c %*d %*d %d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld %*d %*d %*d %*d %llu "
                        "%*u %lld",
                        &state, &session, &user, &system, &child_user, &child_system, &started, &pages) != 8)
        return false;
    if (state == 'Z' || state == 'X')
        return false;
    *ret = (struct process){.started = (int64_t)started,
                            .resident_bytes = pages * sysconf(_SC_PAGESIZE),
                            .cpu_s = (double)(user + system) / (double)sysconf(_SC_CLK_TCK),
                            .waited_s = (double)(child_user + child_system) / (double)sysconf(_SC_CLK_TCK)};
    *ret_session = session;
    return true;
}

bool serve_process_look(pid_t pid, struct process *ret)
{
    pid_t session;
    return look(pid, ret, &session);
}

/* Its memory, with shared pages divided among the processes that share them: children share most of theirs.
 * Where the system does not report that, all of it. */
static int64_t proportional(pid_t pid, int64_t resident)
{
    char path[64], text[2048];
    long long kib;
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    const char *line = read_small(path, text, sizeof text) ? strstr(text, "\nPss:") : NULL;
    return line && sscanf(line, "\nPss: %lld kB", &kib) == 1 ? (int64_t)kib << 10 : resident;
}

bool serve_process_look_session(pid_t pid, struct process *ret)
{
    struct process sum, one;
    pid_t session;
    DIR *all = look(pid, &sum, &session) ? opendir("/proc") : NULL;
    if (!all)
        return false;
    sum.cpu_s += sum.waited_s;
    sum.resident_bytes = proportional(pid, sum.resident_bytes);
    for (struct dirent *entry; (entry = readdir(all));) {
        pid_t other = isdigit((unsigned char)entry->d_name[0]) ? (pid_t)strtol(entry->d_name, NULL, 10) : 0;
        if (other <= 0 || other == pid || !look(other, &one, &session) || session != pid)
            continue;
        sum.resident_bytes += proportional(other, one.resident_bytes);
        sum.cpu_s += one.cpu_s + one.waited_s;
    }
    closedir(all);
    *ret = sum;
    return true;
}

void serve_process_signal(pid_t pid, int number)
{
    pid_t group = number == SIGKILL ? getpgid(pid) : 0;
    (void)kill(group > 0 && group != getpgrp() ? -group : pid, number);
}

void serve_process_boot(char *ret, size_t size)
{
    char text[64] = "";
    if (!read_small("/proc/sys/kernel/random/boot_id", text, sizeof text))
        text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    snprintf(ret, size, "%.*s", (int)size - 1, text);
}

pid_t serve_process_holder(const char *path)
{
    struct stat wanted, held;
    char name[64];
    pid_t found = 0;
    DIR *all = stat(path, &wanted) == 0 ? opendir("/proc") : NULL;
    if (!all)
        return 0;
    for (struct dirent *entry; !found && (entry = readdir(all));) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        snprintf(name, sizeof name, "/proc/%.20s/fd/3", entry->d_name);
        if (stat(name, &held) == 0 && held.st_dev == wanted.st_dev && held.st_ino == wanted.st_ino)
            found = (pid_t)strtol(entry->d_name, NULL, 10);
    }
    closedir(all);
    return found;
}

/* ---- Memory. ---- */

static int64_t machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    return pages > 0 ? (int64_t)pages * sysconf(_SC_PAGESIZE) : -1;
}

/* The smallest memory.max of its cgroup (v2) and of the parents. */
static int64_t group_memory(void)
{
    char text[4096], group[PATH_MAX], path[PATH_MAX + 64], number[32];
    int64_t least = -1;
    if (!read_small("/proc/self/cgroup", text, sizeof text))
        return -1;
    const char *own = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    if (!own)
        return -1;
    own = strchr(own, '/');
    snprintf(group, sizeof group, "%.*s", own ? (int)strcspn(own, "\n") : 0, own ? own : "");
    for (;;) {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
        if (read_small(path, number, sizeof number) && isdigit((unsigned char)number[0])) {
            int64_t bytes = strtoll(number, NULL, 10);
            if (least < 0 || bytes < least)
                least = bytes;
        }
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

int64_t serve_process_memory_limit(void)
{
    int64_t machine = machine_memory(), group = group_memory();
    return group >= 0 && (machine < 0 || group < machine) ? group : machine;
}

/* ---- Devices. ---- */

static int split(const char *list, char (*ret)[DEVICE_ID_MAX], int cap)
{
    int n = 0;
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");
        if (length == 0 || length >= DEVICE_ID_MAX || n == cap)
            return -EINVAL;
        snprintf(ret[n], DEVICE_ID_MAX, "%.*s", (int)length, at);
        for (int i = 0; i < n; i++)
            if (strcmp(ret[i], ret[n]) == 0)
                return -EINVAL;
        n++;
        at += length;
        if (!*at)
            return n;
    }
}

static int count_driver(char (*ret)[DEVICE_ID_MAX], int cap)
{
    int n = 0;
    DIR *gpus = opendir("/proc/driver/nvidia/gpus");
    if (!gpus)
        return 0;
    for (struct dirent *entry; (entry = readdir(gpus));)
        if (entry->d_name[0] != '.' && n < cap) {
            snprintf(ret[n], DEVICE_ID_MAX, "%d", n);
            n++;
        }
    closedir(gpus);
    return n;
}

int serve_devices_find(const char *list, char (*ret)[DEVICE_ID_MAX], int cap)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (strcmp(list, "none") == 0)
        return 0;
    if (strcmp(list, "auto") != 0)
        return split(list, ret, cap);
    if (!visible)
        return count_driver(ret, cap);
    return *visible && strcmp(visible, "-1") != 0 ? split(visible, ret, cap) : 0;
}
