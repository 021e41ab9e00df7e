/* Archives with their date as name, of which the newest are kept. */
#ifndef CLI_BACKUP_ROTATE_H
#define CLI_BACKUP_ROTATE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* "FOLDER/papertape-20261125T141240Z.tar.zst", from the root, or the next second whose name is free; the
 * folder is made where it is missing. 0; -ENAMETOOLONG, -errno. */
int cli_backup_dated(const char *folder, int64_t now_ns, char ret[static PATH_MAX]);

/* Removes all archives of such names except `made`, which is good, and the newest of the others, `keep`
 * together; and what killed backups left. What is no archive by its beginning, or has failed, is neither
 * counted nor removed. 0 or -errno with a sentence; *ret_removed archives. */
int cli_backup_rotate(const char *folder, const char *made, size_t keep, size_t *ret_removed, char *err,
                      size_t err_size);

/* One that cannot be restored: it gets another name, PATH.failed, in `ret`, and takes the place of those that
 * failed before it in that folder. 0; -errno, and it is PATH still. */
#define BACKUP_FAILED_ENDING ".failed"
int cli_backup_failed(const char *path, char ret[static PATH_MAX]);

#endif
