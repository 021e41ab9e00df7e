/* From the folder where a state was prepared into the state's own, name by name: where its parent is closed
 * to the user, so that the folder cannot be replaced. */
#ifndef CLI_RESTORE_MOVE_H
#define CLI_RESTORE_MOVE_H

#include <stddef.h>

/* Moves what is in `part` into a folder that has nothing else, and removes `part`. STATE_RESTORE_LIST is
 * there meanwhile: every name with its inode. All is on the disk before that is removed. 0; -EEXIST: the
 * folder is not empty; -errno, with a sentence; on failure nothing of it is in the folder. */
int cli_restore_move(const char *part, const char *folder, char *err, size_t err_size);

/* Removes what a killed cli_restore_move() moved into the folder, by its list: nothing else. 0, also where
 * there is no list; -EBUSY: a restore is moving still; -EBADMSG: the list cannot be read; -errno, with a
 * sentence. */
int cli_restore_clear(const char *folder, char *err, size_t err_size);

#endif
