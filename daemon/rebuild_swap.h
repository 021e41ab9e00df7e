/* The files of a database that is built again. Their names, in the order in which they come about; DATE is
 * the rebuild's moment:
 *
 *   papertape.db.rebuilding     what is being built; a start removes it
 *   papertape.db.rebuilt-DATE   it is whole and on the disk; a start finishes what follows
 *   papertape.db.former-DATE    the former file, after its -wal and -shm
 *   papertape.db                the new one
 *   papertape.db.unsound-DATE   what was built and does not verify: never used
 */
#ifndef DAEMON_REBUILD_SWAP_H
#define DAEMON_REBUILD_SWAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/state.h"

enum { REBUILD_PATH_MAX = STATE_PATH_MAX + 64 };

struct rebuild_paths {
    char building[REBUILD_PATH_MAX], built[REBUILD_PATH_MAX], aside[REBUILD_PATH_MAX],
        unsound[REBUILD_PATH_MAX];
};

/* Writes "PATH: what it means" of r, a -errno, into err. Returns r. */
int daemon_rebuild_fail(int r, char *err, size_t err_size, const char *path);

/* Is there a file, a link, anything of that name? */
bool daemon_rebuild_there(const char *path);

/* By a date under which nothing is there yet. 0 or -errno. */
int daemon_rebuild_paths_choose(const struct state_dir *state, int64_t now_ns, struct rebuild_paths *ret);

/* A database with its -wal, -shm and -journal; what is not there is no error. 0 or -errno. */
int daemon_rebuild_remove(const char *path);

/* What was built is synced, without a log beside it, and takes the name that says that it is whole. 0; -EBUSY
 * where its log is not empty; -errno. */
int daemon_rebuild_seal(const struct state_dir *state, const struct rebuild_paths *paths, char *err,
                        size_t err_size);

/* The former database goes aside, and what was built takes its place. 0 or -errno: daemon_rebuild_finish() of
 * daemon/rebuild.h continues from any moment of it. */
int daemon_rebuild_swap(const struct state_dir *state, const struct rebuild_paths *paths);

#endif
