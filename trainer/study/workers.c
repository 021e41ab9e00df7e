
#include "trainer/study/pool.h"

/* Share of the machine's memory; the rest is for the daemon and the system. */
#define MEMORY_SHARE 0.8

int study_workers_fit(const struct study_workers_room *room)
{
    int64_t n = room->n_devices > 0 ? (int64_t)room->n_devices * room->a_device : room->cores;
    if (room->memory_bytes >= 0 && room->each_bytes > 0) {
        int64_t fit =
            ((int64_t)(MEMORY_SHARE * (double)room->memory_bytes) - room->shared_bytes) / room->each_bytes;
        n = fit < n ? fit : n;
    }
    n = n < room->left ? n : room->left;
    n = n < POOL_MAX ? n : POOL_MAX;
    return n < 1 ? 1 : (int)n;
}
