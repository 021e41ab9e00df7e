/* What this process uses, for the telemetry. */
#ifndef DAEMON_PROCESS_H
#define DAEMON_PROCESS_H

#include <stdint.h>

/* -1 where the system does not say. */
struct process_usage {
    int64_t resident_bytes; /* /proc/self/statm */
    int64_t cpu_ns;         /* user and system time of all threads, since the start */
    int files;              /* open file descriptors */
};

/* A few system calls, no allocation to speak of: fit for the loop once a second. */
void daemon_process_usage(struct process_usage *ret);

#endif
