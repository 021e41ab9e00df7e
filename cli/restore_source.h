/* Reads a backup, of which nothing is trusted: a folder, or an archive; or the folder of what an upgrade of
 * the schema kept (db/former.h), which is a state without a manifest. */
#ifndef CLI_RESTORE_SOURCE_H
#define CLI_RESTORE_SOURCE_H

#include <stdatomic.h>

#include "cli/backup_manifest.h"

/* One file, while it is given: its bytes are read in order. */
struct restore_entry {
    const char *name; /* as cli_backup_takes() allows, or BACKUP_MANIFEST */
    int64_t size;
    /* As read(2), never more than `size` in all of an archive; -errno with a sentence in `err`. */
    ssize_t (*read)(struct restore_entry *entry, void *bytes, size_t n);
    void *from;
    int64_t given; /* of an archive: bytes so far */
    int fd;
    char *err;
    size_t err_size;
};

typedef int restore_entry_fn(void *ctx, struct restore_entry *entry);

/* Calls `each` for every file of a backup, once each; one below 0 ends it and is returned, with what it put
 * into err. Refused are names outside of a state, links, devices, folders, names that come twice, and more
 * files than a backup has. 0; -EBADMSG: damaged, or no backup; -errno; with a sentence. */
int cli_restore_read(const char *path, restore_entry_fn *each, void *ctx, char *err, size_t err_size);

#endif
