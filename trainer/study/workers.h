/* How many workers a study has, where nobody says. Pure. */
#ifndef TRAINER_STUDY_WORKERS_H
#define TRAINER_STUDY_WORKERS_H

#include <stdint.h>

/* On the CPU one a core, each with one thread, as far as memory goes: `each_bytes` of a worker beside what
 * all have together; on devices `a_device` on each. At least 1, at most as many as trials are `left`. */
struct study_workers_room {
    int cores, n_devices, a_device, left;
    int64_t memory_bytes, shared_bytes, each_bytes; /* memory_bytes -1: not known */
};
int study_workers_fit(const struct study_workers_room *room);

#endif
