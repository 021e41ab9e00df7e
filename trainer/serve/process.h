/* Other processes as /proc tells of them, and what memory and devices the machine has. */
#ifndef TRAINER_SERVE_PROCESS_H
#define TRAINER_SERVE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
    int64_t started;        /* ticks since the boot: with the pid it is one process for ever */
    int64_t resident_bytes; /* what it has in memory now */
    double cpu_s;           /* of all its threads, ever */
    double waited_s;        /* of children that ended and were waited for, and theirs */
};

/* false: there is none of that pid, or it is a zombie. */
bool serve_process_look(pid_t pid, struct process *ret);

/* Of all processes of the session that it leads together (memory that they share counts once), those that
 * ended and were waited for among them; `started` is its own. false: it is not there. */
bool serve_process_look_session(pid_t pid, struct process *ret);

/* SIGKILL goes to its whole process group, where that is not the caller's; any other signal to it alone. It
 * may be gone already. */
void serve_process_signal(pid_t pid, int number);

/* The id of this boot, "" where the system does not say. */
void serve_process_boot(char *ret, size_t size);

/* The process that has the file `path` open as its descriptor 3; 0: none that may be looked into. */
pid_t serve_process_holder(const char *path);

/* What the machine, or the control group that this process is in, lets it use. -1: not known. */
int64_t serve_process_memory_limit(void);

/* The ids of GPUs: of $CUDA_VISIBLE_DEVICES where that is set, else 0 … as the driver counts them; none
 * without one. `list`: "auto", "none", or ids with commas. Returns how many; -EINVAL: more than `cap`, or an
 * id that is empty, too long or given twice. */
enum { DEVICE_ID_MAX = 64 };
int serve_devices_find(const char *list, char (*ret)[DEVICE_ID_MAX], int cap);

#endif
