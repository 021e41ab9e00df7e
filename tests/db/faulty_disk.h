/* A disk that fails: a SQLite VFS over the real one that knows, for each file, what a power loss would leave
 * of it.
 *
 * What was written since a file's last sync may be there or not, sector by sector, in any order, and torn; a
 * file that was never synced may be gone; a file that was deleted may be back, until something in its folder
 * was synced. After a sync that failed, what it should have brought to the disk is lost, though it still
 * reads well: so do kernels. */
#ifndef TESTS_DB_FAULTY_DISK_H
#define TESTS_DB_FAULTY_DISK_H

#include <stdbool.h>
#include <stdint.h>

struct faulty_plan {
    uint64_t power_at; /* the write, truncation or sync (1, 2, …) that is not done any more; 0: none */
    uint64_t full_from, full_to; /* of those, the writes that find no room; 0: none */
    uint64_t sync_at;            /* the first sync from this on that fails; 0: none */
    const char *only;            /* files whose names end so; NULL: all */
};

/* Becomes the default VFS. */
void faulty_disk_install(void);

/* Forgets all files, counts from 0, and follows the plan. */
void faulty_disk_begin(const struct faulty_plan *plan);

bool faulty_disk_lost(void);       /* is the power off? Nothing succeeds any more. */
uint64_t faulty_disk_faults(void); /* how many calls failed, before */

/* The power comes back: the files are what the disk has of them, drawn by `seed`; nothing fails now. Every
 * connection must be closed. */
void faulty_disk_restart(uint64_t seed);

#endif
