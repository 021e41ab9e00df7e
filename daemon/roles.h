/* Who may use the daemon: operators by control.sock, readers by control-read.sock, which answers only
 * commands that change nothing. Its own user and root may use both. [control] names the groups. */
#ifndef DAEMON_ROLES_H
#define DAEMON_ROLES_H

#include "daemon/daemon.h"
#include "exchange/net/control.h"

/* Listens at both, the second where there is a group of readers. 0 or -errno with a sentence. */
int daemon_roles_open(struct daemon *daemon, char *err, size_t err_size);
void daemon_roles_close(struct daemon *daemon);

/* Who may read: readers, where there is a group of them, and operators. */
struct control_groups daemon_roles_reading(const struct daemon *daemon);

/* daemon->config may name other groups now. */
void daemon_roles_take(struct daemon *daemon);

/* The operators' group, by its name. */
const char *daemon_roles_operators(void);

#endif
