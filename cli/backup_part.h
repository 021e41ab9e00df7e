/* The folder of what is not complete yet, a backup or a state: PATH.papertape-part, which gets its name in
 * the end. Its lock says that a process still writes it; until then it is its owner's alone, since others who
 * could open it could lock it. */
#ifndef CLI_BACKUP_PART_H
#define CLI_BACKUP_PART_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define BACKUP_PART_ENDING  ".papertape-part" /* no one else's name; in a state it is STATE_RESTORE_PART */
#define BACKUP_DRILL_ENDING ".drill"          /* of a state that a drill restores */

/* Opens it empty, and locks it: one that a killed process left is emptied. The descriptor; -EBUSY: another
 * process has it; -errno, with a sentence. */
int cli_backup_part_open(const char *part, char *err, size_t err_size);

/* Opens a new file in it for writing, with the folders of its name. The descriptor or -errno. */
int cli_backup_part_file(int folder, const char *name);

/* Lets those read it who may read its owner's new folders. 0 or -errno. */
int cli_backup_part_show(int folder);

/* Is that folder one that no process writes any more? */
bool cli_backup_part_is_left(const char *part);

/* Of what it is to replace: 0; -ENOTEMPTY with the name of something in it other than `but`, NULL: all
 * counts; -errno. */
int cli_backup_part_is_empty(const char *folder, const char *but, char first[static NAME_MAX + 1]);

#endif
