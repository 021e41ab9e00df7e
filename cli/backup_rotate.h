/* Archives with their date as name, of which the newest are kept. */
#ifndef CLI_BACKUP_ROTATE_H
#define CLI_BACKUP_ROTATE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* "FOLDER/papertape-20261125T141240Z.tar.zst", from the root; the folder is made where it is missing. 0;
 * -ENAMETOOLONG, -errno. */
int cli_backup_dated(const char *folder, int64_t now_ns, char ret[static PATH_MAX]);

/* Removes all archives of such names except the newest `keep`, and what killed backups left. 0 or -errno with
 * a sentence; *ret_removed archives. */
int cli_backup_rotate(const char *folder, size_t keep, size_t *ret_removed, char *err, size_t err_size);

#endif
