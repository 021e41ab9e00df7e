/* Other processes as /proc shows them, and the machine's memory and devices. */
#ifndef TRAINER_SERVE_PROCESS_H
#define TRAINER_SERVE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
    int64_t started;        /* ticks since the boot: with the pid it is one process for ever */
    int64_t resident_bytes; /* resident now */
    double cpu_s;           /* of all its threads, ever */
    double waited_s;        /* of children that ended and were waited for, and of their children */
};

/* false: there is none of that pid, or it is a zombie. */
bool serve_process_look(pid_t pid, struct process *ret);

/* Of all processes of the session that it leads together (shared memory counts once), including those that
 * ended and were waited for; `started` is its own. false: it does not exist. */
bool serve_process_look_session(pid_t pid, struct process *ret);

/* SIGKILL goes to its whole process group, unless that is the caller's; any other signal to it alone. It may
 * be gone already. */
void serve_process_signal(pid_t pid, int number);

/* The id of this boot, "" where the system has none. */
void serve_process_boot(char *ret, size_t size);

/* The process that has the file `path` open as its descriptor 3; 0: none that the caller may inspect. */
pid_t serve_process_holder(const char *path);

/* The memory limit of the machine, or of the control group of this process. -1: unknown. */
int64_t serve_process_memory_limit(void);

/* The ids of GPUs: of $CUDA_VISIBLE_DEVICES where that is set, else 0 … as the driver counts them; none
 * without one. `list`: "auto", "none", or ids with commas. Returns how many; -EINVAL: more than `cap`, or an
 * id that is empty, too long or given twice. */
enum { DEVICE_ID_MAX = 64 };
int serve_devices_find(const char *list, char (*ret)[DEVICE_ID_MAX], int cap);

#endif
