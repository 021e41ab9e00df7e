/* The schedule: trainings by priority and age, one a device or CPU slot, all within the promised memory.
 * Pure: no clock, no process. */
#ifndef TRAINER_SERVE_SCHEDULE_H
#define TRAINER_SERVE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCHEDULE_DEVICES_MAX = 64, SCHEDULE_CPU = -1 };

struct schedule_item {
    int priority;
    int64_t created_ns; /* of equal priority the older goes first */
    bool waits;         /* it may be started now */
    bool runs;          /* it has a worker: device and memory_mib are taken */
    bool stopping;      /* that worker was asked to end */
    bool on_device;     /* it wants a device, where there is one; else a CPU slot */
    int device;         /* of one that runs: which, or SCHEDULE_CPU */
    int64_t memory_mib; /* promised to it */
};

struct schedule_room {
    int devices;   /* 0 to SCHEDULE_DEVICES_MAX; with none all take CPU slots */
    int cpu_slots; /* 1 or more */
    int64_t memory_mib;
};

enum schedule_act { SCHEDULE_NOTHING, SCHEDULE_START, SCHEDULE_PAUSE };
struct schedule_step {
    enum schedule_act act;
    size_t item;
    int device; /* of SCHEDULE_START */
};

/* The next step; after it the caller asks again, until there is none. A training that waits for memory holds
 * back all that rank below it, so that small ones cannot keep a large one waiting for ever; one that waits
 * for a device holds back those that want a device too. The lowest that ranks below in priority, the youngest
 * of these, is paused for it, and only where that helps. */
struct schedule_step serve_schedule_next(const struct schedule_item *items, size_t n,
                                         const struct schedule_room *room);

/* The pause before restart number `restarts` (1, 2, …) in a row: first_ms doubled each time, to 5 min. */
int64_t serve_schedule_retry_ms(int restarts, int64_t first_ms);

/* How long a worker may take to end when it is asked: three times its longest iteration and checkpoint so
 * far, at least 10 s, at most `most_ms`; also that where there was none yet (< 0). */
int64_t serve_schedule_grace_ms(double iteration_s, double checkpoint_s, int64_t most_ms);

/* How long a state may last before the worker counts as stalled, though it sends heartbeats: ten times the
 * longest of its kind so far, at least a minute; half an hour where there was none yet (< 0). */
double serve_schedule_state_limit_s(double longest_s);

#endif
