/* What processes use, by /proc: this one, and those that belong to it, each by its role. */
#ifndef DAEMON_PROCESS_H
#define DAEMON_PROCESS_H

#include <stdint.h>
#include <uv.h>

#include "record/device.h"

/* ---- process_meter.c: between two readings ---- */

enum { PROCESS_ROLES_MAX = 66 }; /* the daemon, the co-process, 64 trainings */

/* A process and what it is: "daemon", "trainer", or the name of a training whose worker it is. */
struct process_role {
    char role[PROCESS_ROLE_MAX];
    int64_t pid;
};

struct process_meter;

struct process_meter *daemon_process_meter_create(void); /* NULL without memory */
void daemon_process_meter_destroy(struct process_meter *meter);

/* Reads all of /proc: some milliseconds, off the loop. Of at most PROCESS_ROLES_MAX roles, ret[i] for
 * roles[i]. Each process counts for the first role among itself and its ancestors: a worker's descendants
 * count with it, and the worker not with the co-process. Use is a difference: NaN in the first call, of the
 * disk in a role's first one; what a process used after the call before it ended is not seen. Memory that a
 * descendant shares counts with the role's own process alone. All of a role without a living process is NaN,
 * and the disk of one that may not be read. `now_ns` is monotonic. */
void daemon_process_meter_sample(struct process_meter *meter, int64_t now_ns,
                                 const struct process_role roles[], int n, struct process_sample ret[]);

/* The first role among a process and its ancestors, as for a process on a device; NULL: none of them has one.
 * Some reads of /proc. */
const char *daemon_process_role_of(const struct process_role roles[], int n, int64_t pid);

/* ---- process_sampler.c: the same, off the loop ---- */

struct process_samples {
    struct process_sample processes[PROCESS_ROLES_MAX];
    int n;
    int64_t sampled_ns; /* the wall's; 0: none yet */
    uint64_t samples;   /* that came back */
};

struct process_sampler;

struct process_sampler *daemon_process_sampler_create(uv_loop_t *loop); /* NULL without memory */

/* Starts a sample on one of libuv's threads, unless one is under way. 0 or -errno: -EBUSY; -EINVAL:
 * more roles than there may be. */
int daemon_process_sampler_ask(struct process_sampler *sampler, const struct process_role roles[], int n);

/* The last that came back; belongs to the sampler and changes only when the loop turns. */
const struct process_samples *daemon_process_sampler_last(const struct process_sampler *sampler);

/* Frees itself once no sample is under way. NULL is fine. */
void daemon_process_sampler_destroy(struct process_sampler *sampler);

#endif
