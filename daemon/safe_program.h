/* May this program be run by who runs this? As for a secret's file: only who is trusted may have written it.
 */
#ifndef DAEMON_SAFE_PROGRAM_H
#define DAEMON_SAFE_PROGRAM_H

#include <stddef.h>

/* `program`: a path, or a name that is looked for in $PATH. Safe is a regular file of root or of this user,
 * which group and others may not write, and each folder above it likewise, or sticky as /tmp; through links.
 * 0; or -errno with a sentence: -EACCES none that this user may run, -EPERM not safe. */
int daemon_safe_program(const char *program, char *err, size_t err_size);

#endif
