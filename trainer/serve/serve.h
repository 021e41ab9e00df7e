/* The co-process: a queue of trainings, the workers that run them, and the socket for commands. docs/serve.md
 * is its contract. One loop, one owner; it never blocks except on its small files. */
#ifndef TRAINER_SERVE_SERVE_H
#define TRAINER_SERVE_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "trainer/serve/process.h"

enum { SERVE_ERROR_MAX = 1024, SERVE_PROTOCOL = 1 };

struct serve_options {
    const char *state, *socket;     /* directory; path */
    const char *outputs;            /* folders in addition to the state's, separated by commas; NULL: none */
    const char *program;            /* run as `PROGRAM train …` */
    char (*devices)[DEVICE_ID_MAX]; /* their ids; borrowed, as all here */
    int n_devices, cpu_slots;       /* at most SCHEDULE_DEVICES_MAX; at least 1 */
    int64_t memory_mib;             /* of all workers together */
    int64_t worker_memory_mib;      /* of a training whose configuration sets none; at most the former */
    int64_t idle_ms, grace_ms, retry_ms; /* idle 0: it never ends for idleness */
    void (*log)(const char *words);      /* events that no client waits for: a line of the log */
};

/* Serves until a SIGTERM or SIGINT, or until it was idle for idle_ms. 0; -EBUSY: another one serves this
 * state directory; or -errno; with a sentence. */
int serve_run(const struct serve_options *options, char err[static SERVE_ERROR_MAX]);

#endif
