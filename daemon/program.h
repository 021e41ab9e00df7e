/* Finds the programs that belong to this one. */
#ifndef DAEMON_PROGRAM_H
#define DAEMON_PROGRAM_H

#include <limits.h>

/* The program `name` beside this one, or where a build has it (in ../folder), or the first in $PATH: then
 * `name` itself. */
const char *daemon_program_find(const char *name, const char *folder, char path[static PATH_MAX]);

#endif
