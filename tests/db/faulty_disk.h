/* A disk that fails, below SQLite (a VFS over the real one, faulty_vfs.c) and below the event log (its table
 * of file calls, faulty_files.c). The real files are what the page cache has; beside them it knows, for each
 * file, what a power loss would leave of it.
 *
 * What was written since a file's last sync may be there or not, sector by sector, in any order; names that
 * were given, changed or removed since their folder's last sync may be as before, the later ones first. A
 * sync that fails brings some sectors to the disk and loses the others, though all of it still reads well: so
 * do kernels. A sync may take long: what else happens meanwhile is the caller's. Folders themselves are
 * always there. */
#ifndef TESTS_DB_FAULTY_DISK_H
#define TESTS_DB_FAULTY_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/journal/files.h"

/* Calls that change something are counted: 1, 2, … */
struct faulty_plan {
    uint64_t power_at;           /* the first call that is not done any more; 0: none */
    uint64_t power_sync;         /* the same, counting syncs alone */
    uint64_t full_from, full_to; /* of those, the writes that find no room; 0: none */
    uint64_t sync_at;            /* the first sync from this on that fails; 0: none */
    const char *only;            /* files whose names end so fail; NULL: all */
    uint64_t seed;               /* of what follows, and of what a sync that fails leaves */
    int sync_fails, sync_slow;   /* out of 1000 syncs, so many */
    int sync_lies;       /* of the event log's: they leave what one that fails does, and say nothing */
    int64_t slow_max_ns; /* a slow one takes up to this */
};

/* Callbacks of the disk; each may be NULL. */
struct faulty_owner {
    void *ctx;
    /* A call that changes something: "write", "sync", …, of the file of that name; `r`: what came of it. */
    void (*call)(void *ctx, const char *what, const char *name, int64_t at, const void *bytes, size_t n,
                 int r);
    /* A sync, of the event log or of a database, takes so long: time passes, and the power may go. */
    void (*flushing)(void *ctx, int64_t ns, bool log);
};

/* Becomes SQLite's default VFS. */
void faulty_disk_install(void);
/* The event log's calls. */
extern const struct journal_files faulty_disk_files;
void faulty_disk_owner(const struct faulty_owner *owner);

/* Forgets all files, none of which is open, counts from 0, and follows the plan. */
void faulty_disk_begin(const struct faulty_plan *plan);
/* Counts from 0 and follows another plan; what is not synced stays so. */
void faulty_disk_resume(const struct faulty_plan *plan);

bool faulty_disk_lost(void);       /* is the power off? Nothing succeeds any more. */
uint64_t faulty_disk_calls(void);  /* how many there were, */
uint64_t faulty_disk_faults(void); /* and how many failed, before the power did */

/* Does the disk surely have these bytes, in one place of one of the files whose names end so? */
bool faulty_disk_holds(const char *end, const void *bytes, size_t n);

/* The power comes back: the files are what the disk has of them, drawn by `seed`; nothing fails now. Every
 * connection must be closed. */
void faulty_disk_restart(uint64_t seed);
/* Not the power, the process went: the page cache stays, and what is not synced stays so. */
void faulty_disk_killed(void);

#endif
