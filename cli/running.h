/* What a running daemon was started with, by its command line. */
#ifndef CLI_RUNNING_H
#define CLI_RUNNING_H

#include <stdbool.h>
#include <sys/types.h>

#include "daemon/config_load.h"

/* Sets what the options of the process name, paths as it sees them; they are never freed. False: it is no
 * papertaped, or its command line cannot be read. A file that it names and whose place cannot be known stays
 * NULL. */
bool cli_running_given(pid_t pid, struct daemon_config_given *ret);

/* Is it a process of this user's? Root reads what another user's process names with more rights than that
 * user has. */
bool cli_running_is_own(pid_t pid);

#endif
