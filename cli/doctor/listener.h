/* Which process listens at a place. */
#ifndef CLI_DOCTOR_LISTENER_H
#define CLI_DOCTOR_LISTENER_H

#include <stdbool.h>
#include <sys/types.h>

enum { DOCTOR_LISTENER_MAX = 64 };

/* At a socket's path, or at an address of the loopback (daemon/http/listen.h). False: no process does. `ret`
 * is "process 123 (name)", or "a process that cannot be seen" where this user may not see whose it is;
 * *ret_pid 0 then. */
bool cli_doctor_listener(const char *where, bool is_path, char ret[static DOCTOR_LISTENER_MAX],
                         pid_t *ret_pid);

#endif
