/* The co-process: a queue of trainings, the workers that do them, and the socket by which it is asked.
 * docs/serve.md is what it promises. One loop, one owner; it waits for nothing but its small files. */
#ifndef TRAINER_SERVE_SERVE_H
#define TRAINER_SERVE_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "trainer/serve/process.h"

enum { SERVE_ERROR_MAX = 1024, SERVE_PROTOCOL = 1 };

struct serve_options {
    const char *state, *socket;          /* directory; path */
    const char *outputs;                 /* folders beside the state's, with commas; NULL: none */
    const char *program;                 /* run as `PROGRAM train …` */
    char (*devices)[DEVICE_ID_MAX];      /* their ids; borrowed, as all here */
    int n_devices, cpu_slots;            /* at most SCHEDULE_DEVICES_MAX; at least 1 */
    int64_t memory_mib;                  /* of all workers together */
    int64_t worker_memory_mib;           /* of one whose configuration does not say; at most the former */
    int64_t idle_ms, grace_ms, retry_ms; /* idle 0: it stays */
    void (*tell)(const char *words);     /* of what has no client to be told: a line of the log */
};

/* Serves until a SIGTERM or SIGINT, or until it was idle for idle_ms. 0; -EBUSY: another one serves this
 * state directory; or -errno; with a sentence. */
int serve_run(const struct serve_options *options, char err[static SERVE_ERROR_MAX]);

#endif
