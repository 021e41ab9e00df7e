/* Where a backup is written: a folder, or an archive (tar, compressed with zstd). Both are written into the
 * folder PATH.papertape-part, and get their name once they are complete and on the disk: no name ever stands
 * for a half one. A later backup of that name removes one that a killed one left. */
#ifndef CLI_BACKUP_SINK_H
#define CLI_BACKUP_SINK_H

#include <limits.h>
#include <stdatomic.h>

#include "cli/backup_manifest.h"

#define BACKUP_ARCHIVE_ENDING ".tar.zst"

struct archive;

struct backup_sink {
    char path[PATH_MAX], part[PATH_MAX];
    int folder;              /* of that folder, locked */
    struct archive *archive; /* NULL: a folder is written */
    struct db_backup_pace pace;
    struct backup_manifest manifest;
    const atomic_bool *stop;
    int64_t bytes; /* of its files */
    char err[BACKUP_ERROR_MAX];
};

/* Each: 0, or -errno with sink->err. */

/* -EEXIST: there is something of that name (a folder without files may be there); -EBUSY: another process
 * writes it. On failure nothing is to be closed. */
int cli_backup_sink_open(struct backup_sink *sink, const char *path, const atomic_bool *stop);

/* Adds a file: its first `size` bytes. */
int cli_backup_sink_put(struct backup_sink *sink, const char *name, int fd, int64_t size);

/* The path of a file that the caller makes, then adds. */
void cli_backup_sink_place(const struct backup_sink *sink, const char *name, char path[static PATH_MAX]);
int cli_backup_sink_add(struct backup_sink *sink, const char *name);

/* With `r` 0: adds the manifest, and gives it its name. Else removes everything. Returns r, or what failed
 * here. */
int cli_backup_sink_close(struct backup_sink *sink, int r);

#endif
