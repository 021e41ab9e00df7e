/* Puts a backup into a state directory. */
#ifndef CLI_RESTORE_H
#define CLI_RESTORE_H

#include <stdatomic.h>

#include "cli/backup_manifest.h"
#include "db/state.h"

struct restore_result {
    uint64_t event, log_event, ledger_rows;
    int64_t created_ns, bytes;
    int files;
    bool older; /* the database is of an older version: checked as a file, and migrated by the next start */
    char hash[BACKUP_HASH_TEXT];
};

/* Restores the backup at `from`, or what an upgrade of the schema kept there, into the state at `path`, which
 * does not exist or is empty: the list of hashes is compared with all of it first, then it is unpacked beside
 * the state (PATH.papertape-part), what was unpacked is verified, and takes its name once it is on the disk.
 * `paced`: the disk is left to others most of the time. 0; -EEXIST, -EBUSY: the state is not empty, or in
 * use; -EBADMSG: the backup is damaged, or none; -ECANCELED; -errno, with a sentence. On failure there is no
 * state. */
int cli_restore_state(const char *from, const char *path, bool paced, const atomic_bool *stop,
                      struct restore_result *ret, char *err, size_t err_size);

/* The parts. */

/* Compares everything with the manifest, which is the caller's afterwards, and is made of what is found where
 * an upgrade kept it; `room`: of bytes, at most. 0 or as above. */
int cli_restore_check(const char *from, int64_t room, const atomic_bool *stop, struct backup_manifest *ret,
                      char *err, size_t err_size);

/* Writes all files below the open folder; each must be as the manifest says. */
int cli_restore_unpack(const char *from, const struct backup_manifest *manifest, int folder, bool paced,
                       const atomic_bool *stop, char *err, size_t err_size);

/* Is a state what the manifest says? The record and the ledger's hash, the event log, every other database.
 * Sets what it finds in `ret`: older, log_event. */
int cli_restore_verify(const struct state_dir *state, const struct backup_manifest *manifest,
                       struct restore_result *ret, char *err, size_t err_size);

#endif
