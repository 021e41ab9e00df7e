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

/* Does a file, a link or anything else of that name exist? */
bool daemon_rebuild_there(const char *path);

/* Chooses paths with a date under which nothing exists yet. 0 or -errno. */
int daemon_rebuild_paths_choose(const struct state_dir *state, int64_t now_ns, struct rebuild_paths *ret);

/* Removes a database with its -wal, -shm and -journal; a missing one is no error. 0 or -errno. */
int daemon_rebuild_remove(const char *path);

/* Syncs what was built, without a WAL beside it, and renames it to the name that says it is complete. 0;
 * -EBUSY where its WAL is not empty; -errno. */
int daemon_rebuild_seal(const struct state_dir *state, const struct rebuild_paths *paths, char *err,
                        size_t err_size);

/* Moves the former database aside, and what was built into its place. 0 or -errno: daemon_rebuild_finish()
 * of daemon/rebuild.h continues from any point of it. */
int daemon_rebuild_swap(const struct state_dir *state, const struct rebuild_paths *paths);

#endif
