/* Small files of /proc and /sys, as other processes and devices show themselves. Tests have trees of their
 * own: PAPERTAPE_PROCFS and PAPERTAPE_SYSFS name them. */
#ifndef DAEMON_PROCFS_H
#define DAEMON_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROCFS_PATH_MAX = 512, PROCFS_TEXT_MAX = 4096 };

const char *daemon_procfs_root(void); /* "/proc" */
const char *daemon_sysfs_root(void);  /* "/sys" */

/* The beginning of a file, without the newline at its end, NUL-terminated. Its bytes; -errno, and ret is "".
 * Waits for no other process. */
int daemon_procfs_read(const char *path, char *ret, size_t size);

/* A file of a process: "stat", "io", …. Likewise. */
int daemon_procfs_read_of(int64_t pid, const char *name, char *ret, size_t size);

struct procfs_stat { /* proc(5), /proc/PID/stat */
    int64_t parent;
    int64_t started;   /* ticks since the boot: with the number it is one process for ever */
    int64_t cpu_ticks; /* user and system time of all its threads */
    bool kernel;       /* a thread of the kernel: it has no descriptors */
};

/* false: there is no such process, or it is a zombie. */
bool daemon_procfs_stat(int64_t pid, struct procfs_stat *ret);

/* The numbers of all processes, going up: for free(). 0, or -errno: /proc is not there; -ENOMEM. */
int daemon_procfs_processes(int64_t **ret, size_t *ret_n);

#endif
