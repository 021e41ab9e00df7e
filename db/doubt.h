/* The database after a write that failed: what the disk has of it, without the page cache
 * (exchange/past_cache.h), is repaired, or found to be lost. Called by the writer's thread only; the
 * connection is closed meanwhile, since closing any descriptor of ours on the file drops SQLite's locks. */
#ifndef DB_DOUBT_H
#define DB_DOUBT_H

#include "db/store.h"

/* Calls to the disk; a test has its own. */
struct db_disk {
    void *ctx;
    /* Writes what differs again; 1: the disk has the whole file, or there is none; 0: it does not; -errno. */
    int (*repair)(void *ctx, const char *path);
    int (*same)(void *ctx, const char *path); /* does it have it? 1, 0 or -errno */
    int (*settle)(void *ctx); /* can the file system write, its own tables too? 0 or -errno; may be NULL */
};

struct db_doubt {
    struct db_store *store;
    const char *path;
    const struct db_disk *disk; /* NULL: the system's, with … */
    int dir;                    /* … a descriptor of the folder, open since before the failure; -1: none */
    void *ctx;                  /* of check */
    /* Is the database sound? As daemon_rebuild_check(): 0; -EBADMSG or -ENOENT with what is wrong; -errno.
     * NULL: SQLite's quick_check decides. */
    int (*check)(void *ctx, char *err, size_t err_size);
    /* The last commit, as the writer remembers it. */
    uint64_t event_seq;
    struct db_counts counts;
};

/* Remembers what is committed now; called after each commit. */
void db_doubt_remember(struct db_doubt *doubt);

/* Writes the log again, moves it into the database, compares both files with the disk, checks them and opens
 * the store again. 0: what was committed is on the disk; -EBADMSG: it is not, the file is damaged, and the
 * store closed; -errno: to be tried again. store->error says why. */
int db_doubt_dispel(struct db_doubt *doubt);

/* After a commit, with the store open: is the write-ahead log on the disk? A SQLite result code. */
int db_doubt_same_log(const struct db_doubt *doubt);

/* After that: has the file system written its own tables as well? A SQLite result code. */
int db_doubt_settle(const struct db_doubt *doubt);

#endif
